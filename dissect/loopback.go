package dissect

import "math/bits"

// null is BSD loopback: an address family in the byte order of whoever wrote
// the capture. Families are small, so that the order shows.
func (w *walk) null() step {
	b := w.rest()
	if len(b) < 4 {
		return stepNone
	}
	family := be.Uint32(b)
	if family > 0xffff {
		family = bits.ReverseBytes32(family)
	}
	w.off += 4
	return addressFamily(family)
}

// loop is OpenBSD loopback: an address family in network order.
func (w *walk) loop() step {
	b := w.rest()
	if len(b) < 4 {
		return stepNone
	}
	w.off += 4
	return addressFamily(be.Uint32(b))
}

// addressFamily is the header behind an address family. IPv6 has a number of
// its own on each system.
func addressFamily(family uint32) step {
	switch family {
	case 2:
		return stepIPv4
	case 10, 24, 28, 30: // Linux; NetBSD and OpenBSD; FreeBSD; macOS
		return stepIPv6
	}
	return stepNone
}
