package dissect

import "github.com/rdmadump/rdmadump/codec"

// lrh is the first header on an InfiniBand link (codec.LRH). Its length ends
// with the ICRC; the VCRC behind it is the link's.
func (w *walk) lrh() step {
	b := w.rest()
	if len(b) < 8 {
		return stepNone
	}
	start := w.off
	n := 4 * int(be.Uint16(b[4:])&0x7ff)
	if n < 8 {
		return stepNone
	}
	w.bound(w.off + n)
	w.off += 8
	w.p.Dst, w.p.Src = AddressFromLID(be.Uint16(b[2:])), AddressFromLID(be.Uint16(b[6:]))
	switch b[1] & 3 {
	case codec.LNHBTH:
		return w.transport(codec.InfiniBand, start)
	case codec.LNHGRH:
		start = w.off
		g := w.grh()
		if g == nil {
			return stepNone
		}
		w.p.SGID, w.p.DGID = AddressFrom16(g[8:24]), AddressFrom16(g[24:40])
		return w.transport(codec.InfiniBandGRH, start)
	}
	return stepNone // a raw packet
}

// rocev1 is a GRH that follows an Ethertype. Its GIDs are the addresses.
func (w *walk) rocev1() step {
	start := w.off
	g := w.grh()
	if g == nil {
		return stepNone
	}
	w.bound(w.off + int(be.Uint16(g[4:])))
	w.p.Src, w.p.Dst = AddressFrom16(g[8:24]), AddressFrom16(g[24:40])
	w.p.IPID = 0
	return w.transport(codec.RoCEv1, start)
}

// grh passes a GRH that leads to a BTH, and is nil if there is none.
func (w *walk) grh() []byte {
	b := w.rest()
	if len(b) < 40 || b[0]>>4 != 6 || b[6] != codec.NxtHdrIBA {
		return nil
	}
	w.p.Traffic, w.p.HopLimit = b[0]<<4|b[1]>>4, b[7]
	w.off += 40
	return b
}
