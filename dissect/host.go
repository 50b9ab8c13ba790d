package dissect

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

// Host is an address, or a network of them, that packets are selected by.
type Host struct {
	address, mask Address // of mask, only the bits count
	text          string
}

// ParseHost reads an IPv4 or IPv6 address, a network such as 192.0.2.0/24, or a
// LID of native InfiniBand such as lid:4. Names are not looked up.
func ParseHost(s string) (Host, error) {
	if number, ok := strings.CutPrefix(s, "lid:"); ok {
		lid, err := strconv.ParseUint(number, 0, 16)
		if err != nil {
			return Host{}, errors.New("want lid: and a number from 0 to 65535")
		}
		a := AddressFromLID(uint16(lid))
		return Host{address: a, mask: Address{lo: ^uint64(0)}, text: a.String()}, nil
	}
	var network netip.Prefix
	if strings.Contains(s, "/") {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return Host{}, errHost
		}
		network = p.Masked()
	} else {
		ip, err := netip.ParseAddr(s)
		if err != nil {
			return Host{}, errHost
		}
		ip = ip.Unmap().WithZone("")
		network = netip.PrefixFrom(ip, ip.BitLen())
	}
	h := Host{address: AddressFromIP(network.Addr()), text: network.String()}
	if network.IsSingleIP() {
		h.text = network.Addr().String()
	}
	switch bits := network.Bits(); {
	case network.Addr().Is4():
		h.mask.lo = ^uint64(0) << (32 - bits)
	case bits <= 64:
		h.mask.hi = ^uint64(0) << (64 - bits)
	default:
		h.mask.hi, h.mask.lo = ^uint64(0), ^uint64(0)<<(128-bits)
	}
	return h, nil
}

var errHost = errors.New("want an IPv4 or IPv6 address, a network such as 192.0.2.0/24, or lid:4")

// Has reports whether the address is the host's or in its network. A GID that
// holds an IPv4 address (::ffff:192.0.2.1) counts as that.
func (h Host) Has(a Address) bool {
	if a.kind == ipv6Address && h.address.kind == ipv4Address && a.hi == 0 && a.lo>>32 == 0xffff {
		a = Address{lo: a.lo & 0xffffffff, kind: ipv4Address}
	}
	return a.kind == h.address.kind && (a.hi^h.address.hi)&h.mask.hi == 0 && (a.lo^h.address.lo)&h.mask.lo == 0
}

// String is the address, or the network with the length of its prefix.
func (h Host) String() string { return h.text }

// MarshalText gives the form of String.
func (h Host) MarshalText() ([]byte, error) { return []byte(h.text), nil }
