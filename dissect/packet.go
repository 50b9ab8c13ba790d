package dissect

import "github.com/rdmadump/rdmadump/codec"

// Packet is an RDMA transport packet found in a frame: where it lies, and what
// the headers around it say. Its slices alias the frame.
type Packet struct {
	Number int   // of the frame
	File   int   // of the frame
	Time   int64 // of the frame, nanoseconds since 1970-01-01 UTC

	Carrier    codec.Carrier
	Src, Dst   Address
	SrcPort    uint16 // UDP source port; 0 without UDP
	Traffic    uint8  // TOS or traffic class: DSCP in the upper 6 bits, ECN in the lower 2
	HopLimit   uint8  // TTL or hop limit
	IPID       uint16 // identification of IPv4, 0 elsewhere
	VLAN       uint16 // innermost VLAN identifier inside all tunnels, 0 without a tag
	VNI        uint32 // innermost VXLAN, GENEVE or NVGRE network, 0 without one
	Tunnels    Tunnels
	SGID, DGID Address // of a GRH in native InfiniBand, else zero

	// Link, Covered and Trailer are the captured frame, one behind the other.
	// Link is everything before Covered: of native InfiniBand with a GRH it ends
	// with the LRH.
	Link []byte

	// Covered is the frame from where the ICRC's coverage begins (IP header,
	// GRH or LRH) up to and with the ICRC, as far as it was captured.
	Covered []byte

	// Trailer is what follows the ICRC: padding, frame check sequence, VCRC.
	Trailer []byte

	// Cut says that the frame is not whole: the capture cut it, or a mirror did
	// before it put headers of its own around. When a packet is not there to its
	// end and this is false, its headers claim more than the frame ever had.
	Cut bool

	BTH     int // the BTH's place in Covered
	WireLen int // bytes on the wire from the BTH up to and with the ICRC
}

// Transport is the packet from the BTH on, as far as it was captured.
func (p *Packet) Transport() []byte { return p.Covered[p.BTH:] }

// ECN values in the lower two bits of Packet.Traffic (RFC 3168).
const (
	ECNMask = 3
	ECNCE   = 3 // congestion experienced
)

// ICRCState is what the ICRC of a captured packet says.
type ICRCState uint8

// The states of an ICRC.
const (
	ICRCAbsent ICRCState = iota // cut short, or not on the wire: not checkable, never bad
	ICRCGood
	ICRCBad
)

// String is "absent", "good" or "bad".
func (s ICRCState) String() string { return [...]string{"absent", "good", "bad"}[s] }

// ICRC checks the packet's ICRC.
func (p *Packet) ICRC() ICRCState {
	n := p.BTH + p.WireLen - 4
	if n < p.BTH+12 || len(p.Covered) < n+4 {
		return ICRCAbsent
	}
	want, err := codec.ICRC(p.Carrier, p.Covered[:n], p.BTH)
	if err != nil {
		return ICRCAbsent
	}
	b := p.Covered[n : n+4]
	if uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24 == want {
		return ICRCGood
	}
	return ICRCBad
}
