package dissect

import (
	"slices"

	"github.com/rdmadump/rdmadump/psn"
)

// late takes holes out of their gaps: what came was late, not lost. Where an
// earlier copy was lost too the gap stands, and lost one copy less.
func (s *stream) late(span psn.Span, at sight) {
	d := s.d
	for span.Len() > 0 {
		i, inside := d.gapAt(span.First)
		if !inside {
			break
		}
		part := span.Intersect(d.gaps[i].Span)
		g := &d.gaps[i]
		part = begins(&d.lostPSNs, part)
		if len(g.again) > 0 {
			part = begins(&g.again[0], part)
		}
		part = begins(&d.counted, part)
		first := part.First
		if len(g.again) > 0 && g.again[0].Contains(first) || d.lostPSNs.Contains(first) && !d.counted.Contains(first) {
			s.lateAgain(g, part, at)
			span.First = part.Last + 1
			continue
		}
		s.lateOf(i, part, at)
		span.First = part.Last + 1
	}
}

// lateOf takes a part of a gap for late.
func (s *stream) lateOf(i int, part psn.Span, at sight) {
	d := s.d
	g := d.gaps[i]
	d.uncount(&g, part)
	d.holes.Remove(part)
	d.unseen.Remove(part)
	d.cut(i, part)
	d.gapsTotal++
	s.reorderedGap(&g, part, at)
}

// lateAgain takes a copy that came late for one of several that a gap lost.
func (s *stream) lateAgain(g *gap, part psn.Span, at sight) {
	d := s.d
	g.takeBack(part)
	d.again.Remove(part)
	for _, named := range within(&d.counted, part) {
		d.lost -= named.Len()
		d.vouched -= named.Len()
	}
	d.counted.Remove(part)
	d.unseen.Remove(part)
	d.holes.Remove(part)
	if g.left = d.holes.Overlap(g.Span); g.left == 0 {
		g.closed, g.filled = ClosedRetransmitted, at
		s.tellGap(GapClosed, g)
	}
}

// reorderedGap keeps a part of a gap as one that was late.
func (s *stream) reorderedGap(old *gap, part psn.Span, at sight) {
	s.d.gapsReordered++
	g := *old
	g.Span, g.count, g.left, g.again = part, part.Len(), 0, nil
	g.closed, g.where, g.filled, g.copies, g.confirmed = ClosedReordered, Nowhere, at, 0, ""
	s.keep(&g)
	s.tellGap(GapClosed, &g)
}

// uncount takes back what was counted of the newest copies of PSNs in a gap.
func (d *recovery) uncount(g *gap, span psn.Span) {
	n := d.counted.Remove(span)
	for k := range g.again {
		more := g.again[k].Remove(span)
		if n += more; g.evidence == EvidenceICRC {
			d.vouched -= more // neverLost does it for one copy
		}
	}
	d.again.Remove(span)
	if n > 0 {
		d.lost -= n
		d.neverLost(span)
	}
	for k := len(g.again); k > 0 && len(g.again[k-1].Spans()) == 0; k-- {
		g.again = g.again[:k-1]
		g.copies = max(1, g.copies-1)
	}
}

// notMissing takes a part out of a gap that turns out to lie inside a READ
// request which was lost with an earlier gap: no packet begins there.
func (s *stream) notMissing(i int, part psn.Span, at sight) {
	d := s.d
	g := d.gaps[i]
	d.uncount(&g, part)
	g.Span, g.count, g.left, g.closed, g.filled = part, part.Len(), 0, ClosedRetransmitted, at
	s.tellGap(GapClosed, &g)
	d.cut(i, part)
}

// takeBack says that the newest copies of the span, taken for lost, came after
// all. The largest number of copies lost falls when no PSN is left with as many.
func (g *gap) takeBack(span psn.Span) {
	for k := len(g.again) - 1; k >= 0; k-- {
		if g.again[k].Remove(span) > 0 {
			break
		}
	}
	for n := len(g.again); n > 0 && len(g.again[n-1].Spans()) == 0; n-- {
		g.again = g.again[:n-1]
		g.copies--
	}
}

// arrivedAfterAll takes back that the capture missed the span: it was only late,
// even behind its acknowledgement.
func (s *stream) arrivedAfterAll(span psn.Span, at sight) {
	d := s.d
	for _, part := range within(&d.missed, span) {
		d.notCaptured -= part.Len()
		s.recall(part, ClosedNotCaptured, at)
	}
	d.missed.Remove(span)
}

// recallReach is how many of the newest gap records may be taken back, and
// strainedReach how many of a strained stream.
const recallReach, strainedReach = 4096, 64

// recallable is the index of the first gap record that may be taken back; the
// look at those from there on is counted.
func (d *recovery) recallable() int {
	reach := recallReach
	if d.strained {
		reach = strainedReach
	}
	n := len(d.done)
	d.looked(min(n, reach))
	return max(0, n-reach)
}

// recall turns a part of a gap that was over already into one that was late.
func (s *stream) recall(span psn.Span, closed Closed, at sight) {
	d := s.d
	newest := d.recallable()
	for i := len(d.done) - 1; i >= newest; i-- {
		g := &d.done[i]
		if part := span.Intersect(g.Span); part.Len() > 0 && g.closed == closed {
			s.recallAt(i, part, at)
		}
	}
}

// recallAt turns a part of the i-th gap that is over into one that was late.
func (s *stream) recallAt(i int, part psn.Span, at sight) {
	d := s.d
	g := d.done[i]
	d.done = slices.Delete(d.done, i, i+1)
	d.gapsTotal--
	for _, side := range [2]psn.Span{{First: g.First, Last: part.First - 1}, {First: part.Last + 1, Last: g.Last}} {
		if n := len(d.done); side.Len() > 0 {
			d.done = s.piece(d.done, &g, side)
			for j := n; j < len(d.done); j++ {
				d.done[j].closed = g.closed
				d.gapsTotal++
			}
		}
	}
	d.gapsTotal++
	s.reorderedGap(&g, part, at)
}

// recallCopy takes back one of several copies that a gap lost which is over.
func (d *recovery) recallCopy(span psn.Span) bool {
	newest := d.recallable()
	for i := len(d.done) - 1; i >= newest; i-- {
		if g := &d.done[i]; g.closed == ClosedRetransmitted && len(g.again) > 0 && g.again[0].Contains(span.First) {
			g.takeBack(span)
			return true
		}
	}
	return false
}

// cameAfter takes packets that came one by one, for no reason that was seen here,
// for the copies of their PSNs that were taken for lost, where one was: they were
// so late that what the sender put in their place came before them.
func (s *stream) cameAfter(r *run) {
	d := s.d
	for _, k := range r.strays[:min(r.sent, maxStrays)] {
		if k.judged == isNeeded || !d.lostPSNs.Contains(k.seq) || !d.replaced(k.seq) {
			continue
		}
		at := psn.Span{First: k.seq, Last: k.seq}
		d.answers = slices.DeleteFunc(d.answers, func(old answer) bool { return old.span.Contains(k.seq) })
		d.resent.judgeAgain(1, k.judged, isNeeded)
		s.wasLate(answer{span: at, came: []psn.Span{at}, lost: 1, why: byEarly, packets: 1, bytes: k.bytes, at: k.at})
	}
	r.sent = 0
}

// replacedReach is how many of the newest gap records are searched for a copy that
// came after its resend.
const replacedReach = 128

// replaced reports whether a copy that was sent again closed the only gap of q,
// which the receiver needed. Of several gaps nobody can tell which copy came, and
// of what came damaged it was none.
func (d *recovery) replaced(q psn.Seq) bool {
	gaps, yes := 0, false
	see := func(g *gap) {
		if g.Contains(q) && g.closed != ClosedReordered {
			gaps++
			yes = g.closed == ClosedRetransmitted && g.evidence != EvidenceTimeout && g.evidence != EvidenceICRC && !g.harmless && !d.holes.Contains(q)
		}
	}
	if i, inside := d.gapAt(q); inside {
		see(&d.gaps[i])
	}
	newest := max(0, len(d.done)-replacedReach)
	d.looked(len(d.done) - newest)
	for i := newest; i < len(d.done); i++ {
		see(&d.done[i])
	}
	return yes && gaps == 1
}

// wasLate takes back what was said of an answer: that a copy of it was lost.
func (s *stream) wasLate(old answer) {
	d := s.d
	d.resent.add(-old.packets, -old.bytes, old.why, isNeeded)
	d.reordered += old.packets
	d.lost -= old.lost
	for _, span := range old.came {
		d.tardy.Insert(span)
		for span.Len() > 0 {
			part := span
			i, inside := d.gapAt(span.First)
			switch {
			case !inside:
				if i < len(d.gaps) {
					part.Last = min(part.Last, d.gaps[i].First-1)
				}
				if !d.recallCopy(part) {
					d.neverLost(part)
					s.recall(part, ClosedRetransmitted, old.at)
					if d.missed.Overlap(part) == 0 {
						s.recall(part, ClosedNotCaptured, old.at) // it was named, and acknowledged without a copy
					}
				}
			default:
				g := &d.gaps[i]
				part = part.Intersect(g.Span)
				if len(g.again) > 0 {
					if part = begins(&g.again[0], part); g.again[0].Contains(part.First) {
						g.takeBack(part)
						break
					}
				}
				d.neverLost(part)
				s.lateOf(i, part, old.at)
			}
			span.First = part.Last + 1
		}
	}
}
