package layers

import (
	"fmt"
	"slices"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
)

// LRH is the layer of a Local Route Header, the first on an InfiniBand link.
type LRH struct {
	layers.BaseLayer
	codec.LRH
}

// LayerType is LayerTypeLRH.
func (h *LRH) LayerType() gopacket.LayerType { return LayerTypeLRH }

// CanDecode is LayerTypeLRH.
func (h *LRH) CanDecode() gopacket.LayerClass { return LayerTypeLRH }

// NextLayerType is LayerTypeBTH or LayerTypeGRH, or payload for a raw packet.
func (h *LRH) NextLayerType() gopacket.LayerType {
	switch h.LNH {
	case codec.LNHBTH:
		return LayerTypeBTH
	case codec.LNHGRH:
		return LayerTypeGRH
	}
	return gopacket.LayerTypePayload
}

// payLen is the length from behind the header up to and with the ICRC.
func (h *LRH) payLen() int { return int(h.PktLen)*4 - codec.HeaderLRH.Len() }

// DecodeFromBytes decodes the header. Payload ends with the ICRC, where PktLen
// says; the VCRC is not part of it. It returns codec.ErrTruncated when data is
// shorter than the header, and codec.ErrLength when PktLen is.
func (h *LRH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := h.Decode(data); err != nil {
		df.SetTruncated()
		return err
	}
	n := h.payLen()
	if n < 0 {
		return fmt.Errorf("LRH: %w: PktLen is %d", codec.ErrLength, h.PktLen)
	}
	rest := data[codec.HeaderLRH.Len():]
	if n > len(rest) {
		df.SetTruncated()
	} else {
		rest = rest[:n]
	}
	h.BaseLayer = layers.BaseLayer{Contents: data[:codec.HeaderLRH.Len()], Payload: rest}
	return nil
}

// SerializeTo prepends the header to b; with FixLengths it sets PktLen. It
// returns codec.ErrRange when a value does not fit its field.
func (h *LRH) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	if opts.FixLengths {
		n, err := linkPayloadLen(b, 4*0x7ff-codec.HeaderLRH.Len())
		if err != nil {
			return err
		}
		h.PktLen = uint16((n + codec.HeaderLRH.Len()) / 4)
	}
	return prepend(b, codec.HeaderLRH.Len(), h)
}

// linkPayloadLen is the length of what b holds up to and with the ICRC. It
// returns codec.ErrRange when that is more than most.
func linkPayloadLen(b gopacket.SerializeBuffer, most int) (int, error) {
	n := len(b.Bytes())
	if slices.Contains(b.Layers(), LayerTypeVCRC) {
		n -= vcrcLen
	}
	if n > most {
		return 0, fmt.Errorf("payload length: %w: %d bytes, at most %d", codec.ErrRange, n, most)
	}
	return n, nil
}

// decodeLRH decodes all that follows too: the VCRC stands behind what the
// header counts, where no next decoder would see it.
func decodeLRH(data []byte, b gopacket.PacketBuilder) error {
	h := new(LRH)
	if err := h.DecodeFromBytes(data, b); err != nil {
		return err
	}
	b.AddLayer(h)
	next, transport, wireLen := h.NextLayerType(), h.Payload, h.payLen()
	if next == LayerTypeGRH {
		grh := new(GRH)
		if err := grh.DecodeFromBytes(transport, b); err != nil {
			return err
		}
		b.AddLayer(grh)
		b.SetNetworkLayer(grh)
		next, transport, wireLen = grh.NextLayerType(), transport[codec.HeaderGRH.Len():], wireLen-codec.HeaderGRH.Len()
	}
	var err error
	if next == LayerTypeBTH {
		bth := new(BTH)
		err = bth.addTo(b, transport, wireLen, bth.decode(transport, wireLen))
	} else {
		addPayload(b, transport)
	}
	addVCRC(b, data[codec.HeaderLRH.Len()+len(h.Payload):])
	return err
}
