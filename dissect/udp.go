package dissect

// UDP destination ports of tunnels.
const (
	portVXLAN      = 4789
	portVXLANLinux = 8472 // what Linux used before the port was assigned, and still does by default
	portGENEVE     = 6081
)

// udp: source port 16, destination port 16, length 16, checksum 16. Only the
// destination says what is inside: the source port of RoCEv2 and of the tunnels
// is there for the hashes of switches. A length of 0 leaves it to IP (RFC 2675).
func (w *walk) udp() step {
	b := w.rest()
	if len(b) < 8 {
		return stepNone
	}
	end := w.end
	if n := int(be.Uint16(b[4:])); n >= 8 {
		end = min(end, w.off+n)
	} else if n != 0 {
		return stepNone
	}
	if end < w.off+8 {
		return stepNone
	}
	w.bound(end)
	w.sum(w.off + 6)
	w.off += 8
	port := be.Uint16(b[2:])
	if w.locator.carries(port) {
		w.p.SrcPort = be.Uint16(b)
		return w.transport(w.carrier, w.ip)
	}
	switch port {
	case portVXLAN, portVXLANLinux:
		return stepVXLAN
	case portGENEVE:
		return stepGENEVE
	}
	return stepNone
}
