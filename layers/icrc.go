package layers

import (
	"encoding/binary"
	"fmt"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
)

const (
	icrcLen = 4
	vcrcLen = 2
)

// Pad is the layer of the 1 to 3 bytes between payload and ICRC.
type Pad []byte

// LayerType is LayerTypePad.
func (p Pad) LayerType() gopacket.LayerType { return LayerTypePad }

// LayerContents are the pad bytes.
func (p Pad) LayerContents() []byte { return p }

// LayerPayload is nil: what follows is not inside the pad.
func (p Pad) LayerPayload() []byte { return nil }

// SerializeTo prepends the bytes to b.
func (p Pad) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	bytes, err := b.PrependBytes(len(p))
	copy(bytes, p)
	return err
}

func decodePad(data []byte, b gopacket.PacketBuilder) error {
	pad := Pad(data)
	b.AddLayer(&pad)
	return nil
}

// ICRC is the layer of an invariant CRC as it stands on the wire, right or
// wrong.
type ICRC struct {
	layers.BaseLayer
	Value uint32
}

// LayerType is LayerTypeICRC.
func (c *ICRC) LayerType() gopacket.LayerType { return LayerTypeICRC }

// SerializeTo prepends Value to b. It computes nothing, whatever the options
// ask for: see FixICRC.
func (c *ICRC) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	bytes, err := b.PrependBytes(icrcLen)
	if err != nil {
		return err
	}
	codec.AppendICRC(bytes[:0], c.Value)
	return nil
}

// newICRC makes the layer of the 4 bytes at the start of b.
func newICRC(b []byte) *ICRC {
	return &ICRC{layers.BaseLayer{Contents: b[:icrcLen], Payload: b[icrcLen:]}, binary.LittleEndian.Uint32(b)}
}

func decodeICRC(data []byte, b gopacket.PacketBuilder) error {
	if len(data) < icrcLen {
		b.SetTruncated()
		return fmt.Errorf("ICRC: %w: %d of %d bytes", codec.ErrTruncated, len(data), icrcLen)
	}
	b.AddLayer(newICRC(data))
	return nil
}

// VCRC is the layer of a variant CRC, the last bytes of a packet on an
// InfiniBand link. It is kept, not checked.
type VCRC struct {
	layers.BaseLayer
	Bytes [2]byte
}

// LayerType is LayerTypeVCRC.
func (c *VCRC) LayerType() gopacket.LayerType { return LayerTypeVCRC }

// SerializeTo prepends Bytes to b.
func (c *VCRC) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	bytes, err := b.PrependBytes(vcrcLen)
	copy(bytes, c.Bytes[:])
	return err
}

func decodeVCRC(data []byte, b gopacket.PacketBuilder) error {
	if len(data) < vcrcLen {
		b.SetTruncated()
		return fmt.Errorf("VCRC: %w: %d of %d bytes", codec.ErrTruncated, len(data), vcrcLen)
	}
	addVCRC(b, data)
	return nil
}

// addVCRC adds the VCRC with which data begins, or what a cut capture has left
// of it.
func addVCRC(b gopacket.PacketBuilder, data []byte) {
	if len(data) < vcrcLen {
		addStump(b, data)
		return
	}
	b.AddLayer(&VCRC{layers.BaseLayer{Contents: data[:vcrcLen], Payload: data[vcrcLen:]}, [2]byte(data)})
}

// addStump adds what a cut capture has left of a CRC, if anything.
func addStump(b gopacket.PacketBuilder, data []byte) {
	if len(data) == 0 {
		return
	}
	fragment := gopacket.Fragment(data)
	b.AddLayer(&fragment)
}
