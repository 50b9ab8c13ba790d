package frame

import (
	"hash/crc32"

	"github.com/rdmadump/rdmadump/codec"
)

// quick computes the ICRC of RoCEv2 over IPv4, the carrier that there is most
// of, without reading the outer headers: what the identification and the source
// port add to a CRC does not depend on the rest, and of that only the length
// changes from packet to packet.
type quick struct {
	length uint16 // of the packet that outer was computed for, 0 before the first
	outer  uint32 // the CRC over what is in front of the BTH, were identification and port 0

	adds [4][256]uint32      // what each byte of identification and port adds to it
	bth  [bthLen][256]uint32 // what each byte of the BTH adds to the CRC up to its end
	ones [outerIPv4]byte     // room for the outer headers with what changes on the way read as ones
}

const (
	outerIPv4 = 28
	bthLen    = 12
	afterOnes = 0xdebb20e3 ^ 0xffffffff // CRC-32 of 8 bytes of ones
)

// varying is where those bytes lie behind the beginning of the IP header.
var varying = [4]int{4, 5, 20, 21}

func newQuick() *quick {
	q := &quick{}
	for i, at := range varying {
		q.adds[i] = followed(outerIPv4 - 1 - at)
	}
	for at := range q.bth {
		q.bth[at] = followed(bthLen - 1 - at)
	}
	return q
}

// followed is what each value of a byte adds to a CRC when so many bytes follow
// it.
func followed(by int) (adds [256]uint32) {
	for v := range adds {
		register := crc32.IEEETable[v]
		for range by {
			register = crc32.IEEETable[byte(register)] ^ register>>8
		}
		adds[v] = register
	}
	return adds
}

// head is the CRC-32 over the headers of a packet, from the IP header up to
// byte payload, where its payload begins.
func (q *quick) head(ip []byte, payload int) uint32 {
	if length := be.Uint16(ip[2:]); length != q.length {
		q.begin(ip)
		q.length = length
	}
	crc := q.outer ^ q.adds[0][ip[4]] ^ q.adds[1][ip[5]] ^ q.adds[2][ip[20]] ^ q.adds[3][ip[21]]
	crc = q.overBTH(crc, (*[bthLen]byte)(ip[outerIPv4:]))
	if payload > outerIPv4+bthLen {
		crc = crc32.Update(crc, crc32.IEEETable, ip[outerIPv4+bthLen:payload])
	}
	return crc
}

// overBTH continues a CRC-32 over a BTH, whose byte 4 (FECN, BECN, reserved) is
// read as ones. It is too short for crc32.Update to do more than byte by byte.
func (q *quick) overBTH(crc uint32, b *[bthLen]byte) uint32 {
	register := ^crc
	return ^(q.bth[0][b[0]^byte(register)] ^ q.bth[1][b[1]^byte(register>>8)] ^
		q.bth[2][b[2]^byte(register>>16)] ^ q.bth[3][b[3]^byte(register>>24)] ^
		q.bth[4][0xff] ^ q.bth[5][b[5]] ^ q.bth[6][b[6]] ^ q.bth[7][b[7]] ^
		q.bth[8][b[8]] ^ q.bth[9][b[9]] ^ q.bth[10][b[10]] ^ q.bth[11][b[11]])
}

// begin computes outer.
func (q *quick) begin(ip []byte) {
	b := q.ones[:]
	copy(b, ip)
	for _, i := range varying {
		b[i] = 0
	}
	for _, i := range [...]int{1, 8, 10, 11, 26, 27} { // TOS, TTL, checksums
		b[i] = 0xff
	}
	q.outer = crc32.Update(afterOnes, crc32.IEEETable, b)
}

// sign computes the ICRC of b, which begins where its coverage does.
func (f *Framer) sign(b []byte, bth int, p *codec.Packet) (uint32, error) {
	payload := bth + headersLen(p)
	if f.quick == nil && (f.Continue == nil || len(p.Payload) == 0) {
		return codec.ICRC(f.carrier, b, bth)
	}
	crc := uint32(0)
	if f.quick != nil {
		crc = f.quick.head(b, payload)
	} else {
		var err error
		if crc, err = codec.ICRC(f.carrier, b[:payload], bth); err != nil {
			return 0, err
		}
	}
	if f.Continue != nil && len(p.Payload) > 0 {
		if next, ok := f.Continue(crc, p.Payload); ok {
			crc, payload = next, payload+len(p.Payload)
		}
	}
	if payload == len(b) {
		return crc, nil
	}
	return crc32.Update(crc, crc32.IEEETable, b[payload:]), nil
}
