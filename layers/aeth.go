package layers

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
)

// AETH is the layer of an ACK Extended Transport Header.
type AETH struct {
	layers.BaseLayer
	codec.AETH
}

// LayerType is LayerTypeAETH.
func (h *AETH) LayerType() gopacket.LayerType { return LayerTypeAETH }

// SerializeTo prepends the header to b. It returns codec.ErrRange when a value
// does not fit its field.
func (h *AETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, codec.HeaderAETH.Len(), h)
}
