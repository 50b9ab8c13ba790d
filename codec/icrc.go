package codec

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Carrier is what an RDMA packet travels in. It decides which bytes the ICRC
// covers and which of them it reads as ones.
type Carrier uint8

// The carriers.
const (
	RoCEv2IPv4    Carrier = iota // UDP over IPv4; coverage begins with the IP header
	RoCEv2IPv6                   // UDP over IPv6; coverage begins with the IP header
	RoCEv1                       // GRH behind Ethertype 0x8915; coverage begins with the GRH
	InfiniBand                   // LRH, then BTH; coverage begins with the LRH
	InfiniBandGRH                // LRH, GRH, then BTH; coverage begins with the GRH
)

// String is the carrier as the JSON output names it: "rocev2", "rocev1", "ib".
func (c Carrier) String() string {
	switch c {
	case RoCEv2IPv4, RoCEv2IPv6:
		return "rocev2"
	case RoCEv1:
		return "rocev1"
	default:
		return "ib"
	}
}

// afterOnes is the state of the CRC after 8 bytes of 0xFF.
const afterOnes = 0xdebb20e3 ^ 0xffffffff

// icrcPrefix is how many bytes may stand before the BTH's sixth: 60 of an IPv4
// header with options, or an IPv6 header with extension headers.
const icrcPrefix = 256

// ICRC computes the invariant CRC of a packet (IBA 7.8.1 and annexes A16, A17):
// CRC-32 over b, which begins where the carrier's coverage begins and ends
// before the ICRC, with the fields that switches may change read as ones. bth
// is the BTH's place in b. b is not changed.
//
// The result is stored least significant byte first. It returns ErrLength when
// the headers before the BTH are too short for the carrier, or longer than 251
// bytes. It does not allocate.
func ICRC(c Carrier, b []byte, bth int) (uint32, error) {
	head := bth + 5 // the last masked byte is the BTH's fifth
	if int(c) >= len(outerLen) || bth < outerLen[c] || head > len(b) || head > icrcPrefix {
		return 0, fmt.Errorf("ICRC: %w: BTH at byte %d of %d", ErrLength, bth, len(b))
	}
	var masked [icrcPrefix]byte
	m := masked[:head]
	copy(m, b)
	crc := uint32(afterOnes)
	switch c {
	case RoCEv2IPv4:
		m[1], m[8], m[10], m[11] = 0xff, 0xff, 0xff, 0xff // TOS, TTL, checksum
		m[bth-2], m[bth-1] = 0xff, 0xff                   // UDP checksum
	case RoCEv2IPv6:
		maskIPv6(m)
		m[bth-2], m[bth-1] = 0xff, 0xff
	case RoCEv1, InfiniBandGRH:
		maskIPv6(m)
	case InfiniBand:
		m[0] |= 0xf0 // VL
		crc = 0      // the LRH itself takes the place of the 8 bytes of ones
	}
	m[bth+4] = 0xff // FECN, BECN, reserved
	return crc32.Update(updateHead(crc, m), crc32.IEEETable, b[head:]), nil
}

// updateHead is crc32.Update for the masked copy of the head, which lives on
// the stack: what crc32.Update is given escapes to the heap, and for so few
// bytes it would read the same tables.
func updateHead(crc uint32, m []byte) uint32 {
	crc = ^crc
	for ; len(m) >= 8; m = m[8:] {
		crc ^= binary.LittleEndian.Uint32(m)
		crc = eight[0][m[7]] ^ eight[1][m[6]] ^ eight[2][m[5]] ^ eight[3][m[4]] ^
			eight[4][crc>>24] ^ eight[5][crc>>16&0xff] ^ eight[6][crc>>8&0xff] ^ eight[7][crc&0xff]
	}
	for _, v := range m {
		crc = eight[0][byte(crc)^v] ^ crc>>8
	}
	return ^crc
}

// eight holds, for each value of a byte, what it adds to the CRC when 0 to 7
// bytes follow it.
var eight = followedBy()

func followedBy() (tables [8][256]uint32) {
	tables[0] = *crc32.IEEETable
	for n := 1; n < len(tables); n++ {
		for v, crc := range tables[n-1] {
			tables[n][v] = tables[0][byte(crc)] ^ crc>>8
		}
	}
	return tables
}

// outerLen is the shortest that can stand before the BTH.
var outerLen = [...]int{RoCEv2IPv4: 28, RoCEv2IPv6: 48, RoCEv1: 40, InfiniBand: 8, InfiniBandGRH: 40}

// maskIPv6 reads traffic class, flow label and hop limit as ones, of an IPv6
// header or a GRH.
func maskIPv6(m []byte) {
	m[0] |= 0x0f
	m[1], m[2], m[3], m[7] = 0xff, 0xff, 0xff, 0xff
}

// AppendICRC appends an ICRC in its order on the wire.
func AppendICRC(b []byte, icrc uint32) []byte {
	return append(b, byte(icrc), byte(icrc>>8), byte(icrc>>16), byte(icrc>>24))
}
