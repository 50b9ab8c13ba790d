package layers

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
)

// GRH is the layer of a Global Route Header, of RoCEv1 or of routed InfiniBand.
// It is a gopacket.NetworkLayer.
type GRH struct {
	layers.BaseLayer
	codec.GRH
}

// LayerType is LayerTypeGRH.
func (h *GRH) LayerType() gopacket.LayerType { return LayerTypeGRH }

// CanDecode is LayerTypeGRH.
func (h *GRH) CanDecode() gopacket.LayerClass { return LayerTypeGRH }

// NextLayerType is LayerTypeBTH when the header says so, else payload.
func (h *GRH) NextLayerType() gopacket.LayerType {
	if h.NxtHdr == codec.NxtHdrIBA {
		return LayerTypeBTH
	}
	return gopacket.LayerTypePayload
}

// NetworkFlow goes from SGID to DGID, which have the form of IPv6 addresses.
func (h *GRH) NetworkFlow() gopacket.Flow {
	return gopacket.NewFlow(layers.EndpointIPv6, h.SGID[:], h.DGID[:])
}

// DecodeFromBytes decodes the header. Payload ends where PayLen says, so that
// padding and FCS of Ethernet are not part of it. It returns
// codec.ErrTruncated when data is shorter than the header.
func (h *GRH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := h.Decode(data); err != nil {
		df.SetTruncated()
		return err
	}
	n := codec.HeaderGRH.Len()
	h.BaseLayer = layers.BaseLayer{Contents: data[:n], Payload: data[n:]}
	if int(h.PayLen) > len(h.Payload) {
		df.SetTruncated()
	} else {
		h.Payload = h.Payload[:h.PayLen]
	}
	return nil
}

// SerializeTo prepends the header to b; with FixLengths it sets PayLen. It
// returns codec.ErrRange when a value does not fit its field.
func (h *GRH) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	if opts.FixLengths {
		n, err := linkPayloadLen(b, 0xffff)
		if err != nil {
			return err
		}
		h.PayLen = uint16(n)
	}
	return prepend(b, codec.HeaderGRH.Len(), h)
}

func decodeGRH(data []byte, b gopacket.PacketBuilder) error {
	h := new(GRH)
	if err := h.DecodeFromBytes(data, b); err != nil {
		return err
	}
	b.AddLayer(h)
	b.SetNetworkLayer(h)
	return b.NextDecoder(h.NextLayerType())
}
