package dissect

// linuxSLL is Linux cooked capture v1: packet type 16, ARPHRD 16, address
// length 16, address 64, protocol 16.
func (w *walk) linuxSLL() step {
	b := w.rest()
	if len(b) < 16 {
		return stepNone
	}
	w.off += 16
	return etherType(be.Uint16(b[14:]))
}

// linuxSLL2 is Linux cooked capture v2: protocol 16, reserved 16, interface 32,
// ARPHRD 16, packet type 8, address length 8, address 64.
func (w *walk) linuxSLL2() step {
	b := w.rest()
	if len(b) < 20 {
		return stepNone
	}
	w.off += 20
	return etherType(be.Uint16(b))
}
