package layers

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
)

// IRNNack is the layer of the SackETH in an IRN NACK.
type IRNNack struct {
	layers.BaseLayer
	codec.SackETH
}

// LayerType is LayerTypeIRNNack.
func (h *IRNNack) LayerType() gopacket.LayerType { return LayerTypeIRNNack }

// SerializeTo prepends the header to b. It returns codec.ErrRange when a value
// does not fit its field.
func (h *IRNNack) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, codec.HeaderSackETH.Len(), h)
}

// IRNETH is the layer of an IRNETH, the place of an IRN packet.
type IRNETH struct {
	layers.BaseLayer
	codec.IRNETH
}

// LayerType is LayerTypeIRNETH.
func (h *IRNETH) LayerType() gopacket.LayerType { return LayerTypeIRNETH }

// SerializeTo prepends the header to b. It returns codec.ErrRange when a value
// does not fit its field.
func (h *IRNETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, codec.HeaderIRNETH.Len(), h)
}
