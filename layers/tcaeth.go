package layers

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
)

// TCAETH is the layer of a T/C AETH, the windowless cumulative ACK.
type TCAETH struct {
	layers.BaseLayer
	codec.TCAETH
}

// LayerType is LayerTypeTCAETH.
func (h *TCAETH) LayerType() gopacket.LayerType { return LayerTypeTCAETH }

// SerializeTo prepends the header to b. It returns codec.ErrRange when a value
// does not fit its field.
func (h *TCAETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, h.Len(), h)
}
