package dissect

// geneve (RFC 8926): version 2, options length 6 in units of 4 bytes, flags 8,
// protocol 16, VNI 24, reserved 8, options.
func (w *walk) geneve() step {
	b := w.rest()
	if len(b) < 8 || b[0]>>6 != 0 {
		return stepNone
	}
	n := 8 + 4*int(b[0]&0x3f)
	if n > len(b) {
		return stepNone
	}
	w.p.VNI = be.Uint32(b[4:]) >> 8
	w.off += n
	return w.enter(GENEVE, tunnelled(be.Uint16(b[2:])))
}

// tunnelled is the header behind the protocol type of GENEVE or GRE.
func tunnelled(protocol uint16) step {
	if protocol == etherTypeTEB {
		return stepEthernet
	}
	return etherType(protocol)
}
