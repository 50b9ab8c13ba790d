package layers_test

import (
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	rdmalayers "github.com/rdmadump/rdmadump/layers"
)

// The carriers as bytes, written out so that no code under test makes them.
// They lead to n bytes of transport packet.

func ethernet(etherType uint16, rest ...[]byte) []byte {
	b := []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, byte(etherType >> 8), byte(etherType)}
	for _, r := range rest {
		b = append(b, r...)
	}
	return b
}

func ipv4(n int) []byte {
	b := []byte{0x45, 2, 0, 0, 0x12, 0x34, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2}
	binary.BigEndian.PutUint16(b[2:], uint16(20+8+n))
	return b
}

func ipv6(n int) []byte {
	b := append([]byte{0x60, 0x20, 0, 7, 0, 0, 17, 63}, make([]byte, 32)...)
	b[8], b[9], b[23], b[24], b[25], b[39] = 0x20, 1, 1, 0x20, 1, 2
	binary.BigEndian.PutUint16(b[4:], uint16(8+n))
	return b
}

func udp(src, dst uint16, n int) []byte {
	b := make([]byte, 8)
	binary.BigEndian.PutUint16(b, src)
	binary.BigEndian.PutUint16(b[2:], dst)
	binary.BigEndian.PutUint16(b[4:], uint16(8+n))
	return b
}

func grh(n int) []byte {
	b := append([]byte{0x60, 0, 0, 0, 0, 0, 0x1b, 64}, make([]byte, 32)...)
	b[8], b[23], b[24], b[39] = 0xfe, 1, 0xfe, 2
	binary.BigEndian.PutUint16(b[4:], uint16(n))
	return b
}

func lrh(lnh byte, n int) []byte {
	words := (8 + n) / 4
	return []byte{0x70, lnh, 0, 2, byte(words >> 8), byte(words), 0, 1}
}

// carriers put a transport packet into a frame.
var carriers = []struct {
	name  string
	link  gopacket.Decoder
	frame func(transport []byte) []byte
}{
	{"RoCEv2 over IPv4", layers.LinkTypeEthernet, func(b []byte) []byte {
		return ethernet(0x0800, ipv4(len(b)), udp(49152, 4791, len(b)), b)
	}},
	{"RoCEv2 over IPv6", layers.LinkTypeEthernet, func(b []byte) []byte {
		return ethernet(0x86dd, ipv6(len(b)), udp(49152, 4791, len(b)), b)
	}},
	{"RoCEv2 in a VLAN", layers.LinkTypeEthernet, func(b []byte) []byte {
		return ethernet(0x8100, []byte{0, 100, 8, 0}, ipv4(len(b)), udp(49152, 4791, len(b)), b)
	}},
	{"RoCEv1", layers.LinkTypeEthernet, func(b []byte) []byte { return ethernet(0x8915, grh(len(b)), b) }},
	{"InfiniBand", rdmalayers.LinkTypeInfiniBand, func(b []byte) []byte {
		return append(append(lrh(2, len(b)), b...), 0xab, 0xcd)
	}},
	{"InfiniBand with a GRH", rdmalayers.LinkTypeInfiniBand, func(b []byte) []byte {
		return append(append(append(lrh(3, 40+len(b)), grh(len(b))...), b...), 0xab, 0xcd)
	}},
}

// stacks are transport packets with the layers that the tables of headers in
// IBA 9.2.2 (and in the papers on the extensions) give them. P, p and C stand
// for payload, pad and ICRC.
var stacks = []struct {
	opcode byte
	padCnt byte
	body   int // bytes between BTH and ICRC
	want   string
}{
	{0x00, 0, 256, "BTH P C"},
	{0x04, 0, 0, "BTH C"},
	{0x05, 1, 4 + 7 + 1, "BTH ImmDt P p C"},
	{0x0a, 3, 16 + 5 + 3, "BTH RETH P p C"},
	{0x0b, 0, 16 + 4, "BTH RETH ImmDt C"},
	{0x0c, 0, 16, "BTH RETH C"},
	{0x0e, 0, 256, "BTH P C"},
	{0x10, 0, 4 + 8, "BTH AETH P C"},
	{0x11, 0, 4, "BTH AETH C"},
	{0x11, 2, 4 + 30 + 2, "BTH AETH TCAETH p C"},
	{0x12, 0, 12, "BTH AETH AtomicAckETH C"},
	{0x12, 2, 4 + 30 + 8 + 2, "BTH AETH TCAETH AtomicAckETH p C"},
	{0x13, 0, 28, "BTH AtomicETH C"},
	{0x17, 0, 4 + 8, "BTH IETH P C"},
	{0x1c, 0, 4 + 16, "BTH FETH RETH C"},
	{0x1d, 0, 16 + 8, "BTH RETH P C"},
	{0x26, 0, 16 + 256, "BTH RETH P C"},
	{0x4a, 0, 4 + 8 + 16 + 4, "BTH RDETH DETH RETH P C"},
	{0x51, 0, 4 + 4, "BTH RDETH AETH C"},
	{0x65, 0, 8 + 4 + 8, "BTH DETH ImmDt P C"},
	{0x81, 0, 16, "BTH CNP C"},
	{0xaa, 0, 4 + 16 + 4, "BTH XRCETH RETH P C"},
	{0xb1, 0, 4, "BTH AETH C"},
	{0xe4, 0, 8 + 4, "BTH IRNETH P C"},
	{0xe7, 0, 16 + 256, "BTH RETH P C"},
	{0xf1, 0, 4 + 4, "BTH AETH IRNNack C"},
	{0xfa, 0, 4 + 4, "BTH AETH MPETH C"},
}

// transport writes a packet: a BTH, then bytes that count up, and zero bytes
// where pad stands.
func transport(opcode, padCnt byte, body int) []byte {
	b := []byte{opcode, padCnt << 4, 0xff, 0xff, 0, 0, 1, 0x23, 0x80, 0, 0, 42}
	for i := range body + 4 {
		b = append(b, byte(i+1))
	}
	clear(b[12+body-int(padCnt) : 12+body])
	return b
}

func fromHex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
