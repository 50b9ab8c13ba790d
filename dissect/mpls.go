package dissect

// mpls is one label (RFC 3032): label 20, class 3, bottom of stack 1, TTL 8.
// Nothing names what follows the last one; as routers do it, a first nibble of
// 4 or 6 is taken for IP and anything else for an Ethernet pseudowire.
func (w *walk) mpls() step {
	b := w.rest()
	if len(b) < 4 {
		return stepNone
	}
	w.off += 4
	if b[2]&1 == 0 {
		return w.enter(MPLS, stepMPLS)
	}
	if next := w.ipVersion(); next != stepNone {
		return w.enter(MPLS, next)
	}
	return w.enter(MPLS, w.pseudowire())
}

// pseudowire is an Ethernet frame with or without the 4 bytes of a control word
// before it, whose first nibble is 0 (RFC 4448). The Ethertype tells.
func (w *walk) pseudowire() step {
	b := w.rest()
	if len(b) >= 18 && b[0]>>4 == 0 && etherType(be.Uint16(b[16:])) != stepNone {
		w.off += 4
	}
	return stepEthernet
}
