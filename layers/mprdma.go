package layers

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
)

// MPETH is the layer of an MPETH, which an MP-RDMA acknowledgement carries.
type MPETH struct {
	layers.BaseLayer
	codec.MPETH
}

// LayerType is LayerTypeMPETH.
func (h *MPETH) LayerType() gopacket.LayerType { return LayerTypeMPETH }

// SerializeTo prepends the header to b. It returns codec.ErrRange when a value
// does not fit its field.
func (h *MPETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, codec.HeaderMPETH.Len(), h)
}
