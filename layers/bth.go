package layers

import (
	"fmt"
	"slices"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
)

// BTH is the layer of a Base Transport Header, and the decoder of everything
// from there to the ICRC.
//
// Packet holds all that was decoded, also where its parts are layers of their
// own. It is only read: SerializeTo writes the 12 bytes of the BTH that is
// embedded here, and the layers behind it write the rest.
//
// As a layer of a gopacket.Packet, Contents are those 12 bytes and Payload is
// what follows them. As a gopacket.DecodingLayer, Contents are all headers and
// Payload is the payload of the operation, without pad and ICRC.
type BTH struct {
	layers.BaseLayer
	codec.BTH

	Packet codec.Packet
}

// LayerType is LayerTypeBTH.
func (h *BTH) LayerType() gopacket.LayerType { return LayerTypeBTH }

// CanDecode is LayerTypeBTH.
func (h *BTH) CanDecode() gopacket.LayerClass { return LayerTypeBTH }

// NextLayerType is gopacket.LayerTypePayload: what may follow are the
// application's bytes.
func (h *BTH) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

// String shows the fields of the BTH and leaves out Packet, whose parts are
// layers of their own.
func (h *BTH) String() string { return fmt.Sprintf("%+v", h.BTH) }

// DecodeFromBytes decodes the whole stack into Packet; data ends where the UDP
// payload or the GRH's ends. It does not allocate.
//
// A gopacket.DecodingLayerParser that found the packet cut does not tell by how
// much: then there is no ICRC, what is left of the payload may have pad and
// ICRC at its end, and Packet.PayloadLen is the least that it can have been.
//
// It returns ErrNotRDMA when data cannot be an RDMA packet, and else what
// codec.Packet.Decode returns.
func (h *BTH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	wireLen := len(data)
	parser, ok := df.(*gopacket.DecodingLayerParser)
	if ok && parser.Truncated {
		wireLen = leastWireLen(data)
	}
	err := h.decode(data, wireLen)
	if !h.Packet.Has(codec.HeaderBTH) || !credible(&h.BTH, wireLen) {
		return ErrNotRDMA
	}
	n := h.Packet.Headers.Len()
	if h.Packet.Has(codec.HeaderTCAETH) {
		n += h.Packet.TCAETH.Len() - codec.HeaderTCAETH.Len()
	}
	h.BaseLayer = layers.BaseLayer{Contents: data[:n], Payload: h.Packet.Payload}
	return err
}

func (h *BTH) decode(data []byte, wireLen int) error {
	err := h.Packet.Decode(data, wireLen)
	h.BTH = h.Packet.BTH
	return err
}

// leastWireLen is the least length on the wire that a packet can have had of
// which b is the beginning and not the whole.
func leastWireLen(b []byte) int {
	var h codec.BTH
	if h.Decode(b) != nil {
		return len(b) + 1
	}
	end := int(h.PadCnt) + 4
	n := h.Opcode.Headers().Len() + end
	switch {
	case len(b) < n:
		return n
	case h.Opcode.Verb() == codec.VerbAck || h.Opcode.Verb() == codec.VerbAtomicAck:
		return n + codec.HeaderTCAETH.Len()
	default:
		return len(b) + end
	}
}

// decodeBTH adds the layers from the BTH to the ICRC.
func decodeBTH(data []byte, b gopacket.PacketBuilder) error {
	before := layersOf(b)
	wireLen, doubt := len(data), false
	if n := len(before); n > 0 {
		switch last := before[n-1].(type) {
		case *layers.UDP:
			if last.DstPort != UDPPortRoCEv2 {
				addPayload(b, data)
				return nil
			}
			doubt = true
			if last.Length != 0 {
				wireLen = int(last.Length) - 8
			}
		case *GRH:
			wireLen = int(last.PayLen)
		}
	}
	h := new(BTH)
	err := h.decode(data, wireLen)
	if doubt && !(h.Packet.Has(codec.HeaderBTH) && (credible(&h.BTH, wireLen) || proved(before))) {
		addPayload(b, data)
		return nil
	}
	return h.addTo(b, data, wireLen, err)
}

// addTo adds the layers that were decoded from data in the order on the wire.
// It returns err, the fault that decoding met.
func (h *BTH) addTo(b gopacket.PacketBuilder, data []byte, wireLen int, err error) error {
	p := &h.Packet
	if !p.Has(codec.HeaderBTH) {
		return err
	}
	n := codec.HeaderBTH.Len()
	rest := data[n:min(len(data), wireLen)]
	h.BaseLayer = layers.BaseLayer{Contents: data[:n], Payload: rest}
	b.AddLayer(h)
	for e := codec.HeaderBTH + 1; int(e) < len(extensions); e++ {
		if !p.Has(e) {
			continue
		}
		contents := p.HeaderBytes(e)
		rest = rest[len(contents):]
		b.AddLayer(extensions[e](layers.BaseLayer{Contents: contents, Payload: rest}, p))
	}
	addPayload(b, p.Payload)
	if len(p.Pad) > 0 {
		pad := Pad(p.Pad)
		b.AddLayer(&pad)
	}
	if p.ICRC != nil {
		b.AddLayer(newICRC(p.ICRC))
	} else {
		addStump(b, rest[len(p.Payload)+len(p.Pad):])
	}
	return err
}

// layersOf are the layers that a packet has so far, nil when b is not one of
// gopacket's own packets.
func layersOf(b gopacket.PacketBuilder) []gopacket.Layer {
	if p, ok := b.(gopacket.Packet); ok {
		return p.Layers()
	}
	return nil
}

// SerializeTo prepends the BTH to b. With FixLengths, and without a Pad layer
// behind it, it pads what b holds to a multiple of 4 bytes in front of the ICRC
// layer, if there is one, and sets PadCnt; with a Pad layer PadCnt stays as it
// is. It returns codec.ErrRange when a value does not fit its field.
func (h *BTH) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	if opts.FixLengths && !slices.Contains(b.Layers(), LayerTypePad) {
		if err := h.pad(b); err != nil {
			return err
		}
	}
	return prepend(b, codec.HeaderBTH.Len(), h)
}

func (h *BTH) pad(b gopacket.SerializeBuffer) error {
	tail := 0
	if slices.Contains(b.Layers(), LayerTypeICRC) {
		tail += icrcLen
	}
	if slices.Contains(b.Layers(), LayerTypeVCRC) {
		tail += vcrcLen
	}
	n := -(len(b.Bytes()) - tail) & 3
	if _, err := b.AppendBytes(n); err != nil {
		return err
	}
	bytes := b.Bytes()
	end := len(bytes) - tail
	copy(bytes[end:], bytes[end-n:])
	clear(bytes[end-n : end])
	h.PadCnt = uint8(n)
	return nil
}
