package dissect

import "github.com/rdmadump/rdmadump/psn"

// windowlessReports is what the reports of a windowless receiver tell of it.
type windowlessReports struct {
	reports, invalid int64
	boundary         int64 // PSNs that no report can show lost
	tailResends      int64
	batches          []batch // the first ones
	has              int64   // PSNs that the receiver had at the last report
	began            int64   // when the first packet after it came
	waiting          bool    // for that packet
}

// batch is what came between two reports.
type batch struct {
	packets int64
	span    int64 // from its first packet to the report, nanoseconds
	ranges  uint32
}

// maxBatches bounds the reports from which the thresholds are estimated.
const maxBatches = 1024

// report follows a T/C AETH: which PSNs the receiver has.
func (s *stream) report(in *arrival) {
	d := s.recovery()
	s.watch = true
	w := &d.windowless
	w.reports++
	if in.tc.Validate() != nil {
		w.invalid++
		s.find("invalid-report", "the segments of a T/C AETH make no sense; nothing is concluded from them", "", in.number)
		return
	}
	block := psn.Unwrap(s.top, in.tc.LastFinishedPSN) // the end of the last block
	if block < s.first-1 || block > s.top+forwardReach {
		s.find("stale-psn", "a report names a PSN that was not sent", "", in.number)
		return
	}
	p := &d.picks
	p.tailFrom, p.tailTo = 0, 0
	segments, n := in.tc.Segments()
	newest := block
	for _, segment := range segments[:n] {
		newest = psn.Unwrap(newest, segment.Last)
	}
	s.finished(block, in)
	last := block
	for _, segment := range segments[:n] {
		first := psn.Unwrap(last, segment.First)
		s.reported(psn.Span{First: last + 1, Last: first - 1}, newest, in.sight(), EvidenceTCAETH)
		last = psn.Unwrap(first, segment.Last)
		if has := (psn.Span{First: max(first, s.acked), Last: min(last, s.top-1)}); has.Len() > 0 {
			p.has.Insert(has)
		}
	}
	if n == 0 {
		p.tailFrom, p.tailTo = block+1, s.top
		s.wants(block+1, in.time)
	}
	s.batch(in)
	s.answersFirstCopy(newest, in)
}

// finished takes the first block of a report, which ends with block. It is a
// cumulative claim only as long as nothing is missing below it. What is, and was
// not named before, fell between two batches: a literal receiver has flushed
// what it knew of it, and will never say so.
func (s *stream) finished(block psn.Seq, in *arrival) {
	d := s.d
	for _, hole := range within(&d.holes, psn.Span{First: s.acked, Last: block}) {
		for _, quiet := range outside(&d.counted, hole) {
			if d.unseen.Overlap(quiet) < quiet.Len() {
				continue
			}
			d.windowless.boundary += quiet.Len()
			s.find("boundary-loss", "packets fell between two reports: no report will name them", "", in.number)
			s.giveUp(quiet)
		}
	}
	s.ack(block+1, in)
	s.rtt(block, in)
}

// giveUp ends the hole as one that nobody will fill.
func (s *stream) giveUp(span psn.Span) {
	d := s.d
	i, inside := d.gapAt(span.First)
	if !inside {
		return
	}
	g := d.gaps[i]
	part := span.Intersect(g.Span)
	d.cut(i, part)
	g.Span, g.count, g.left, g.closed = part, part.Len(), part.Len(), Open
	d.holes.Remove(part)
	d.unseen.Remove(part)
	d.abandoned += part.Len() - d.lostPSNs.Overlap(part)
	d.gapsTotal++
	s.tellGapEnd(&g, s.a.here)
	s.keep(&g)
}

// batch measures what came since the last report: by the receiver's own word,
// which does not depend on where the capture point is.
func (s *stream) batch(in *arrival) {
	d := s.d
	w := &d.windowless
	has := int64(s.acked-s.first) - w.boundary + d.picks.has.Len()
	if in.tc.SegmentNum == 4 {
		has++ // the packet that made one range too many has no place in the report
	}
	if len(w.batches) < maxBatches {
		began := w.began
		if began == 0 {
			began = s.beganAt
		}
		w.batches = append(w.batches, batch{has - w.has, in.time - began, in.tc.SegmentNum})
	}
	w.has, w.waiting = has, true
}

// summary estimates the thresholds: the count that several batches share, and
// the time of those that ended before it.
func (w *windowlessReports) summary() *Windowless {
	out := &Windowless{Reports: w.reports, Invalid: w.invalid, BoundaryLosses: w.boundary, TailResends: w.tailResends}
	seen := map[int64]int64{}
	for _, b := range w.batches {
		seen[b.packets]++
	}
	var count int64
	for c, n := range seen {
		if n >= 2 && (n > seen[count] || n == seen[count] && c > count) {
			count = c
		}
	}
	if count > 0 && seen[count]*2 < int64(len(w.batches)) {
		count = 0 // chance
	}
	for _, b := range w.batches {
		switch {
		case count > 0 && b.packets >= count:
			out.ByCount++
		case b.ranges == 4:
			out.ByRanges++
		default:
			out.ByTime++
			if b.span > 0 && (out.TThresh == 0 || b.span < out.TThresh) {
				out.TThresh = b.span
			}
		}
	}
	out.CThresh = count
	return out
}

// resentTail counts a packet that was resent because a report with one segment
// declares everything behind it lost.
func (s *stream) resentTail(in *arrival) {
	s.d.windowless.tailResends++
	s.find("tail-resend", "packets in flight were sent again, because a report with one segment calls all behind it lost", "", in.number)
}
