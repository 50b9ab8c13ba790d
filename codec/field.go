package codec

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
)

// Base says how people write a field's value.
type Base uint8

// The ways to write a value.
const (
	Dec  Base = iota // decimal
	Hex              // hexadecimal with leading zeros
	Flag             // one bit, set or not
	GID              // 128 bits, written as an IPv6 address
	Data             // whole bytes, written as hexadecimal digits
)

// Field is one row of the field table: where a field lies and what it is
// called. Bits are counted from the most significant bit of the header's first
// byte, as the specification draws them.
type Field struct {
	Name string // name of the struct's field, "Primary.SL" for one of a struct inside
	Key  string // Wireshark's name without its protocol, ours where it has none; "" for reserved bits
	Off  int    // bits before the field
	Bits int    // width, 1 to 64; more for GID and Data
	Base Base
	Doc  string
}

// Reserved reports whether the field carries nothing. Its bits are kept all
// the same, so that what was decoded encodes to the same bytes.
func (f Field) Reserved() bool { return f.Key == "" }

// Value reads the field out of the bytes of its header. It is zero when the
// bytes end before the field, and for fields wider than 64 bits (see Bytes).
func (f Field) Value(header []byte) uint64 {
	end := (f.Off + f.Bits + 7) / 8
	if f.Bits > 64 || end > len(header) {
		return 0
	}
	var v uint64
	for _, b := range header[f.Off/8 : end] {
		v = v<<8 | uint64(b)
	}
	v >>= end*8 - f.Off - f.Bits
	if f.Bits < 64 {
		v &= 1<<f.Bits - 1
	}
	return v
}

// Bytes is the part of the header that holds the field, nil when the header
// ends before it or the field does not begin and end at a byte.
func (f Field) Bytes(header []byte) []byte {
	end := (f.Off + f.Bits) / 8
	if f.Off%8 != 0 || f.Bits%8 != 0 || end > len(header) {
		return nil
	}
	return header[f.Off/8 : end]
}

// Text writes the field's value in its base: "273", "0x00001234",
// "2001:db8::1".
func (f Field) Text(header []byte) string { return string(f.AppendText(nil, header)) }

// AppendText appends the form of Text to b.
func (f Field) AppendText(b, header []byte) []byte {
	v := f.Value(header)
	switch f.Base {
	case Hex:
		b = append(b, '0', 'x')
		for shift := (f.Bits+3)/4*4 - 4; shift >= 0; shift -= 4 {
			b = append(b, "0123456789abcdef"[v>>shift&15])
		}
		return b
	case Data:
		return hex.AppendEncode(b, f.Bytes(header))
	case GID:
		a, ok := netip.AddrFromSlice(f.Bytes(header))
		if !ok {
			return append(b, "invalid IP"...)
		}
		return a.AppendTo(b)
	default:
		return strconv.AppendUint(b, v, 10)
	}
}

func uint24(b []byte) uint32 { return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) }

func append24(b []byte, v uint32) []byte { return append(b, byte(v>>16), byte(v>>8), byte(v)) }

var be = binary.BigEndian
