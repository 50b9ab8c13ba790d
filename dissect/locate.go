package dissect

import (
	"encoding/binary"
	"slices"

	"github.com/rdmadump/rdmadump/codec"
)

var be = binary.BigEndian

// RoCEv2Port is the UDP destination port of RoCEv2 (IBA annex A17).
const RoCEv2Port = 4791

// Locator finds the RDMA packet in a frame. The zero Locator looks for RoCEv2
// at its own UDP port.
type Locator struct {
	UDPPorts []uint16 // destination ports that carry RoCEv2 too, beside RoCEv2Port

	sums *[]int // where to note the checksums that cover the packet, nil for nowhere
}

// Outcome is what Locate found in a frame.
type Outcome uint8

// The outcomes.
const (
	NotRDMA  Outcome = iota // the headers lead to something else, to nothing known, or are broken
	Found                   // the headers lead to a transport packet, and its BTH was captured
	Cut                     // the headers lead to a transport packet, and the capture ends within its BTH
	Pause                   // a MAC control frame, such as those that pause a link
	Fragment                // an IP fragment of what may hold a transport packet
)

// String is the outcome in words.
func (o Outcome) String() string {
	return [...]string{"not RDMA", "found", "cut before the end of the BTH", "MAC control", "IP fragment"}[o]
}

// Locate follows the headers of a frame to an RDMA transport packet. It goes by
// framing alone: a UDP datagram to the right port, a GRH behind the Ethertype
// of RoCEv1, or an LRH that announces a BTH. Whether that is RDMA, Packet.Judge
// says, and Packet.JudgeCut when the BTH was cut.
//
// p is overwritten wholly, and describes the packet when the outcome is Found
// or Cut; otherwise it holds the frame's number and time alone, and of a MAC
// control frame Covered, from the control opcode on. Its slices alias
// f.Data. Locate does not allocate.
//
// Lengths come from the innermost header that has one, never from the frame,
// which may hold padding and checksums behind the packet; a UDP length that
// exceeds its IP packet does not count. The frame's length decides only where
// the headers leave theirs open (zero, as large segments have it). Headers that
// contradict themselves lead to nothing.
func (l *Locator) Locate(f *Frame, p *Packet) Outcome {
	b := f.Data
	// Ethernet II, IPv4 without options, UDP: nearly every frame there is.
	if f.Link != LinkEthernet || len(b) < 54 ||
		be.Uint16(b[12:]) != etherTypeIPv4 || b[14] != 0x45 || b[23] != protocolUDP ||
		be.Uint16(b[20:])&ipv4Fragmented != 0 || be.Uint16(b[36:]) != RoCEv2Port {
		return l.follow(f, p)
	}
	n := int(be.Uint16(b[38:])) // of the UDP datagram
	if n < 8+12 || n+20 > int(be.Uint16(b[16:])) {
		return l.follow(f, p)
	}
	end := min(34+n, len(b))
	p.Number, p.File, p.Time = f.Number, f.File, f.Time
	p.Carrier = codec.RoCEv2IPv4
	p.Src, p.Dst = AddressFrom4(b[26:30]), AddressFrom4(b[30:34])
	p.SrcPort = be.Uint16(b[34:])
	p.Traffic, p.HopLimit, p.IPID = b[15], b[22], be.Uint16(b[18:])
	p.VLAN, p.VNI, p.Tunnels = 0, 0, Tunnels{}
	p.SGID, p.DGID = Address{}, Address{}
	p.Link, p.Covered, p.Trailer = b[:14], b[14:end], b[end:]
	p.BTH, p.WireLen, p.Cut = 28, n-8, len(b) < f.WireLen
	return Found
}

// carries reports whether a UDP destination port is one of RoCEv2.
func (l *Locator) carries(port uint16) bool {
	return port == RoCEv2Port || len(l.UDPPorts) > 0 && slices.Contains(l.UDPPorts, port)
}
