package dissect

import (
	"slices"

	"github.com/rdmadump/rdmadump/psn"
)

// gap is a maximal run of PSNs of one stream that were missing at one moment.
//
// It opens when a packet passes the capture point over PSNs that should have
// come first, when feedback names a PSN that had passed, or when a packet comes
// damaged. Each copy that arrives fills its place, and with the last place
// filled the gap is closed; but it is kept until an acknowledgement passes it,
// since the copy that filled it may be lost in turn behind the capture point.
type gap struct {
	psn.Span            // as it opened
	count     int64     // PSNs, or packets where a READ request takes many
	left      int64     // places not filled
	run       int       // the run that opened it last, see run.id
	upTo      psn.Seq   // the last PSN of it that this run passed over
	copies    int       // the largest number of lost copies of one PSN
	evidence  Evidence  //
	confirmed Evidence  // by feedback
	where     Where     //
	closed    Closed    // Open while left > 0
	harmless  bool      // the receiver had it
	suspect   bool      // a resend run broke off here: lost, or never sent
	opened    sight     //
	filled    sight     // where it closed
	message   inMessage //
	again     []psn.Set // PSNs of which a second copy was lost, a third, and so on
	inner     psn.Set   // PSNs inside READ requests, which no packet begins in; not in count
}

// unheard reports whether nothing told at the end that what a timer resent has
// arrived. Nobody acknowledges READ responses: with the resend their gap is over.
func (g *gap) unheard(s *stream) bool {
	return g.evidence == EvidenceTimeout && g.left == 0 && (!s.response || s.half.transport == irnTransport)
}

// maxAgain is up to how many lost copies are told apart by PSN; a strained stream
// counts runs.
const maxAgain = 16

// missAgain notes that a run lost copies of PSNs in a gap that stands already.
func (s *stream) missAgain(g *gap, span psn.Span) {
	var room [2][fewParts]psn.Span
	parts, more := append(room[0][:0], span), room[1][:0]
	for k := 0; len(parts) > 0; k++ {
		if k == maxAgain || s.d.strained {
			g.copies++
			return
		}
		if k == len(g.again) {
			g.again = append(g.again, psn.Set{})
		}
		s.d.effort++
		more = more[:0]
		for _, part := range parts {
			more = g.again[k].Parts(more, part)
			g.again[k].Insert(part)
		}
		parts, more = more, parts
	}
	g.copies = max(g.copies, 1+len(g.again))
}

// sight is where something was seen.
type sight struct {
	time         int64
	number, file int
}

func (in *arrival) sight() sight { return sight{in.time, in.number, in.file} }

// gapAt is the index of the gap that holds q, or of where one would stand. Most
// are looked for near the newest end.
func (d *recovery) gapAt(q psn.Seq) (int, bool) {
	n := len(d.gaps)
	if n == 0 || d.gaps[n-1].Last < q {
		return n, false
	}
	if n > 1 && d.gaps[n-2].Last < q {
		return n - 1, d.gaps[n-1].Contains(q)
	}
	lo := 0
	for n--; n > 1; { // as psn.Set does
		half := n / 2
		lo += half & int((d.gaps[lo+half-1].Last-q)>>63)
		n -= half
	}
	return lo, d.gaps[lo].Contains(q)
}

// miss marks the span as missing: a gap of its own where none was, one copy
// more where a gap stands open or was filled.
func (s *stream) miss(span psn.Span, g gap) {
	d := s.recovery()
	s.watch = true
	for span.Len() > 0 {
		d.effort++
		i, inside := d.gapAt(span.First)
		part := span
		if inside && d.gaps[i].evidence == EvidenceTimeout {
			part.Last = min(part.Last, d.gaps[i].Last)
			s.believe(i, part)
			continue // it is in no gap now
		}
		if inside {
			old := &d.gaps[i]
			part.Last = min(part.Last, old.Last)
			if len(old.inner.Spans()) > 0 {
				if part = begins(&old.inner, part); old.inner.Contains(part.First) {
					span.First = part.Last + 1
					continue // no packet begins there
				}
			}
			part = begins(&d.holes, part)
			old.suspect = old.suspect && g.suspect
			anew := old.run != g.run || part.First > old.upTo || !d.holes.Contains(part.First)
			if anew && !g.suspect {
				s.missAgain(old, part)
				for _, again := range within(&d.holes, part) {
					d.lose(again)
					d.again.Insert(again)
				}
			}
			if anew {
				old.upTo = part.Last
			}
			old.run, old.closed = g.run, Open
			d.holes.Insert(part)
			old.left = d.holes.Overlap(old.Span)
		} else {
			if i < len(d.gaps) {
				part.Last = min(part.Last, d.gaps[i].First-1)
			}
			g.Span, g.count, g.left, g.copies, g.closed, g.upTo = part, part.Len(), part.Len(), 1, Open, part.Last
			g.message = s.messageOf(part.First)
			d.shifted(len(d.gaps) - i)
			d.gaps = slices.Insert(d.gaps, i, g)
			d.gapsTotal++
			if g.where == Downstream {
				d.downstream++
			} else {
				d.upstream++
			}
			d.holes.Insert(part)
			s.tellGap(GapOpened, &g)
		}
		span.First = part.Last + 1
	}
}

// lose counts copies that the network lost, one for each Seq of the span.
func (d *recovery) lose(span psn.Span) {
	d.lost += span.Len()
	d.remember(span)
}

const maxLostSpans = 1 << 16

func (d *recovery) remember(span psn.Span) {
	if spans := d.lostPSNs.Spans(); len(spans) < maxLostSpans && (!d.strained || len(spans) == 0 || spans[len(spans)-1].Last < span.First) {
		d.lostPSNs.Insert(span)
	} else if !d.lostPSNs.ContainsSpan(span) {
		d.unlisted++
	}
}

// name records that feedback named the span, whose copies are thereby lost.
func (d *recovery) name(span psn.Span) {
	for _, part := range outside(&d.counted, span) {
		d.lose(part)
		d.vouch(part)
	}
	d.counted.Insert(span)
}

// fill puts a copy that was sent again into its place. A READ request fills all
// the PSNs that it takes, and was lost once. bytes is the payload of what came.
// It returns how many lost copies what it filled stands for.
func (s *stream) fill(span psn.Span, at sight, read bool, bytes int64) (lostBefore int64) {
	d := s.d
	for n, part := range d.byGap(make([]psn.Span, 0, fewParts), within(&d.holes, span)) {
		i, inside := d.gapAt(part.First)
		d.holes.Remove(part)
		d.firstBytes += bytes * d.unseen.Remove(part) / span.Len()
		if !inside {
			continue
		}
		if read && n > 0 {
			s.notMissing(i, part, at)
			continue
		}
		g := &d.gaps[i]
		lost := part
		if read && part.Len() > 1 {
			inner := psn.Span{First: part.First + 1, Last: part.Last}
			d.uncount(g, inner)
			g.count -= g.inner.Insert(inner)
			lost.Last = lost.First
			if part.Last == g.Last && g.count == 1 {
				g.Last = g.First
			}
		}
		for _, rest := range outside(&d.counted, lost) {
			d.lose(rest)
		}
		d.counted.Remove(part)
		d.again.Remove(part)
		lostBefore += lost.Len()
		g.suspect = false
		g.left = d.holes.Overlap(g.Span)
		if g.left == 0 {
			g.closed, g.filled = ClosedRetransmitted, at
			d.times.recovery.add(at.time - g.opened.time)
			s.tellGap(GapClosed, g)
		}
	}
	return lostBefore
}

// byGap appends to out the parts, cut where one gap ends and the next begins.
func (d *recovery) byGap(out, parts []psn.Span) []psn.Span {
	for _, part := range parts {
		for part.Len() > 0 {
			piece := part
			if i, inside := d.gapAt(part.First); inside {
				piece.Last = min(part.Last, d.gaps[i].Last)
			} else if i < len(d.gaps) {
				piece.Last = min(part.Last, d.gaps[i].First-1)
			}
			out = append(out, piece)
			part.First = piece.Last + 1
		}
	}
	return out
}

// within is the parts of the span that are in the set, and outside those that
// are not. Both are small enough to be inlined, so that a few parts that their
// caller does not keep never get to the heap.
func within(set *psn.Set, span psn.Span) []psn.Span {
	return set.Parts(make([]psn.Span, 0, fewParts), span)
}

func outside(set *psn.Set, span psn.Span) []psn.Span {
	return set.Gaps(make([]psn.Span, 0, fewParts), span)
}

const fewParts = 4

// cut takes the part out of a gap and leaves what stands on either side of it
// as gaps of their own.
func (d *recovery) cut(i int, part psn.Span) {
	old := d.gaps[i]
	rest := make([]gap, 0, 2)
	for _, side := range [2]psn.Span{{First: old.First, Last: part.First - 1}, {First: part.Last + 1, Last: old.Last}} {
		if side.Len() == 0 {
			continue
		}
		g := old
		g.Span, g.left = side, d.holes.Overlap(side)
		g.again, g.inner = againWithin(old.again, side), psn.Set{}
		for _, inner := range within(&old.inner, side) {
			g.inner.Insert(inner)
		}
		if g.count = side.Len() - g.inner.Overlap(side); g.count == 0 {
			continue // no packet begins there
		}
		if g.left > 0 {
			g.closed = Open
		} else if g.closed == Open {
			g.closed = ClosedRetransmitted
		}
		rest = append(rest, g)
	}
	d.shifted(len(d.gaps) - i)
	d.gaps = slices.Replace(d.gaps, i, i+1, rest...)
	d.gapsTotal += int64(len(rest)) - 1
}

// againWithin is what is in the span, as sets of their own.
func againWithin(sets []psn.Set, span psn.Span) []psn.Set {
	var out []psn.Set
	for i := range sets {
		parts := within(&sets[i], span)
		if len(parts) == 0 {
			break
		}
		var set psn.Set
		for _, part := range parts {
			set.Insert(part)
		}
		out = append(out, set)
	}
	return out
}

// retire takes leave of the gaps that lie wholly before the Seq: it was
// acknowledged, or lies too far back to be kept.
func (s *stream) retire(before psn.Seq) {
	d := s.d
	n := 0
	for n < len(d.gaps) && d.gaps[n].Last < before {
		s.conclude(&d.gaps[n])
		n++
	}
	if n > 0 {
		d.shifted(len(d.gaps) - n)
		d.gaps = slices.Delete(d.gaps, 0, n)
	}
	d.tardy.Remove(psn.Span{First: before - 1<<40, Last: before - 1})
	if len(d.gaps) > 0 {
		before = min(before, d.gaps[0].First)
	}
	below := psn.Span{First: before - 1<<40, Last: before - 1}
	for _, set := range [...]*psn.Set{&d.holes, &d.unseen, &d.counted, &d.again, &d.undecided, &d.refused} {
		set.Remove(below)
	}
}

// keep stores a gap that is over, if it is among the worst.
func (s *stream) keep(g *gap) {
	d := s.d
	if g.closed == ClosedReordered && !s.a.config.ReorderedGaps {
		return
	}
	d.done = append(d.done, *g)
	s.a.gapsKept++
	if limit := s.a.gapLimit; len(d.done) >= 2*limit+4 {
		s.a.keepWorst(d, limit)
	}
	s.a.boundKept()
}
