package layers

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
)

// FETH is the layer of a Flush Extended Transport Header.
type FETH struct {
	layers.BaseLayer
	codec.FETH
}

// LayerType is LayerTypeFETH.
func (h *FETH) LayerType() gopacket.LayerType { return LayerTypeFETH }

// SerializeTo prepends the header to b. It returns codec.ErrRange when a value
// does not fit its field.
func (h *FETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, codec.HeaderFETH.Len(), h)
}
