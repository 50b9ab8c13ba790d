package dissect

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// ofRun reports whether a packet that was overtaken is one of the current run: it
// was sent after the first of that which passed, or right before it with a lower
// PSN, where the run before would have gone on to higher ones.
func (d *recovery) ofRun(at psn.Seq, seq psn.Seq) bool {
	r := &d.run
	if r.begins == 0 {
		return at > r.after
	}
	return at >= r.begins || at > r.after && seq < r.start
}

// trail takes a packet that others of its sender overtook. It says nothing of how
// the current run goes on; but the copy that it is was not lost.
func (s *stream) trail(in *arrival, span psn.Span, n int) {
	d := s.d
	current := d.ofRun(in.place.at, span.First)
	if d.broken.on && d.broken.rest.Contains(span.First) {
		s.part()
	}
	if !current && span.First > s.next {
		d.overtaken = true // it draws a NAK for what the run carries next
	}
	if span.First >= s.top {
		next := s.next
		if span.First > s.top {
			s.passOver(psn.Span{First: s.top, Last: span.First - 1}, in.sight(), false)
			s.top, s.message.open = span.First, false
		}
		s.judgeAccepted(span)
		s.advance(in, n)
		if !current {
			s.next = next
		}
		return
	}
	if i := d.skipped(span.First); i >= 0 && current {
		s.catchUp(in, i, span)
		return
	}
	s.packets++
	s.bytes += int64(in.payload)
	s.lastTime = in.time
	if forms[in.op].verb == codec.VerbRead && span.Len() > 1 {
		s.takesAll(psn.Span{First: span.First + 1, Last: span.Last})
	}
	switch i, inside := d.gapAt(span.First); {
	case d.missed.Contains(span.First):
		d.reordered++
		s.arrivedAfterAll(span, in.sight())
	case d.holes.Contains(span.First) && inside && d.gaps[i].evidence != EvidenceObserved:
		s.fill(span, in.sight(), false, int64(in.payload))
		d.resent.add(1, int64(in.payload), d.run.reason, isNeeded)
	case d.holes.Contains(span.First):
		repeated := !d.unseen.Contains(span.First) || d.again.Contains(span.First)
		d.reordered++
		s.late(span, in.sight())
		if repeated {
			d.resent.add(1, int64(in.payload), d.run.reason, isWasted)
		}
	case d.lostPSNs.Contains(span.First) && s.cameBehind(span.First, in.sight()):
		d.reordered++
		d.resent.add(1, int64(in.payload), byEarly, isWasted)
	default:
		d.resent.add(1, int64(in.payload), byEarly, isWasted)
		s.tellResend(span, in.sight(), byEarly, isWasted)
	}
	s.judgeAccepted(span)
	d.tardy.Insert(span)
}

// cameBehind takes back that a copy of q was lost, where a later one came before it.
// Of several copies that were taken for lost it is the newest, which is as good as
// any: how many were lost counts.
func (s *stream) cameBehind(q psn.Seq, at sight) bool {
	d := s.d
	one := psn.Span{First: q, Last: q}
	var found *gap
	index, others := 0, 0
	see := func(g *gap, at int) {
		switch {
		case !g.Contains(q) || g.closed == ClosedReordered || g.evidence == EvidenceTimeout:
		case g.closed == ClosedRetransmitted && g.evidence == EvidenceObserved && found == nil:
			found, index = g, at
		default:
			others++
		}
	}
	if i, inside := d.gapAt(q); inside {
		see(&d.gaps[i], i)
	}
	kept := found != nil
	newest := max(0, len(d.done)-replacedReach)
	d.shifted(len(d.done) - newest)
	for i := len(d.done) - 1; i >= newest; i-- {
		see(&d.done[i], i)
	}
	if found == nil {
		return false
	}
	d.lost--
	if found.harmless {
		d.harmless--
	}
	if len(found.again) > 0 && found.again[0].Contains(q) {
		found.takeBack(one)
		return true
	}
	if others == 0 {
		d.neverLost(one)
	}
	if kept {
		s.lateOf(index, one, at)
	} else {
		s.recallAt(index, one, at)
	}
	return true
}

// takesAll says that PSNs are those of a READ request behind its first, which no
// packet of their own was lost of.
func (s *stream) takesAll(inner psn.Span) {
	d := s.d
	i, inside := d.gapAt(inner.First)
	if !inside || d.gaps[i].First == inner.First {
		return
	}
	g := &d.gaps[i]
	inner = inner.Intersect(g.Span)
	d.uncount(g, inner)
	d.holes.Remove(inner)
	d.unseen.Remove(inner)
	g.count -= g.inner.Insert(inner)
	g.left = d.holes.Overlap(g.Span)
}
