package layers

import (
	"encoding"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
)

// extension is the layer of a header behind the BTH, as all of them are made.
type extension interface {
	gopacket.Layer
	Decode([]byte) error
}

// extensions makes the layer of each header that may follow a BTH.
var extensions = [...]func(layers.BaseLayer, *codec.Packet) extension{
	codec.HeaderRDETH:        func(b layers.BaseLayer, p *codec.Packet) extension { return &RDETH{b, p.RDETH} },
	codec.HeaderDETH:         func(b layers.BaseLayer, p *codec.Packet) extension { return &DETH{b, p.DETH} },
	codec.HeaderXRCETH:       func(b layers.BaseLayer, p *codec.Packet) extension { return &XRCETH{b, p.XRCETH} },
	codec.HeaderFETH:         func(b layers.BaseLayer, p *codec.Packet) extension { return &FETH{b, p.FETH} },
	codec.HeaderRETH:         func(b layers.BaseLayer, p *codec.Packet) extension { return &RETH{b, p.RETH} },
	codec.HeaderAtomicETH:    func(b layers.BaseLayer, p *codec.Packet) extension { return &AtomicETH{b, p.AtomicETH} },
	codec.HeaderAETH:         func(b layers.BaseLayer, p *codec.Packet) extension { return &AETH{b, p.AETH} },
	codec.HeaderTCAETH:       func(b layers.BaseLayer, p *codec.Packet) extension { return &TCAETH{b, p.TCAETH} },
	codec.HeaderAtomicAckETH: func(b layers.BaseLayer, p *codec.Packet) extension { return &AtomicAckETH{b, p.AtomicAckETH} },
	codec.HeaderSackETH:      func(b layers.BaseLayer, p *codec.Packet) extension { return &IRNNack{b, p.SackETH} },
	codec.HeaderMPETH:        func(b layers.BaseLayer, p *codec.Packet) extension { return &MPETH{b, p.MPETH} },
	codec.HeaderIRNETH:       func(b layers.BaseLayer, p *codec.Packet) extension { return &IRNETH{b, p.IRNETH} },
	codec.HeaderImmDt:        func(b layers.BaseLayer, p *codec.Packet) extension { return &ImmDt{b, p.ImmDt} },
	codec.HeaderIETH:         func(b layers.BaseLayer, p *codec.Packet) extension { return &IETH{b, p.IETH} },
	codec.HeaderCNP:          func(b layers.BaseLayer, p *codec.Packet) extension { return &CNP{b, p.CNP} },
}

// decodeAlone decodes an extension header that stands first in what NewPacket
// was given; everything behind it is payload.
func decodeAlone(h codec.Header) gopacket.DecodeFunc {
	return func(data []byte, b gopacket.PacketBuilder) error {
		n := min(h.Len(), len(data))
		layer := extensions[h](layers.BaseLayer{Contents: data[:n], Payload: data[n:]}, &codec.Packet{})
		if err := layer.Decode(data[:n]); err != nil {
			b.SetTruncated()
			return err
		}
		b.AddLayer(layer)
		addPayload(b, data[n:])
		return nil
	}
}

// addPayload adds what gopacket's own decoder of payload adds, but for no bytes
// nothing.
func addPayload(b gopacket.PacketBuilder, data []byte) {
	if len(data) == 0 {
		return
	}
	payload := gopacket.Payload(data)
	b.AddLayer(&payload)
	b.SetApplicationLayer(&payload)
}

// prepend writes the n bytes of a header in front of what b holds.
func prepend(b gopacket.SerializeBuffer, n int, h encoding.BinaryAppender) error {
	bytes, err := b.PrependBytes(n)
	if err != nil {
		return err
	}
	_, err = h.AppendBinary(bytes[:0])
	return err
}
