package dissect

import "github.com/rdmadump/rdmadump/psn"

// An MP-RDMA receiver answers each packet on the packet's own path, and a path
// keeps the order. A NACK names what the head of the ring waits for, not what it
// refuses; but that is the first unanswered packet of its path which lies so far
// beyond the head that the ring, as large as acknowledgements have shown it to
// be, has no slot for it.

// unanswered are the packets of several paths that were not answered yet, in the
// order in which they passed. It is a ring; the oldest is overwritten.
type unanswered struct {
	ring       []passed
	head, size int
}

// passed is a packet that passed on a path.
type passed struct {
	seq   psn.Seq
	sport uint16
	done  bool // answered, or it never will be
}

// maxUnanswered bounds what is remembered of packets in flight.
const maxUnanswered = 512

func (u *unanswered) at(i int) *passed { return &u.ring[(u.head+i)%len(u.ring)] }

func (u *unanswered) push(seq psn.Seq, sport uint16) {
	if u.size == len(u.ring) && len(u.ring) < maxUnanswered {
		grown := make([]passed, 0, max(64, 2*len(u.ring)))
		for i := range u.size {
			grown = append(grown, *u.at(i))
		}
		u.ring, u.head = grown[:cap(grown)], 0
	}
	if u.size == len(u.ring) {
		u.head = (u.head + 1) % len(u.ring)
		u.size--
	}
	*u.at(u.size) = passed{seq: seq, sport: sport}
	u.size++
}

// answer takes out the first packet of a path that is one of from to last, and
// those of the path before it, whose answers were lost or never given.
func (u *unanswered) answer(sport uint16, from, last psn.Seq) (psn.Seq, bool) {
	for i := range u.size {
		p := u.at(i)
		if p.done || p.sport != sport || p.seq < from || p.seq > last {
			continue
		}
		for j := range i + 1 {
			if before := u.at(j); before.sport == sport {
				before.done = true
			}
		}
		seq := p.seq
		for u.size > 0 && u.at(0).done {
			u.head = (u.head + 1) % len(u.ring)
			u.size--
		}
		return seq, true
	}
	return 0, false
}

// accepted follows the acknowledgement of a packet, which had a slot.
func (s *stream) accepted(seq, cumulative psn.Seq, sport uint16) {
	p := &s.d.picks
	p.slots = max(p.slots, seq-cumulative)
	p.turned.Remove(psn.Span{First: seq, Last: seq})
	if b := p.book(seq); b != nil {
		b.back++
	}
	s.unanswered.answer(sport, seq, seq)
}

// turnedAway follows the NACK of a full ring.
func (s *stream) turnedAway(cumulative psn.Seq, sport uint16) {
	p := &s.d.picks
	if seq, ok := s.unanswered.answer(sport, cumulative+1+max(p.slots, 1), s.top); ok && len(p.turned.Spans()) < maxRepairs {
		p.turned.Insert(psn.Span{First: seq, Last: seq})
		p.openBook(seq).back++
	}
}
