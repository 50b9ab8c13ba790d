package layers

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
)

// AtomicETH is the layer of an Atomic Extended Transport Header.
type AtomicETH struct {
	layers.BaseLayer
	codec.AtomicETH
}

// LayerType is LayerTypeAtomicETH.
func (h *AtomicETH) LayerType() gopacket.LayerType { return LayerTypeAtomicETH }

// SerializeTo prepends the header to b. It returns codec.ErrRange when a value
// does not fit its field.
func (h *AtomicETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, codec.HeaderAtomicETH.Len(), h)
}

// AtomicAckETH is the layer of an Atomic ACK Extended Transport Header.
type AtomicAckETH struct {
	layers.BaseLayer
	codec.AtomicAckETH
}

// LayerType is LayerTypeAtomicAckETH.
func (h *AtomicAckETH) LayerType() gopacket.LayerType { return LayerTypeAtomicAckETH }

// SerializeTo prepends the header to b. It returns codec.ErrRange when a value
// does not fit its field.
func (h *AtomicAckETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(b, codec.HeaderAtomicAckETH.Len(), h)
}
