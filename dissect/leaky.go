package dissect

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// A capture may have holes of its own, where it could not keep up. One in new
// data that nobody sends again shows itself: the receiver acknowledges what
// never passed. One in a resend, or in what a resend repeats anyway, looks just
// like a loss. So losses that rest on what passed here alone are kept apart
// from those that the receiver named or that came damaged, and where the
// capture is known to have holes the report calls them undecided.

// leakiness is how many losses that nobody else confirms stand against one PSN
// that the capture provably missed, for them to pass for losses all the same.
const leakiness = 16

// trust is what is known against the capture of a connection.
type trust struct {
	dropped bool // it says itself that it missed frames
	leaky   bool // what it misses in resends may be its own fault
}

// settle decides what only waits for a packet that may follow.
func (s *stream) settle() {
	s.refute()
	if r := &s.d.run; !r.proven && r.reason == byEarly {
		s.cameAfter(r)
	}
	s.settleSkips()
}

// vouch notes that the lost copies of the span rest on more than observation.
func (d *recovery) vouch(span psn.Span) {
	d.vouched += span.Len()
	if len(d.vouchedPSNs.Spans()) < maxLostSpans && !d.strained {
		d.vouchedPSNs.Insert(span)
	}
}

// neverLost forgets that the span was lost.
func (d *recovery) neverLost(span psn.Span) {
	d.lostPSNs.Remove(span)
	d.vouched -= d.vouchedPSNs.Remove(span)
}

// leaky reports whether holes of the capture may be what looks like losses of a
// connection. dropped says that the capture itself owns up to some.
func (h *half) leaky(dropped bool) bool {
	for _, side := range [2]*half{h, h.partner} {
		if side == nil {
			continue
		}
		for _, s := range [2]*stream{&side.req, side.resp} {
			if s != nil && s.d != nil {
				s.settle()
			}
		}
	}
	return h.mayLeak(dropped)
}

// mayLeak is leaky as far as it is known without settling what is on trial.
func (h *half) mayLeak(dropped bool) bool {
	var alone, missed int64
	for _, side := range [2]*half{h, h.partner} {
		if side == nil {
			continue
		}
		for _, s := range [2]*stream{&side.req, side.resp} {
			if s != nil && s.d != nil {
				alone += s.d.lost - s.d.vouched
			}
		}
	}
	switch {
	case alone == 0:
		return false
	case dropped:
		return true
	case h.service == codec.UC:
		return false
	}
	for _, side := range [2]*half{h, h.partner} {
		if side == nil {
			continue
		}
		for _, s := range [2]*stream{&side.req, side.resp} {
			if s != nil && s.d != nil {
				missed += s.missedByCapture()
			}
		}
	}
	return missed*leakiness >= alone
}

// missedByCapture is how many PSNs the capture provably missed, those of gaps
// that are not over included.
func (s *stream) missedByCapture() int64 {
	n := s.d.notCaptured
	for i := range s.d.gaps {
		g := &s.d.gaps[i]
		if g.First >= s.acked || g.left == 0 || g.suspect {
			continue
		}
		for _, piece := range s.pieces(g) {
			if piece.where == InCapture {
				n += piece.count
			}
		}
	}
	return n
}

// unvouched moves what rests on observation alone from the losses of a report to
// what is undecided, and the gaps with it.
func (s *stream) unvouched(out *Stream, gaps []gap, lostPSNs *psn.Set) []gap {
	d := s.d
	listed := undecidedIn(gaps, lostPSNs)
	alone := psn.Set{}
	for _, span := range lostPSNs.Spans() {
		for _, part := range outside(&d.vouchedPSNs, span) {
			alone.Insert(part)
		}
	}
	for _, span := range alone.Spans() {
		lostPSNs.Remove(span)
	}
	needed := out.Lost - out.LostHarmless
	out.Lost = d.vouched
	for i := range gaps {
		if g := &gaps[i]; g.where == InCapture {
			out.Lost -= d.vouchedPSNs.Overlap(g.Span)
		}
	}
	out.Lost = max(out.Lost, lostPSNs.Len())
	out.LostHarmless = min(d.vouchedHarmless, out.Lost)
	if n := min(max(needed-out.Lost+out.LostHarmless, 0), out.Retransmitted.ByVerdict[Needed]); n > 0 {
		out.Retransmitted.move(n, Needed, UnknownVerdict)
	}
	parts := make([]gap, 0, len(gaps))
	for i := range gaps {
		g := &gaps[i]
		if g.where != Upstream || g.closed != ClosedRetransmitted || alone.Overlap(g.Span) == 0 {
			parts = append(parts, *g)
			continue
		}
		whole := len(parts)
		for _, span := range parted(&d.vouchedPSNs, g.Span) {
			n := len(parts)
			if parts = s.piece(parts, g, span); len(parts) == n {
				continue
			}
			part := &parts[n]
			part.left, part.closed = 0, g.closed
			if !d.vouchedPSNs.Contains(span.First) {
				part.where, part.confirmed = Unknown, ""
			}
		}
		out.GapsTotal += int64(len(parts) - whole - 1)
	}
	out.Undecided += undecidedIn(parts, lostPSNs) - listed
	if d.worst {
		for i := range parts {
			alone.Remove(parts[i].Span)
		}
		out.Undecided += alone.Len()
	}
	return parts
}

// doubtOpen leaves open where gaps are that nobody repaired or named, in a capture
// that dropped frames: it may have dropped these.
func doubtOpen(gaps []gap, lostPSNs *psn.Set) {
	for i := range gaps {
		g := &gaps[i]
		if g.closed == Open && g.where == Upstream && g.evidence == EvidenceObserved && g.confirmed == "" && lostPSNs.Overlap(g.Span) == 0 {
			g.where = Unknown
		}
	}
}

// undecidedIn is how many packets of the gaps nobody can tell to be lost.
func undecidedIn(gaps []gap, lostPSNs *psn.Set) (n int64) {
	for i := range gaps {
		switch g := &gaps[i]; {
		case g.where == Unknown:
			n += g.count
		case g.closed == Open && g.where != InCapture:
			n += g.count - lostPSNs.Overlap(g.Span)
		}
	}
	return n
}

// move gives packets another verdict.
func (r *Retransmitted) move(n int64, from, to Verdict) {
	if r.ByVerdict[from] -= n; r.ByVerdict[from] == 0 {
		delete(r.ByVerdict, from)
	}
	r.ByVerdict[to] += n
}
