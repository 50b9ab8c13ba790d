package codec

import (
	"hash/crc32"
	"testing"
)

// A whole packet of each common kind, without what is in front of the BTH.
func benchPackets() map[string][]byte {
	bth := func(op Opcode) []byte {
		return []byte{byte(op), 0x40, 0xff, 0xff, 0, 0, 1, 0x11, 0x80, 0, 0, 9}
	}
	join := func(op Opcode, n int) []byte { return append(bth(op), make([]byte, n+icrcLen)...) }
	return map[string][]byte{
		"WriteMiddle":      join(Op(RC, WriteMiddle), 1024),
		"Acknowledge":      join(Op(RC, Acknowledge), 4),
		"ReadRequest":      join(Op(RC, ReadRequest), 16),
		"WindowlessReport": join(Op(RC, Acknowledge), 34),
	}
}

func BenchmarkBTHDecode(b *testing.B) {
	raw := benchPackets()["WriteMiddle"]
	var h BTH
	for b.Loop() {
		if err := h.Decode(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPacketDecode(b *testing.B) {
	for name, raw := range benchPackets() {
		b.Run(name, func(b *testing.B) {
			var p Packet
			for b.Loop() {
				if err := p.Decode(raw, len(raw)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPacketAppend(b *testing.B) {
	for name, raw := range benchPackets() {
		b.Run(name, func(b *testing.B) {
			var p Packet
			if err := p.Decode(raw, len(raw)); err != nil {
				b.Fatal(err)
			}
			buf := make([]byte, 0, 2048)
			for b.Loop() {
				if _, err := p.AppendBinary(buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The ICRC beside the plain CRC of the same bytes, which is what it can cost at
// least.
func BenchmarkICRC(b *testing.B) {
	for name, size := range map[string]int{"1KiB": 1024, "64B": 64} {
		raw := make([]byte, size)
		raw[0] = 0x45
		b.Run(name+"/ICRC", func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, err := ICRC(RoCEv2IPv4, raw, 28); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/CRC32", func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				crc32.ChecksumIEEE(raw)
			}
		})
	}
}
