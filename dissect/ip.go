package dissect

import "github.com/rdmadump/rdmadump/codec"

// IP protocols, and next headers of IPv6, that lead on.
const (
	protocolHopByHop    = 0
	protocolIPv4        = 4
	protocolUDP         = 17
	protocolIPv6        = 41
	protocolRouting     = 43
	protocolFragment    = 44
	protocolGRE         = 47
	protocolAH          = 51
	protocolDestination = 60
	protocolMPLS        = 137 // RFC 4023
)

// protocol is the header behind an IP protocol. ICMP is not among them: what it
// quotes has passed elsewhere.
func (w *walk) protocol(protocol uint8) step {
	switch protocol {
	case protocolUDP:
		return stepUDP
	case protocolIPv4:
		return w.enter(IPIP, stepIPv4)
	case protocolIPv6:
		return w.enter(IPIP, stepIPv6)
	case protocolGRE:
		return stepGRE
	case protocolMPLS:
		return stepMPLS
	case protocolAH:
		return stepAH
	case protocolHopByHop, protocolRouting, protocolDestination:
		return stepIPv6Extension
	case protocolFragment:
		return stepIPv6Fragment
	}
	return stepNone
}

// ipVersion tells IPv4 from IPv6.
func (w *walk) ipVersion() step {
	b := w.rest()
	if len(b) > 0 {
		switch b[0] >> 4 {
		case 4:
			return stepIPv4
		case 6:
			return stepIPv6
		}
	}
	return stepNone
}

// ipv4Fragmented covers More Fragments and the offset, of which a whole packet
// has neither.
const ipv4Fragmented = 0x3fff

// ipv4: version 4, header length 4, TOS 8, total length 16, identification 16,
// flags 3, offset 13, TTL 8, protocol 8, checksum 16, source 32, destination
// 32, options. A total length of 0 is what a sender's capture shows of a
// segment that the NIC has yet to cut: it leaves the length open.
func (w *walk) ipv4() step {
	b := w.rest()
	if len(b) < 20 || b[0]>>4 != 4 {
		return stepNone
	}
	n, total := 4*int(b[0]&15), int(be.Uint16(b[2:]))
	if n < 20 || n > len(b) || total != 0 && total < n {
		return stepNone
	}
	if total != 0 {
		w.bound(w.off + total)
	}
	p := w.p
	p.Src, p.Dst = AddressFrom4(b[12:16]), AddressFrom4(b[16:20])
	p.Traffic, p.HopLimit, p.IPID = b[1], b[8], be.Uint16(b[4:])
	w.ip, w.carrier = w.off, codec.RoCEv2IPv4
	w.off += n
	next := w.protocol(b[9])
	if next != stepNone && be.Uint16(b[6:])&ipv4Fragmented != 0 {
		return stepFragment
	}
	return next
}

// ipv6: version 4, traffic class 8, flow label 20, payload length 16, next
// header 8, hop limit 8, source 128, destination 128. A payload length of 0
// leaves the length open.
func (w *walk) ipv6() step {
	b := w.rest()
	if len(b) < 40 || b[0]>>4 != 6 {
		return stepNone
	}
	p := w.p
	p.Src, p.Dst = AddressFrom16(b[8:24]), AddressFrom16(b[24:40])
	p.Traffic, p.HopLimit, p.IPID = b[0]<<4|b[1]>>4, b[7], 0
	w.ip, w.carrier = w.off, codec.RoCEv2IPv6
	w.off += 40
	if n := int(be.Uint16(b[4:])); n != 0 {
		w.bound(w.off + n)
	}
	return w.protocol(b[6])
}

// ipv6Extension is a hop-by-hop, routing or destination options header: next
// header 8, length 8 in units of 8 bytes without the first, then its contents.
func (w *walk) ipv6Extension() step {
	b := w.rest()
	if len(b) < 8 {
		return stepNone
	}
	return w.skip(b[0], 8*(int(b[1])+1))
}

// ah is the authentication header (RFC 4302): next header 8, length 8 in units
// of 4 bytes without the first two, then its contents.
func (w *walk) ah() step {
	b := w.rest()
	if len(b) < 8 {
		return stepNone
	}
	return w.skip(b[0], 4*(int(b[1])+2))
}

// ipv6Fragment is the fragment header: next header 8, reserved 8, offset 13,
// reserved 2, more 1, identification 32. One with neither offset nor more is
// around a whole packet (RFC 6946).
func (w *walk) ipv6Fragment() step {
	b := w.rest()
	if len(b) < 8 {
		return stepNone
	}
	next := w.skip(b[0], 8)
	if next != stepNone && be.Uint16(b[2:])&0xfff9 != 0 {
		return stepFragment
	}
	return next
}

// skip passes n bytes, behind which a header of the IP protocol stands.
func (w *walk) skip(protocol uint8, n int) step {
	if n > len(w.rest()) {
		return stepNone
	}
	w.off += n
	return w.protocol(protocol)
}
