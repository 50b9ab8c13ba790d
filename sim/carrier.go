package sim

import (
	"net/netip"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/frame"
)

const hopLimit = 64

// framer makes the frames that from sends to to.
func (s *Scenario) framer(from, to *Host) (*frame.Framer, error) {
	h := frame.Header{
		SrcMAC: from.MAC, DstMAC: to.MAC, VLAN: s.VLAN, Src: s.address(from), Dst: s.address(to), SLID: from.LID, DLID: to.LID,
		TClass: s.DSCP << 2, HopLimit: hopLimit,
	}
	if s.ECN {
		h.TClass |= 2 // ECT(0)
	}
	switch s.Carrier {
	case CarrierIPv4:
		h.Carrier = codec.RoCEv2IPv4
	case CarrierIPv6:
		h.Carrier = codec.RoCEv2IPv6
	case CarrierRoCEv1:
		h.Carrier = codec.RoCEv1
	case CarrierIB:
		h.Carrier = codec.InfiniBand
	case CarrierIBGRH:
		h.Carrier = codec.InfiniBandGRH
	}
	return frame.New(&h)
}

// address is the host's address in a form that the carrier has. An IPv4 address
// gets the IPv6 form that documentation uses (RFC 3849) where the scenario does
// not give one.
func (s *Scenario) address(h *Host) netip.Addr {
	a := h.Address
	if s.Carrier == CarrierIPv6 && a.Is4() {
		v4 := a.As4()
		v6 := [16]byte{0x20, 0x01, 0x0d, 0xb8}
		copy(v6[12:], v4[:])
		a = netip.AddrFrom16(v6)
	}
	return a
}

// gid is the address as a GID, in which IPv4 is mapped.
func (s *Scenario) gid(h *Host) [16]byte { return s.address(h).As16() }

// shown is how truth names a host, which is how the captures name it.
func (s *Scenario) shown(h *Host) dissect.Address {
	switch s.Carrier {
	case CarrierIB, CarrierIBGRH:
		return dissect.AddressFromLID(h.LID)
	case CarrierRoCEv1:
		return dissect.AddressFromIP(netip.AddrFrom16(s.gid(h)))
	}
	return dissect.AddressFromIP(s.address(h))
}

// link is the link type of the captures.
func (s *Scenario) link() dissect.LinkType {
	if s.Carrier == CarrierIB || s.Carrier == CarrierIBGRH {
		return dissect.LinkInfiniBand
	}
	return dissect.LinkEthernet
}
