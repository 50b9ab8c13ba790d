package dissect

// Types of ERF records that lead on.
const (
	erfEthernet          = 2
	erfEthernetColor     = 11
	erfEthernetDSM       = 16
	erfEthernetHashColor = 20
	erfInfiniBand        = 21
	erfIPv4              = 22
	erfIPv6              = 23
)

// erf is the header of an Endace ERF record: timestamp 64, more extension
// headers 1, type 7, flags 8, record length 16, loss counter or colour 16,
// length on the wire 16; then extension headers of 8 bytes each, of which the
// first bit says whether another follows. Ethernet has 2 bytes before it.
func (w *walk) erf() step {
	b := w.rest()
	if len(b) < 16 {
		return stepNone
	}
	kind, wire := b[8]&0x7f, int(be.Uint16(b[14:]))
	more := b[8]&0x80 != 0
	n := 16
	for ; more; n += 8 {
		if len(b) < n+8 {
			return stepNone
		}
		more = b[n]&0x80 != 0
	}
	next := stepNone
	switch kind {
	case erfEthernet, erfEthernetColor, erfEthernetDSM, erfEthernetHashColor:
		next = stepEthernet
		n += 2
	case erfInfiniBand:
		next = stepLRH
	case erfIPv4:
		next = stepIPv4
	case erfIPv6:
		next = stepIPv6
	}
	if len(b) < n {
		return stepNone
	}
	w.off += n
	w.p.Cut = w.p.Cut || w.off+wire > len(w.data) // by the card, as the record says
	w.bound(w.off + wire)                         // records are padded to whole 8 bytes
	return next
}
