package dissect

// Protocol types of GRE that stand for a mirror of a switch.
const (
	greERSPAN2 = 0x88be // also ERSPAN type I
	greERSPAN3 = 0x22eb
)

// Flags of GRE.
const (
	greChecksum = 0x8000
	greRouting  = 0x4000 // of RFC 1701, since withdrawn: not followed
	greKey      = 0x2000
	greSequence = 0x1000
	greVersion  = 0x0007
)

// gre (RFC 2784, 2890): flags 13, version 3, protocol type 16, then checksum,
// key and sequence number, 32 bits each, as the flags say. With a key and an
// Ethernet frame inside it is NVGRE (RFC 7637), whose key is VSID 24, flow 8.
func (w *walk) gre() step {
	b := w.rest()
	if len(b) < 4 {
		return stepNone
	}
	flags, protocol := be.Uint16(b), be.Uint16(b[2:])
	if flags&(greRouting|greVersion) != 0 {
		return stepNone
	}
	n := 4
	if flags&greChecksum != 0 {
		n += 4
	}
	key := n
	if flags&greKey != 0 {
		n += 4
	}
	if flags&greSequence != 0 {
		n += 4
	}
	if n > len(b) {
		return stepNone
	}
	if flags&greChecksum != 0 {
		w.sum(w.off + 4)
	}
	w.off += n
	switch {
	case protocol == greERSPAN2 && flags&greSequence == 0:
		return w.enter(ERSPAN1, stepEthernet)
	case protocol == greERSPAN2:
		return stepERSPAN2
	case protocol == greERSPAN3:
		return stepERSPAN3
	case protocol == etherTypeTEB && flags&greKey != 0:
		w.p.VNI = be.Uint32(b[key:]) >> 8
	}
	return w.enter(GRE, tunnelled(protocol))
}
