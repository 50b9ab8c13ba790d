package dissect

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// A queue pair number that is used again begins anywhere in the PSN space. To
// take that for a loss or a retransmission of millions of packets would be
// absurd, so before all else a packet is asked whether its PSN lies anywhere
// near the window. One that does not is set aside. If the next packet of the
// stream goes on from there a new epoch has begun; if it goes on from the old
// place the stray one counts for nothing.

const (
	// forwardReach is the largest gap that is believed, in PSNs.
	forwardReach = 1 << 16
	// forwardStep is the largest gap that is believed at once; a wider one must
	// be confirmed by the next packet. Four times the largest window seen is
	// believed at once too.
	forwardStep = 1024
	// backwardReach is how far behind the acknowledged PSNs a retransmission
	// is believed at least; four times the largest window seen if that is more.
	backwardReach = 256
	// coherent is how far apart two packets at a new place may be.
	coherent = 64
)

// candidate is a packet that may have begun an epoch.
type candidate struct {
	in arrival
	n  int
}

// jumped reports whether the packet is set aside.
func (s *stream) jumped(in *arrival, n int) bool {
	if s.near(in.psn) {
		if s.moved != nil && s.startedOver(in) {
			s.move()
			s.arrive(in, n)
			return true
		}
		if s.moved != nil {
			s.moved = nil // a stray
			s.packets++
		}
		return false
	}
	if s.moved == nil {
		s.moved = &candidate{*in, n}
		s.watch = true
		return true
	}
	c := s.moved
	if far := in.psn.Sub(c.in.psn); far <= -coherent || far > coherent+c.n {
		s.packets++ // two strays that have nothing to do with each other
		c.in, c.n = *in, n
		return true
	}
	s.move()
	s.arrive(in, n)
	return true
}

// startedOver reports whether the packet goes on from one that stepped back. UC
// never resends: it is a new flow, and no copy that came twice.
func (s *stream) startedOver(in *arrival) bool {
	c := s.moved
	return s.service() == codec.UC && c.in.psn.Sub(s.top.PSN()) < 0 && in.psn != s.top.PSN() && in.psn.Sub(c.in.psn) == c.n
}

// move believes the packet that was set aside: a wide gap, or an epoch.
func (s *stream) move() {
	c := s.moved
	s.moved = nil
	if ahead := c.in.psn.Sub(s.top.PSN()); ahead < 0 || ahead > forwardReach {
		s.newEpoch(&c.in)
	}
	s.follow(&c.in, c.n)
}

// moveWith lets feedback speak for a packet that was set aside: it acknowledges
// just that, or asks for what is missing before it.
func (s *stream) moveWith(in *arrival) {
	if s.vouches(in) {
		s.move()
	}
}

func (s *stream) vouches(in *arrival) bool {
	if s.moved == nil {
		return false
	}
	p, top := s.moved.in.psn, s.top.PSN()
	return in.psn == p || in.psn.Sub(top) >= 0 && in.psn.Sub(p) < 0 && p.Sub(top) > 0
}

// near reports whether a PSN can belong to the epoch.
func (s *stream) near(p psn.PSN) bool {
	seq := psn.Unwrap(s.top, p)
	if seq >= s.top {
		step := max(forwardStep, psn.Seq(4*s.peak))
		if s.tail.waiting {
			step = max(step, psn.Seq(s.tail.most())+forwardStep)
		}
		return seq-s.top <= step
	}
	if s.heard {
		return seq >= s.acked-psn.Seq(max(backwardReach, 4*s.peak)) || seq >= s.top-backwardReach
	}
	return s.top-seq <= forwardReach
}

// newEpoch ends the present epoch and begins another.
func (s *stream) newEpoch(in *arrival) {
	s.endEpoch()
	s.begin(in, in.psn)
	if !s.response {
		s.a.reopen(s.half, in)
	}
}

// endEpoch says what can be said of everything that is still open.
func (s *stream) endEpoch() {
	s.refute()
	s.rttMin = 0 // the next connection may be another one altogether
	d := s.d
	if d == nil {
		return
	}
	s.part()
	s.settleSkips()
	s.retire(s.top)
	for _, f := range s.silence() {
		for _, frame := range f.Frames {
			s.find(f.Kind, f.Text, f.Counter, frame)
		}
	}
	d.progressed()
	d.closed, d.timer, d.selective = 0, 0, false
	d.picks, d.irn.recovering = picks{}, false
	d.windowless.has, d.windowless.began, d.windowless.waiting = 0, 0, false
	for _, set := range [...]*psn.Set{&d.holes, &d.unseen, &d.counted, &d.again, &d.undecided, &d.refused, &d.tardy, &d.spoilt, &d.refusedBefore, &d.missed} {
		set.Clear()
	}
	d.answers = d.answers[:0]
	d.asks, d.rnr = d.asks[:0], ask{}
	d.runs++
	d.run, d.prior = run{id: d.runs, proven: true}, run{}
}
