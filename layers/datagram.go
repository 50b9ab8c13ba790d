package layers

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
)

// RDETH is the layer of a Reliable Datagram Extended Transport Header.
type RDETH struct {
	layers.BaseLayer
	codec.RDETH
}

// LayerType is LayerTypeRDETH.
func (h *RDETH) LayerType() gopacket.LayerType { return LayerTypeRDETH }

// SerializeTo prepends the header to b. It returns codec.ErrRange when a value
// does not fit its field.
func (h *RDETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, codec.HeaderRDETH.Len(), h)
}

// DETH is the layer of a Datagram Extended Transport Header.
type DETH struct {
	layers.BaseLayer
	codec.DETH
}

// LayerType is LayerTypeDETH.
func (h *DETH) LayerType() gopacket.LayerType { return LayerTypeDETH }

// SerializeTo prepends the header to b. It returns codec.ErrRange when a value
// does not fit its field.
func (h *DETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, codec.HeaderDETH.Len(), h)
}

// XRCETH is the layer of an XRC Extended Transport Header.
type XRCETH struct {
	layers.BaseLayer
	codec.XRCETH
}

// LayerType is LayerTypeXRCETH.
func (h *XRCETH) LayerType() gopacket.LayerType { return LayerTypeXRCETH }

// SerializeTo prepends the header to b. It returns codec.ErrRange when a value
// does not fit its field.
func (h *XRCETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, codec.HeaderXRCETH.Len(), h)
}
