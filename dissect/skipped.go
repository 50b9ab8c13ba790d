package dissect

import (
	"slices"

	"github.com/rdmadump/rdmadump/psn"
)

// skip is PSNs that the current run passed over though the receiver had them
// already. Their copies may still come late; once the run is over they are lost,
// which did no harm.
type skip struct {
	psn.Span
	at sight
}

// seenBefore is the parts of a span of which the copy that arrived passed here.
// Of what the capture missed before, that it did not pass again proves nothing.
func (d *recovery) seenBefore(span psn.Span) []psn.Span {
	var out []psn.Span
	for _, seen := range outside(&d.unseen, span) {
		for _, taken := range outside(&d.refused, seen) {
			out = d.missed.Gaps(out, taken)
		}
	}
	return out
}

// outsideReads is the parts of a span that packets begin in, as far as gaps that stand
// know of READ requests.
func (d *recovery) outsideReads(span psn.Span) []psn.Span {
	out := []psn.Span{}
	i, _ := d.gapAt(span.First)
	for ; i < len(d.gaps) && d.gaps[i].First <= span.Last; i++ {
		for _, inner := range within(&d.gaps[i].inner, span) {
			if head := (psn.Span{First: span.First, Last: inner.First - 1}); head.Len() > 0 {
				out = append(out, head)
			}
			span.First = inner.Last + 1
		}
	}
	if span.Len() > 0 {
		out = append(out, span)
	}
	return out
}

// skipOver notes a skip.
func (s *stream) skipOver(span psn.Span, at sight) {
	d := s.d
	s.boundSkips(maxOpenGaps-1, at)
	d.skips = append(d.skips, skip{span, at})
}

// boundSkips takes the oldest skips for lost where there are more than a limit.
func (s *stream) boundSkips(limit int, at sight) {
	d := s.d
	n := len(d.skips) - limit
	if n <= 0 {
		return
	}
	for _, k := range d.skips[:n] {
		s.loseHarmless(k.Span, EvidenceObserved, k.at, at)
	}
	d.skips = slices.Delete(d.skips, 0, n)
}

// skipped is the index of the skip that holds the Seq, -1 if none does.
func (d *recovery) skipped(q psn.Seq) int {
	d.looked(len(d.skips))
	return slices.IndexFunc(d.skips, func(k skip) bool { return k.Contains(q) })
}

// catchUp takes a packet that its own run passed over though the receiver had it
// already: it was late, and nothing was lost.
func (s *stream) catchUp(in *arrival, i int, span psn.Span) {
	d := s.d
	k := d.skips[i]
	d.skips = slices.Delete(d.skips, i, i+1)
	for _, side := range [2]psn.Span{{First: span.Last + 1, Last: k.Last}, {First: k.First, Last: span.First - 1}} {
		if side.Len() > 0 {
			d.skips = slices.Insert(d.skips, i, skip{side, k.at})
		}
	}
	d.reordered++
	s.packets++
	s.bytes += int64(in.payload)
	s.lastTime = in.time
	d.resent.add(1, int64(in.payload), d.run.reason, isRedundant)
}

// settleSkips counts what no late copy filled.
func (s *stream) settleSkips() {
	d := s.d
	for _, k := range d.skips {
		s.loseHarmless(k.Span, EvidenceObserved, k.at, s.a.here)
	}
	d.skips = d.skips[:0]
}

// loseHarmless counts copies that were lost of PSNs that the receiver had.
func (s *stream) loseHarmless(span psn.Span, evidence Evidence, opened, filled sight) {
	d := s.d
	d.lose(span)
	d.harmless += span.Len()
	if evidence != EvidenceObserved {
		d.vouch(span)
		d.vouchedHarmless += span.Len()
	}
	g := gap{Span: span, count: span.Len(), run: d.run.id, copies: 1, evidence: evidence, where: Upstream, harmless: true,
		closed: ClosedRetransmitted, opened: opened, filled: filled, message: s.messageOf(span.First)}
	d.gapsTotal++
	d.upstream++
	s.tellGap(GapOpened, &g)
	s.tellGap(GapClosed, &g)
	s.keep(&g)
}
