package dissect

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// Where packets may overtake each other the order in which they pass does not
// tell which of two copies of a PSN was sent first, and so not whether a copy was
// lost or late. The IP identification does where the sender counts its packets
// with it: one that was passed over, and comes now, was overtaken by all that
// came since. Other senders take it from the PSN, at random, or leave it zero, so
// it is believed only once it counted on while the PSN went back.

// numbers follows the IP identifications of one sender.
type numbers struct {
	on      bool
	counts  bool    // they tell in which order packets were sent
	back    bool    // they counted on while the PSN went back
	late    bool    // one that they had passed over came below the newest PSN
	newest  uint16  // the highest so far
	at      psn.Seq // its place among all packets that the sender sent
	skipped psn.Set // places of packets that have not passed yet
	steps   int64   // times that it counted on
	jumps   int64   // and that it did not
}

// place is where in the order of sending a packet stands.
type place struct {
	at    psn.Seq // 0 where that is not known
	order order
}

// order is how a packet came in comparison with those sent before and after it.
type order uint8

const (
	unordered order = iota // nobody can tell
	inOrder                // nothing that was sent later has passed
	overtaken              // something has
)

const (
	// maxIDStep is how many packets a sender may send to others in between, or
	// lose, and how late one may be.
	maxIDStep = 4096
	// maxSkipped is about how many places are remembered as passed over.
	maxSkipped = 512
	// stepsOfJump is how often the identification must count on for each time
	// that it jumps: some systems add a random number after a pause.
	stepsOfJump = 8
)

// take notes the identification of the packet that passes.
func (n *numbers) take(id uint16) place {
	if !n.on {
		n.on, n.newest, n.at = true, id, 1<<16
		return place{}
	}
	step := psn.Seq(int16(id - n.newest))
	switch at := n.at + step; {
	case step > 0 && step <= maxIDStep:
		if step > 1 {
			n.skip(psn.Span{First: n.at + 1, Last: at - 1})
		}
		n.at, n.newest = at, id
		n.steps++
		return place{at, inOrder}
	case step == 0:
	case step < 0 && step >= -maxIDStep:
		if n.skipped.Remove(psn.Span{First: at, Last: at}) > 0 {
			return place{at, overtaken}
		}
	default:
		n.at, n.newest = n.at+1<<16, id
		n.skipped.Clear()
		n.jumps++
	}
	return place{}
}

// skip notes places that were passed over.
func (n *numbers) skip(span psn.Span) {
	n.skipped.Insert(span)
	if spans := n.skipped.Spans(); len(spans) > maxSkipped {
		n.skipped.Remove(psn.Span{First: 0, Last: spans[maxSkipped/2].Last})
	}
}

// trusted reports whether the order in which packets were sent is known.
func (n *numbers) trusted() bool { return n.counts && n.steps > stepsOfJump*n.jumps }

// ordered is how a packet came, as far as it matters: a sender that repeats in
// order, from where it was asked to.
func (s *stream) ordered(in *arrival) order {
	if s.d == nil || !s.d.numbers.trusted() || s.response || s.half.transport != goBackN || s.service() == codec.UC {
		return unordered
	}
	return in.place.order
}

// learnOrder believes the identification once it counts on over a PSN that had
// passed before, or over any that went back where it also showed one that was late.
// What is on trial is decided thereby.
func (s *stream) learnOrder(in *arrival, seq psn.Seq) {
	d := s.d
	if d == nil || s.response || d.numbers.counts || seq >= s.top || seq < s.first {
		return
	}
	n := &d.numbers
	switch in.place.order {
	case unordered:
		return
	case overtaken:
		n.late = true
	case inOrder:
		n.back = true
		n.counts = !d.holes.Contains(seq) && !d.missed.Contains(seq)
	}
	if n.counts = n.counts || n.late && n.back; !n.counts || s.ordered(in) == unordered {
		return
	}
	switch t := &d.trial; {
	case !t.on || t.ahead || t.early:
	case t.order == overtaken:
		t.on = false
		s.straggle(t)
	case t.order == inOrder:
		s.confirm(in)
	}
}

// between is how many packets were sent between the last one that passed and this
// one, to others or lost. It is 0 for what did not come in order.
func (s *stream) between(in *arrival) (n psn.Seq, known bool) {
	if s.ordered(in) != inOrder {
		return 0, false
	}
	return in.place.at - s.d.sentLast - 1, true
}

// sentRest reports whether all that the run had yet to carry before seq was sent:
// just as many packets were, and nothing else had the sender begin at seq.
func (s *stream) sentRest(in *arrival, seq psn.Seq) bool {
	n, known := s.between(in)
	return known && n == seq-s.next && !s.d.asksFor(seq) && !s.tooLate(in.time-s.lastActivity())
}

// sentLess reports whether the run broke off before it had carried all before seq,
// since fewer packets were sent. Of a READ request one carries many PSNs.
func (s *stream) sentLess(in *arrival, seq psn.Seq) bool {
	n, known := s.between(in)
	p := s.half.partner
	reads := len(s.reads) > 0 || p == nil || p.resp != nil
	return known && n < seq-s.next && (n == 0 || !reads)
}

// sentUpTo notes the place of a packet that came in order.
func (s *stream) sentUpTo(in *arrival) {
	if in.place.order == inOrder && s.d != nil {
		s.d.sentLast = in.place.at
	}
}
