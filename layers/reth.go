package layers

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
)

// RETH is the layer of an RDMA Extended Transport Header.
type RETH struct {
	layers.BaseLayer
	codec.RETH
}

// LayerType is LayerTypeRETH.
func (h *RETH) LayerType() gopacket.LayerType { return LayerTypeRETH }

// SerializeTo prepends the header to b. It returns codec.ErrRange when a value
// does not fit its field.
func (h *RETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, codec.HeaderRETH.Len(), h)
}
