package dissect

// vxlan (RFC 7348): flags 8, reserved 24, VNI 24, reserved 8. The flag 0x08
// says that the VNI is valid, and must be set.
func (w *walk) vxlan() step {
	b := w.rest()
	if len(b) < 8 || b[0]&0x08 == 0 {
		return stepNone
	}
	w.p.VNI = be.Uint32(b[4:]) >> 8
	w.off += 8
	return w.enter(VXLAN, stepEthernet)
}
