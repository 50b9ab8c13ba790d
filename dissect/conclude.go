package dissect

import "github.com/rdmadump/rdmadump/psn"

// conclude says the last word on a gap.
func (s *stream) conclude(g *gap) {
	d := s.d
	d.gapsTotal--
	defer s.forgetGap(g.Span)
	if g.left > 0 && g.suspect {
		if g.Last < s.acked {
			d.selective = true // nobody missed what the run did not repeat: it was not sent
		}
		return
	}
	if len(s.received(g)) == 0 {
		s.over(g)
		return
	}
	for _, piece := range s.pieces(g) {
		s.over(&piece)
	}
}

// over counts and keeps a gap that the report has as it is.
func (s *stream) over(g *gap) {
	s.d.gapsTotal++
	switch {
	case g.left == 0 && g.Last >= s.acked && g.unheard(s):
		g.closed, g.filled = Open, sight{}
		s.tellGapEnd(g, s.a.here)
	case g.left == 0:
		if g.evidence == EvidenceTimeout {
			s.tellGap(GapClosed, g) // an acknowledgement ends the doubt
		}
	default:
		s.closeHole(g)
	}
	s.keep(g)
}

// forgetGap drops what is known of PSNs whose gap is over.
func (s *stream) forgetGap(span psn.Span) {
	d := s.d
	for _, set := range [...]*psn.Set{&d.holes, &d.unseen, &d.counted} {
		set.Remove(span)
	}
}

// closeHole counts a piece of a gap that nothing filled.
func (s *stream) closeHole(g *gap) {
	d := s.d
	switch {
	case g.closed == Open:
		d.abandoned += g.count - d.lostPSNs.Overlap(g.Span)
		if len(d.forgotten.Spans()) < maxLostSpans {
			d.forgotten.Insert(g.Span)
		} else {
			d.unlisted++
		}
	case g.where == InCapture:
		d.uncount(g, g.Span)
		d.notCaptured += g.count
		d.missed.Insert(g.Span)
	default:
		for _, rest := range outside(&d.counted, g.Span) {
			d.lose(rest)
			d.harmless += rest.Len()
			g.harmless = true
		}
	}
	s.tellGapEnd(g, s.a.here)
}

// pieces is a gap as the report has it: it is one, unless the receiver has PSNs
// of it that nothing filled here. What became of those is a record of its own,
// and so is what lies between them.
func (s *stream) pieces(g *gap) []gap {
	d := s.d
	had := s.received(g)
	if len(had) == 0 {
		return []gap{*g}
	}
	var out []gap
	next := g.First
	for _, hole := range had {
		out = s.piece(out, g, psn.Span{First: next, Last: hole.First - 1})
		for _, part := range parted(&d.counted, hole) {
			for _, one := range parted(&d.unseen, part) {
				for _, same := range parted(&d.refused, one) {
					n := len(out)
					if out = s.piece(out, g, same); len(out) > n {
						s.delivered(&out[n])
					}
				}
			}
		}
		next = hole.Last + 1
	}
	return s.piece(out, g, psn.Span{First: next, Last: g.Last})
}

// received are the holes of a gap that the receiver has.
func (s *stream) received(g *gap) []psn.Span {
	return within(&s.d.holes, g.Intersect(psn.Span{First: g.First, Last: s.acked - 1}))
}

// piece appends a part of a gap.
func (s *stream) piece(out []gap, g *gap, part psn.Span) []gap {
	d := s.d
	count := part.Len() - g.inner.Overlap(part)
	if count <= 0 {
		return out
	}
	piece := *g
	piece.Span, piece.count, piece.left = part, count, d.holes.Overlap(part)
	piece.again, piece.closed = againWithin(g.again, part), Open
	if len(g.again) < maxAgain {
		piece.copies = min(g.copies, 1+len(piece.again))
	}
	if piece.left == 0 {
		piece.closed = ClosedRetransmitted
	}
	return append(out, piece)
}

// delivered says what became of a hole that the receiver has: it was named and
// repeated, or no copy that it can have taken passed here, or one that passed
// did. One that it refused before it cannot have taken, nor one that came damaged:
// if it did not ask for another one, it had one that did not pass here.
func (s *stream) delivered(g *gap) {
	d := s.d
	named, unseen := d.counted.Overlap(g.Span) > 0, d.unseen.Overlap(g.Span) > 0 || d.refused.Overlap(g.Span) > 0
	damaged := g.evidence == EvidenceICRC
	g.closed = ClosedRetransmitted
	if unseen || damaged {
		g.closed = ClosedNotCaptured
		if !named || damaged && g.confirmed == "" {
			g.where, g.copies = InCapture, 1
		}
	}
}

// begins is the first of what parted gives.
func begins(set *psn.Set, span psn.Span) psn.Span {
	spans := set.From(span.First)
	switch {
	case len(spans) == 0 || span.Last < spans[0].First:
	case span.First < spans[0].First:
		span.Last = spans[0].First - 1
	default:
		span.Last = min(span.Last, spans[0].Last)
	}
	return span
}

// parted is a span, cut where the set begins and ends.
func parted(set *psn.Set, span psn.Span) []psn.Span {
	var out []psn.Span
	next := span.First
	for _, in := range within(set, span) {
		if next < in.First {
			out = append(out, psn.Span{First: next, Last: in.First - 1})
		}
		out = append(out, in)
		next = in.Last + 1
	}
	if next <= span.Last {
		out = append(out, psn.Span{First: next, Last: span.Last})
	}
	return out
}
