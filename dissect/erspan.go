package dissect

// erspan2 is ERSPAN type II, a switch's mirror in GRE (draft-foschiano-erspan):
// version 4 (1), VLAN 12, COS 3, encapsulation 2, truncated 1, session 10,
// reserved 12, index 20.
func (w *walk) erspan2() step {
	b := w.rest()
	if len(b) < 8 || b[0]>>4 != 1 {
		return stepNone
	}
	w.off += 8
	return w.enter(ERSPAN2, stepEthernet)
}

// erspan3 is ERSPAN type III: version 4 (2), VLAN 12, COS 3, bad or short 2,
// truncated 1, session 10, timestamp 32, security group 16, P 1, frame type 5,
// hardware 6, direction 1, granularity 2, O 1, and 8 bytes more where O is set.
func (w *walk) erspan3() step {
	b := w.rest()
	if len(b) < 12 || b[0]>>4 != 2 {
		return stepNone
	}
	n := 12
	if b[11]&1 != 0 {
		n += 8
	}
	if n > len(b) {
		return stepNone
	}
	w.off += n
	switch b[10] >> 2 & 0x1f {
	case 0:
		return w.enter(ERSPAN3, stepEthernet)
	case 2:
		return w.enter(ERSPAN3, stepIP)
	}
	return stepNone
}
