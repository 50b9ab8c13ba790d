package dissect

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// A packet below what continues the run may begin a resend, or may be a copy
// that came late, by itself. Only a resend has more to carry, and only of that
// can something be missing. So a run that answers nothing is on probation until
// its second packet goes on from its first: what it seems to have left out is
// owed till then, and if the packets go on from where they were before, the run
// is disowned and nothing is missing of it.

// owed is a part of a run that is missing if it was a run.
type owed struct {
	psn.Span
	at sight // of what passed over it
}

// leaveOut notes that the run did not carry the span.
func (s *stream) leaveOut(span psn.Span, at sight) {
	r := &s.d.run
	switch {
	case span.Len() <= 0:
	case r.proven:
		s.passOver(span, at, false)
	case r.nOwed < len(r.owed):
		r.owed[r.nOwed] = owed{span, at}
		r.nOwed++
	}
}

// settleRun decides on a run that is not proven, when the packet seq comes
// after it.
func (s *stream) settleRun(seq psn.Seq, now int64) {
	d := s.d
	if d == nil {
		return
	}
	if seq == s.top && s.next == seq {
		d.disowned = false
	}
	if d.run.proven || d.run.id == 0 || s.half.transport != goBackN || s.service() == codec.UC {
		return
	}
	r := &d.run
	switch {
	case seq == s.next && seq < s.top, r.reason == byTimeout && seq == r.seen():
		s.prove()
	// A hole may be filled by a late copy, but not after a timer's silence.
	// What the receiver asks for begins a run of its own, and so does what it has,
	// behind a packet that came for no reason.
	case seq > s.next && seq < r.before && r.nOwed < len(r.owed) && !d.asksFor(seq) && (r.reason != byEarly || seq > s.acked) && (!d.holes.Contains(seq) || s.tooLate(r.idle)) && !s.tooLate(now-s.lastActivity()):
		s.leaveOut(psn.Span{First: s.next, Last: seq - 1}, s.a.here)
		s.next = seq
	default:
		s.disown()
	}
}

// seen is the first packet of a run that passed.
func (r *run) seen() psn.Seq {
	if r.nOwed > 0 && r.owed[0].First == r.first {
		return r.owed[0].Last + 1
	}
	return r.first
}

// prove says that the packets of the run belong together.
func (s *stream) prove() {
	r := &s.d.run
	if r.proven {
		return
	}
	r.proven = true
	s.d.disowned = false
	switch r.reason {
	case byTimeout:
		s.timerFired(r.seen(), r.began, r.waited, r.idle)
	case byNAK, byImpliedNAK:
		s.retry(r.seen(), r.began)
	}
	s.begun()
	for _, o := range r.owed[:r.nOwed] {
		s.passOver(o.Span, o.at, false)
	}
}

// disown goes back to the run before: what began this one came by itself.
func (s *stream) disown() {
	d := s.d
	r := &d.run
	if r.reason == byTimeout {
		d.resent.cause[byTimeout] -= r.sent
		d.resent.cause[byEarly] += r.sent
	}
	s.cameAfter(r)
	d.disowned, d.after = true, s.next
	s.next = r.before
	d.run = d.prior
}

// begun settles what the beginning of a run tells of the time before it.
// Answers that it carries again were late; the others were answers.
func (s *stream) begun() {
	d := s.d
	r := &d.run
	for _, old := range d.answers {
		switch {
		case r.first <= old.span.First && r.reason != byTimeout, old.order == overtaken && d.numbers.trusted():
			s.wasLate(old)
		case old.hasNamed:
			named := psn.Span{First: old.named, Last: old.named}
			d.refused.Remove(named)
			s.miss(named, gap{run: d.prior.id, evidence: EvidenceObserved, confirmed: EvidenceNAK, where: Upstream, opened: old.namedAt})
			d.name(named)
		}
	}
	d.answers = d.answers[:0]
	s.settleSkips()
}
