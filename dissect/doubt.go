package dissect

import (
	"slices"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// doubt records a resend of which nobody can tell whether it was needed.
func (s *stream) doubt(in *arrival, span psn.Span) {
	d := s.d
	if forms[in.op].verb == codec.VerbRead && !s.response {
		span.Last = span.First // one packet
	}
	i, inside := d.gapAt(span.First)
	switch {
	case inside:
		g := &d.gaps[i]
		if g.evidence != EvidenceTimeout {
			return // it was lost once, whatever became of it then
		}
		d.doubtful += d.undecided.Insert(span)
		if g.run != d.run.id {
			g.run, g.copies = d.run.id, g.copies+1
		}
		g.filled = in.sight()
		return
	case i > 0 && d.gaps[i-1].Last == span.First-1 && d.gaps[i-1].evidence == EvidenceTimeout && d.gaps[i-1].run == d.run.id:
		g := &d.gaps[i-1]
		if i == len(d.gaps) || d.gaps[i].First > span.Last {
			g.Last, g.filled = span.Last, in.sight()
			g.count += span.Len()
			d.doubtful += d.undecided.Insert(span)
			return
		}
	}
	if i < len(d.gaps) {
		span.Last = min(span.Last, d.gaps[i].First-1)
	}
	d.doubtful += d.undecided.Insert(span)
	g := gap{Span: span, count: span.Len(), run: d.run.id, copies: 1, evidence: EvidenceTimeout, where: Unknown,
		closed: ClosedRetransmitted, opened: in.sight(), filled: in.sight(), message: s.messageOf(span.First)}
	d.shifted(len(d.gaps) - i)
	d.gaps = slices.Insert(d.gaps, i, g)
	d.gapsTotal++
	s.tellGap(GapOpened, &g)
}

// believe takes a part out of a gap that rested on a timer alone: feedback, or a
// hole, tells more now.
func (s *stream) believe(i int, part psn.Span) {
	d := s.d
	d.doubtful -= d.undecided.Remove(part)
	d.resent.judgeAgain(min(part.Len(), d.resent.verdict[isUnknown]), isUnknown, isNeeded)
	d.cut(i, part)
}
