package dissect

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"strconv"
)

// Address is the end of a path as a packet names it: an IPv4 or IPv6 address, a
// GID, or the LID of native InfiniBand. Addresses are comparable and hold no
// pointers, so that they cost little as keys.
type Address struct {
	hi, lo uint64
	kind   addressKind
}

type addressKind uint8

const (
	noAddress addressKind = iota
	ipv4Address
	ipv6Address // also a GID
	lidAddress
)

// AddressFrom4 makes an address of the 4 bytes at the start of b.
func AddressFrom4(b []byte) Address {
	return Address{lo: uint64(binary.BigEndian.Uint32(b)), kind: ipv4Address}
}

// AddressFrom16 makes an IPv6 address or GID of the 16 bytes at the start of b.
func AddressFrom16(b []byte) Address {
	return Address{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), ipv6Address}
}

// AddressFromLID makes an address of a local identifier.
func AddressFromLID(lid uint16) Address { return Address{lo: uint64(lid), kind: lidAddress} }

// AddressFromIP makes an address of an IP address; its zone is dropped.
func AddressFromIP(ip netip.Addr) Address {
	switch {
	case ip.Is4():
		b := ip.As4()
		return AddressFrom4(b[:])
	case ip.Is6():
		b := ip.As16()
		return AddressFrom16(b[:])
	}
	return Address{}
}

// IP is the address as an IP address; ok is false for a LID and for the zero
// Address.
func (a Address) IP() (ip netip.Addr, ok bool) {
	switch a.kind {
	case ipv4Address:
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], uint32(a.lo))
		return netip.AddrFrom4(b), true
	case ipv6Address:
		var b [16]byte
		binary.BigEndian.PutUint64(b[:], a.hi)
		binary.BigEndian.PutUint64(b[8:], a.lo)
		return netip.AddrFrom16(b), true
	}
	return netip.Addr{}, false
}

// String writes "192.0.2.1", "2001:db8::1", "lid:4", or "" for the zero
// Address.
func (a Address) String() string { return string(a.AppendTo(nil)) }

// AppendTo appends the form of String to b.
func (a Address) AppendTo(b []byte) []byte {
	if ip, ok := a.IP(); ok {
		return ip.AppendTo(b)
	}
	if a.kind == lidAddress {
		return strconv.AppendUint(append(b, "lid:"...), a.lo, 10)
	}
	return b
}

// Compare orders addresses: negative when a comes before b, zero when they are
// equal. The order has no meaning beyond that.
func (a Address) Compare(b Address) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo))
}

// MarshalText gives the form of String.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }
