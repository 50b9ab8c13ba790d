package dissect

// A mirror that copies a port on the way in and on the way out shows every
// packet twice. Both copies are the same frame: equal PSN, IP identification and
// ICRC, which covers just what routers leave alone. A retransmission has an IP
// identification of its own; over IPv6, which has none, only time tells.

// mirrorWindow is how long after a packet its copy may follow while no round
// trip has been seen, in nanoseconds.
const mirrorWindow = 10_000

// distinctWindow is the same for senders that give every transmission an IP
// identification of its own: there an equal one is proof, however long the
// mirror kept the copy. It only keeps identifications apart that came round.
const distinctWindow = 1_000_000_000

const recentSlots = 1 << 14

// recent remembers the last packets of all halves, in one table of fixed size.
// Packets of one half lie beside each other.
type recent struct {
	slots [recentSlots]sighting
}

type sighting struct {
	time int64
	half uint32
	psn  uint32 // bit 31 is set, so that a free slot matches nothing; bit 30 parts responses from requests
	icrc uint32
	ipid uint16
	op   uint8
	ce   bool
}

// again notes a packet and reports whether it repeats a frame that was seen
// less than window nanoseconds before. remarked is true where the copy has a CE
// mark that the packets before it had not, so that a mark counts once.
func (r *recent) again(s sighting, window int64) (copied, remarked bool) {
	at := &r.slots[(s.half*0x9E3779B1+s.psn+s.psn>>30&1*recentSlots/2)%recentSlots]
	if at.psn == s.psn && at.half == s.half && at.ipid == s.ipid && at.icrc == s.icrc && at.op == s.op {
		if age := s.time - at.time; age < window && age > -window {
			remarked = s.ce && !at.ce
			at.ce = at.ce || s.ce
			return true, remarked
		}
	}
	*at = s
	return false, false
}
