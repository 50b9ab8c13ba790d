package dissect

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/rdmadump/rdmadump/codec"
)

// The builders write one header around what it carries. Layouts are those of
// the RFCs and of IEEE 802.

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// behind writes the hex of a header before the rest.
func behind(header string, rest []byte) []byte { return slices.Concat(unhex(header), rest) }

func length(n int) []byte { return be.AppendUint16(nil, uint16(n)) }

const macs = "02 00 00 00 00 02 02 00 00 00 00 01"

func ethernet(etherType string, rest []byte) []byte { return behind(macs+etherType, rest) }

// ipv4 is 192.0.2.1 > 192.0.2.2, TOS 0x1a, identification 0x1234, TTL 61.
func ipv4(protocol byte, rest []byte) []byte { return ipv4Fragment(protocol, "4000", rest) }

func ipv4Fragment(protocol byte, fragment string, rest []byte) []byte {
	return slices.Concat(unhex("45 1a"), length(20+len(rest)), unhex("1234"), unhex(fragment),
		[]byte{61, protocol}, unhex("0000 c0000201 c0000202"), rest)
}

// ipv6 is 2001:db8::1 > 2001:db8::2, traffic class 0x1a, hop limit 61.
func ipv6(next byte, rest []byte) []byte {
	return slices.Concat(unhex("61a00000"), length(len(rest)), []byte{next, 61},
		unhex("20010db8000000000000000000000001 20010db8000000000000000000000002"), rest)
}

func udp(port int, rest []byte) []byte {
	return slices.Concat(unhex("c123"), length(port), length(8+len(rest)), unhex("0000"), rest)
}

// An RC SEND Only to QP 0x111 with PSN 7000 and 8 bytes of payload, without its
// ICRC.
var send = unhex("04 40 ffff 00 000111 80 001b58 0123456789abcdef")

// seal computes the ICRC over what it covers and puts it in its place at the
// end, where b has 4 bytes to spare.
func seal(carrier codec.Carrier, b []byte) []byte {
	n := len(b) - 4
	icrc, err := codec.ICRC(carrier, b[:n], n-len(send))
	if err != nil {
		panic(err)
	}
	return codec.AppendICRC(b[:n], icrc)
}

var spare = make([]byte, 4)

func datagram() []byte { return udp(RoCEv2Port, slices.Concat(send, spare)) }

func rocev2over4() []byte { return seal(codec.RoCEv2IPv4, ipv4(17, datagram())) }

func rocev2over6() []byte { return seal(codec.RoCEv2IPv6, ipv6(17, datagram())) }

// extended is RoCEv2 over IPv6 with extension headers, the first of type next,
// the last followed by UDP.
func extended(next byte, extensions string) []byte {
	return seal(codec.RoCEv2IPv6, ipv6(next, behind(extensions, datagram())))
}

func grh() []byte { return ipv6(codec.NxtHdrIBA, slices.Concat(send, spare)) }

func rocev1() []byte { return seal(codec.RoCEv1, grh()) }

// infiniband is LID 8 > LID 5, with the 2 bytes of a VCRC behind it.
func infiniband() []byte {
	b := slices.Concat(unhex("0002 0005"), length((8+len(send)+4)/4), unhex("0008"), send, spare)
	return append(seal(codec.InfiniBand, b), 0xaa, 0xaa)
}

func infinibandGRH() []byte {
	g := seal(codec.InfiniBandGRH, grh())
	return slices.Concat(unhex("0003 0005"), length((8+len(g))/4), unhex("0008"), g, unhex("aaaa"))
}

// erf is a record of a type with a number of extension headers.
func erf(kind byte, extensions int, rest []byte) []byte {
	if extensions > 0 {
		kind |= 0x80
	}
	header := slices.Concat(unhex("00000000 00000000"), []byte{kind, 0x04},
		length(16+8*extensions+len(rest)), unhex("0000"), length(len(rest)))
	for i := range extensions {
		extension := make([]byte, 8)
		if i < extensions-1 {
			extension[0] = 0x80
		}
		header = append(header, extension...)
	}
	return append(header, rest...)
}
