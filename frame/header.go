package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/rdmadump/rdmadump/codec"
)

// Header is what stands in front of the BTH and stays the same from packet to
// packet of one direction.
type Header struct {
	Carrier codec.Carrier

	SrcMAC, DstMAC [6]byte  // where the carrier lies on Ethernet
	VLAN           []uint16 // tag control information, outermost first, at most 2 tags; the outer one of two is a service tag (802.1ad)

	Src, Dst   netip.Addr // IP addresses, or GIDs in a GRH, where IPv4 is mapped into IPv6; not of InfiniBand without GRH
	SLID, DLID uint16     // of InfiniBand
	SL         uint8      // service level of InfiniBand, 4 bits

	TClass    uint8  // DSCP and ECN: TOS of IPv4, traffic class of IPv6 and GRH
	HopLimit  uint8  // TTL of IPv4, hop limit of IPv6 and GRH
	FlowLabel uint32 // of IPv6 and GRH, 20 bits
}

// ErrHeader is wrapped by errors about a Header that makes no frame.
var ErrHeader = errors.New("no such frame")

// Ethertypes and protocol numbers.
const (
	etherIPv4   = 0x0800
	etherIPv6   = 0x86dd
	etherVLAN   = 0x8100
	etherQinQ   = 0x88a8
	etherRoCEv1 = 0x8915
	protocolUDP = 17
)

// Port is the UDP destination port of RoCEv2.
const Port = 4791

var be = binary.BigEndian

// Framer makes the frames of one direction.
type Framer struct {
	// Continue, if not nil, continues a CRC-32, in the form of crc32.Update, over
	// a payload whose own CRC is known, as that of payload from a seed may be. It
	// reports false where it is not.
	Continue func(crc uint32, payload []byte) (uint32, bool)

	carrier codec.Carrier
	head    []byte // everything before the BTH, lengths and checksums zero
	ip      int    // where in it the IP header, the GRH or the LRH of InfiniBand begins
	icrc    int    // where the coverage of the ICRC begins
	quick   *quick // of RoCEv2 over IPv4
	sum     uint32 // of the IPv4 header, or of the pseudo header for UDP over IPv6, without what changes
}

// New makes a Framer. The error wraps ErrHeader and names what does not fit.
func New(h *Header) (*Framer, error) {
	f := &Framer{carrier: h.Carrier}
	if err := h.check(); err != nil {
		return nil, err
	}
	switch h.Carrier {
	case codec.RoCEv2IPv4:
		f.ethernet(h, etherIPv4)
		f.ipv4(h)
		f.quick = newQuick()
	case codec.RoCEv2IPv6:
		f.ethernet(h, etherIPv6)
		f.ipv6(h, protocolUDP)
		f.udp()
		f.pseudo(h)
	case codec.RoCEv1:
		f.ethernet(h, etherRoCEv1)
		f.ipv6(h, codec.NxtHdrIBA)
	case codec.InfiniBand:
		f.lrh(h, codec.LNHBTH)
	case codec.InfiniBandGRH:
		f.lrh(h, codec.LNHGRH)
		f.ipv6(h, codec.NxtHdrIBA)
	}
	f.icrc = f.ip
	return f, nil
}

func (h *Header) check() error {
	switch c := h.Carrier; {
	case c > codec.InfiniBandGRH:
		return fmt.Errorf("carrier: %w: %d", ErrHeader, c)
	case len(h.VLAN) > 2:
		return fmt.Errorf("VLAN: %w: %d tags, at most 2", ErrHeader, len(h.VLAN))
	case len(h.VLAN) > 0 && c >= codec.InfiniBand:
		return fmt.Errorf("VLAN: %w: InfiniBand has none", ErrHeader)
	case c == codec.RoCEv2IPv4 && !(h.Src.Is4() && h.Dst.Is4()):
		return fmt.Errorf("address: %w: want two IPv4 addresses, not %v and %v", ErrHeader, h.Src, h.Dst)
	case c == codec.RoCEv2IPv6 && !(h.Src.Is6() && h.Dst.Is6()):
		return fmt.Errorf("address: %w: want two IPv6 addresses, not %v and %v", ErrHeader, h.Src, h.Dst)
	case c != codec.InfiniBand && !(h.Src.IsValid() && h.Dst.IsValid()):
		return fmt.Errorf("address: %w: source and destination are wanted", ErrHeader)
	case h.FlowLabel > 0xfffff:
		return fmt.Errorf("flow label: %w: %#x is more than 20 bits", ErrHeader, h.FlowLabel)
	case h.SL > 15:
		return fmt.Errorf("service level: %w: %d is more than 4 bits", ErrHeader, h.SL)
	}
	return nil
}

func (f *Framer) ethernet(h *Header, ethertype uint16) {
	f.head = append(f.head, h.DstMAC[:]...)
	f.head = append(f.head, h.SrcMAC[:]...)
	for i, tci := range h.VLAN {
		tag := uint16(etherVLAN)
		if i+1 < len(h.VLAN) {
			tag = etherQinQ
		}
		f.head = be.AppendUint16(f.head, tag)
		f.head = be.AppendUint16(f.head, tci)
	}
	f.head = be.AppendUint16(f.head, ethertype)
	f.ip = len(f.head)
}

func (f *Framer) ipv4(h *Header) {
	src, dst := h.Src.As4(), h.Dst.As4()
	f.head = append(f.head, 0x45, h.TClass, 0, 0, 0, 0, 0x40, 0, h.HopLimit, protocolUDP, 0, 0) // may not be fragmented
	f.head = append(f.head, src[:]...)
	f.head = append(f.head, dst[:]...)
	f.sum = sum(0, f.head[f.ip:])
	f.udp()
}

// ipv6 appends an IPv6 header or a GRH, which look alike.
func (f *Framer) ipv6(h *Header, next uint8) {
	f.ip = len(f.head)
	src, dst := h.Src.As16(), h.Dst.As16()
	f.head = be.AppendUint32(f.head, 6<<28|uint32(h.TClass)<<20|h.FlowLabel)
	f.head = append(f.head, 0, 0, next, h.HopLimit)
	f.head = append(f.head, src[:]...)
	f.head = append(f.head, dst[:]...)
}

func (f *Framer) udp() {
	f.head = append(f.head, 0, 0, Port>>8, Port&0xff, 0, 0, 0, 0)
}

func (f *Framer) pseudo(h *Header) {
	src, dst := h.Src.As16(), h.Dst.As16()
	f.sum = sum(sum(protocolUDP, src[:]), dst[:])
}

func (f *Framer) lrh(h *Header, next uint8) {
	f.head = append(f.head, 0, h.SL<<4|next, byte(h.DLID>>8), byte(h.DLID), 0, 0, byte(h.SLID>>8), byte(h.SLID))
}

// sum adds the 16-bit words of b to a running sum of the Internet checksum
// (RFC 1071). An odd last byte counts as the upper half of a word.
func sum(s uint32, b []byte) uint32 {
	for ; len(b) >= 2; b = b[2:] {
		s += uint32(be.Uint16(b))
	}
	if len(b) == 1 {
		s += uint32(b[0]) << 8
	}
	return s
}

// fold ends a sum.
func fold(s uint32) uint16 {
	s = s>>16 + s&0xffff
	return ^uint16(s>>16 + s)
}
