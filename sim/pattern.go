package sim

import (
	"encoding/binary"
	"hash/crc32"
)

// pattern are the bytes that all memory is made of. Where in them a memory begins
// differs from memory to memory; so what is in the wrong place, or of the wrong
// queue pair, is not what is expected.
type pattern struct {
	bytes []byte

	// The CRC of what is sent most, packets as long as the MTU, need not be
	// computed byte by byte. A CRC is linear: that of two strings, one behind the
	// other, is that of the second, and that of the first moved on by the length
	// of the second.
	before []uint32       // the register, begun with zeros, before each byte
	mtu    int            // how far moved moves
	moved  [4][256]uint32 // what each byte of the register adds after that many zeros
}

const (
	period  = 16381 // a prime: nothing that is a power of two apart is alike; and few enough to stay in a cache
	longest = 4096  // that is loaded at a time
)

func newPattern(s *Scenario) *pattern {
	random := s.random("payload")
	b := make([]byte, period+longest+8)
	for i := 0; i < period; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], random.Uint64())
	}
	copy(b[period:], b[:longest])
	p := &pattern{bytes: b[: period+longest : period+longest], mtu: s.Pairs.MTU}
	p.before = make([]uint32, len(p.bytes)+1)
	register := uint32(0)
	for i, v := range p.bytes {
		register = step(register, v)
		p.before[i+1] = register
	}
	for i := range p.moved {
		for v := 1; v < len(p.moved[i]); v++ {
			if rest := v & (v - 1); rest > 0 {
				p.moved[i][v] = p.moved[i][rest] ^ p.moved[i][v^rest]
				continue
			}
			register := uint32(v) << (8 * i)
			for range p.mtu {
				register = step(register, 0)
			}
			p.moved[i][v] = register
		}
	}
	return p
}

// step has the register of a CRC-32 take a byte.
func step(register uint32, v byte) uint32 {
	return crc32.IEEETable[byte(register)^v] ^ register>>8
}

// at are n bytes of the memory that begins at origin. Their capacity reaches to
// the end of the pattern, which tells where in it they lie.
func (p *pattern) at(origin, off uint64, n int) []byte {
	i := (origin + off) % period
	return p.bytes[i : i+uint64(n)]
}

// crc continues a CRC-32 over a payload of the pattern as long as the MTU.
func (p *pattern) crc(crc uint32, payload []byte) (uint32, bool) {
	i := len(p.bytes) - cap(payload)
	if len(payload) != p.mtu || i < 0 || &p.bytes[i] != &payload[0] {
		return 0, false
	}
	r := ^crc ^ p.before[i]
	r = p.moved[0][byte(r)] ^ p.moved[1][byte(r>>8)] ^ p.moved[2][byte(r>>16)] ^ p.moved[3][r>>24]
	return ^(r ^ p.before[i+p.mtu]), true
}
