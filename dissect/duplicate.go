package dissect

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

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

// slot is where a packet of the half with the PSN is remembered.
func (r *recent) slot(s *sighting) *sighting {
	return &r.slots[(s.half*0x9E3779B1+s.psn+s.psn>>30&1*recentSlots/2)%recentSlots]
}

// again notes a packet and reports whether it repeats a frame that was seen
// less than window nanoseconds before. One that passed before after, when it was
// asked for again, comes as a resend, unless within delay, which a mirror takes.
// remarked is true where the copy has a CE mark that the packets before it had not,
// so that a mark counts once.
func (r *recent) again(s sighting, window, after, delay int64) (copied, remarked bool, age int64) {
	at := r.slot(&s)
	if at.psn == s.psn && at.half == s.half && at.ipid == s.ipid && at.icrc == s.icrc && at.op == s.op {
		if age = s.time - at.time; age < window && age > -window && (at.time >= after || age <= delay) {
			remarked = s.ce && !at.ce
			at.ce = at.ce || s.ce
			return true, remarked, age
		}
	}
	*at = s
	return false, false, 0
}

// wants notes that the receiver asks for packets from seq on.
func (s *stream) wants(seq psn.Seq, at int64) {
	d := s.d
	if old := psn.Unwrap(seq, d.wanted); d.wantedAt == 0 || old < s.acked || seq < old {
		d.wanted = seq.PSN()
	}
	d.wantedAt = at
}

// askedFor is when the packets of a half were asked for again to which one
// belongs: a frame that passed before and comes again is then no copy of a mirror's.
// It is 0 for never. Feedback repeats itself at any time, where a receiver refuses
// one packet after the other. delay is what a mirror may take all the same. A packet
// with which the sender goes back is noted, for it was asked for with all behind it.
func (h *half) askedFor(bth *codec.BTH, now int64) (at, delay int64) {
	s := &h.req
	if bth.Opcode.Response() {
		s = h.resp
		if forms[bth.Opcode].verb != codec.VerbReadResponse {
			if p := h.partner; p != nil && p.packets >= mirrorShare {
				return now + 1, p.mirrorDelay()
			}
			return 0, 0
		}
	}
	if s == nil || s.d == nil || s.d.wantedAt == 0 || bth.PSN.Sub(s.d.wanted) < 0 {
		return 0, 0
	}
	goesBack := psn.Unwrap(s.top, bth.PSN) < s.next && psn.Unwrap(s.acked, s.d.wanted) >= s.acked
	if bth.PSN == s.d.wanted || goesBack && !h.mirrored() {
		s.d.resumedAt = now
	}
	return max(s.d.wantedAt, s.d.resumedAt), h.mirrorDelay()
}

// mirrored reports whether a mirror shows frames of the half twice.
func (h *half) mirrored() bool { return int64(h.copies)*mirrorShare > h.packets }

// mirrorDelay is how long a mirror takes at most, by what it did so far.
func (h *half) mirrorDelay() int64 {
	if !h.mirrored() {
		return 0
	}
	return 2 * h.copyAge
}

// mirrorShare is how many packets a half has for each frame that was seen twice
// where no mirror is at work.
const mirrorShare = 8
