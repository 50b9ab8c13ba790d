package dissect

import (
	"slices"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// IRN, the windowless cumulative ACK and MP-RDMA repeat just what the receiver
// misses, and their receivers keep what comes out of order. Nothing is refused
// because it follows a hole, and a resend that leaves something out says nothing
// about what it leaves out.

// picks is what a stream whose sender repeats selectively knows beside holes.
type picks struct {
	has     psn.Set // the receiver reported it, above the cumulative point
	repairs []repair
	after   reason // of resends, while the receiver's reports ask for them

	// windowless
	tailFrom, tailTo psn.Seq // what the last tail rule declared lost, empty if From >= To

	// MP-RDMA
	synchronised psn.Set // packets that must not overtake
	turned       psn.Set // packets whose newest copy was refused for want of a slot
	books        []book  // sorted
	slots        psn.Seq // how far beyond the cumulative point a packet had one
}

// repair is a packet that was sent again. Feedback that shows nothing newer than
// top cannot be about it yet.
type repair struct {
	seq, top psn.Seq
	time     int64
	needed   bool
}

// maxRepairs bounds what is remembered of resends in flight.
const maxRepairs = 1024

// selects reports whether the sender repeats selectively.
func (s *stream) selects() bool {
	return s.half.transport != goBackN || s.d != nil && s.d.selective
}

// speaks settles which transport a connection uses.
func (h *half) speaks(t transportKind) {
	for _, side := range [2]*half{h, h.partner} {
		if side == nil || side.transport == t {
			continue
		}
		side.transport = t
		for _, s := range [2]*stream{&side.req, side.resp} {
			if s != nil && s.d != nil {
				s.d.refused.Clear()
				s.d.tardy.Clear()
				s.refute()
				s.quiet()
			}
		}
	}
}

// repeated follows a packet below the top where the sender repeats selectively.
func (s *stream) repeated(in *arrival, span psn.Span) {
	s.packets++
	s.bytes += int64(in.payload)
	s.again(in, span)
	s.lastTime = in.time
}

// enter takes a packet at the top. One of MP-RDMA that says it is sent again was
// lost before, where no copy passed.
func (s *stream) enter(in *arrival, span psn.Span) {
	lost := in.reTx && s.half.transport == mpRDMA && span.First >= s.acked
	if lost {
		s.miss(span, gap{evidence: EvidenceReTx, where: Upstream, opened: in.sight()})
	}
	s.advance(in, int(span.Len()))
	if lost {
		s.again(in, span)
	}
}

// beganBefore takes a packet below the first one seen that is not sent again: it
// was overtaken on a shorter path when the capture began.
func (s *stream) beganBefore(span psn.Span, in *arrival) {
	behind := psn.Span{First: span.Last + 1, Last: s.first - 1}
	s.extendTo(span.First)
	s.d.reordered++
	s.d.unseen.Insert(behind)
	s.miss(behind, gap{evidence: EvidenceObserved, where: Upstream, opened: in.sight()})
}

// again judges a packet that is sent again, or came late.
func (s *stream) again(in *arrival, span psn.Span) {
	d := s.recovery()
	p := &d.picks
	seq := span.First
	if seq < s.first && seq >= s.first-backwardReach && !in.reTx && s.half.transport == mpRDMA {
		s.beganBefore(span, in)
		return
	}
	hole := d.holes.Contains(seq)
	named := (d.counted.Contains(seq) || s.asksFor(seq)) && s.half.transport != mpRDMA // which flags resends
	if hole && !named && !in.reTx && d.unseen.Contains(seq) && !s.silent(in) {
		s.late(span, in.sight())
		d.reordered++
		return
	}
	if d.missed.Contains(seq) && !in.reTx && !s.silent(in) {
		s.arrivedAfterAll(span, in.sight())
		d.reordered++
		return
	}
	if !hole && !in.reTx && s.half.transport == mpRDMA && d.lostPSNs.Contains(seq) {
		s.cameLate(span, in) // over a slow path, behind the copy that was sent in its place
		d.reordered++
		return
	}
	if !hole {
		for i, old := range d.answers {
			if old.span.First == seq { // it came late, and now comes again
				s.wasLate(old)
				d.answers = slices.Delete(d.answers, i, i+1)
				break
			}
		}
	}
	s.repairReason(in, seq)
	why := d.run.reason
	verdict := isUnknown
	switch {
	case hole:
		again := d.unseen.Contains(seq) && named && !in.reTx
		verdict = isNeeded
		lost := s.fill(span, in.sight(), forms[in.op].verb == codec.VerbRead, int64(in.payload))
		if again {
			d.answers = append(d.answers, answer{span: span, came: []psn.Span{span}, lost: lost, why: why, packets: 1,
				bytes: int64(in.payload), at: in.sight()})
			if len(d.answers) > maxRepairs {
				d.answers = d.answers[1:]
			}
		}
	case seq < s.acked || p.has.Contains(seq):
		verdict = isRedundant
	case s.half.transport == irnTransport && why == byIRNNack && s.asksFor(seq):
		// The sender sees the hole in the bitmap that the NACKs drew.
		verdict = isNeeded
		s.miss(span, gap{run: d.run.id, evidence: EvidenceIRNNack, where: Downstream, opened: in.sight()})
		d.name(span)
		s.fill(span, in.sight(), false, int64(in.payload))
	case p.turned.Contains(seq):
		verdict = isWasted // refused for want of a slot
	case why == byTCAETH && seq >= p.tailFrom && seq < p.tailTo:
		s.resentTail(in)
		fallthrough
	default:
		s.doubt(in, span)
	}
	if p.turned.Remove(span); s.half.transport == mpRDMA {
		p.openBook(seq).sent++
	}
	d.resent.add(1, int64(in.payload), why, verdict)
	if why == byTCAETH && verdict != isUnknown && seq >= p.tailFrom && seq < p.tailTo {
		s.resentTail(in)
	}
	p.repairs = append(p.repairs, repair{seq, s.top, in.time, verdict == isNeeded})
	if len(p.repairs) > maxRepairs {
		p.repairs = slices.Delete(p.repairs, 0, maxRepairs/2)
	}
	s.tellResend(span, in.sight(), why, verdict)
}

// silent reports whether the packet broke a silence as long as the timer.
func (s *stream) silent(in *arrival) bool {
	return s.d.timer > 0 && in.time-s.lastActivity() >= s.d.timer*3/4
}

// asksFor reports whether the receiver's reports show seq missing.
func (s *stream) asksFor(seq psn.Seq) bool {
	p := &s.d.picks
	spans := p.has.Spans()
	return len(spans) > 0 && seq >= s.acked && seq < spans[len(spans)-1].Last && !p.has.Contains(seq)
}

// repairReason settles the run that a resend belongs to.
func (s *stream) repairReason(in *arrival, seq psn.Seq) {
	d := s.d
	p := &d.picks
	why := p.after
	switch {
	case s.half.transport == irnTransport:
		why = noReason
		if d.counted.Contains(seq) || s.asksFor(seq) {
			why = byIRNNack
			s.irnResends()
		}
	case s.half.transport == windowless:
		why = noReason
		if d.counted.Contains(seq) || p.has.Overlap(psn.Span{First: seq, Last: s.top}) > 0 || seq >= p.tailFrom && seq < p.tailTo {
			why = byTCAETH
		}
	case in.reTx && s.half.transport == mpRDMA && why == noReason:
		why = byEarly
	}
	if why == noReason {
		why = byEarly
		if yes, wait, idle := s.timedOut(seq, in.sight(), in.time-s.lastActivity()); yes {
			why = byTimeout
			if d.run.reason != byTimeout || d.timeouts == 0 {
				s.irnTimeout()
			}
			s.timerFired(seq, in.sight(), wait, idle)
		}
	}
	if why == byTimeout || why == byEarly || why != d.run.reason {
		d.runs++
		d.run = run{id: d.runs, reason: why, began: in.sight(), first: seq, proven: true}
	}
	for i := range s.marks {
		if s.marks[i].seq == seq {
			s.once &^= 1 << i
			s.marks[i].time = in.time
		}
	}
}

// reported takes a PSN that the receiver misses, though it has others up to
// newest. The report is old news if a resend is on its way and newest was sent
// before it.
func (s *stream) reported(span psn.Span, newest psn.Seq, at sight, by Evidence) {
	d := s.d
	s.wants(span.First, at.time)
	span = span.Intersect(psn.Span{First: max(s.first, s.acked, d.known), Last: s.top - 1})
	var missing []psn.Span
	missing = d.picks.has.Gaps(missing, span)
	for _, part := range missing {
		for _, hole := range within(&d.holes, part) {
			d.effort++
			for i, _ := d.gapAt(hole.First); i < len(d.gaps) && d.gaps[i].First <= hole.Last; i++ {
				d.effort++
				d.gaps[i].confirmed, d.gaps[i].suspect = by, false
				if d.gaps[i].evidence == by {
					d.gaps[i].confirmed = ""
				}
			}
			d.name(hole)
		}
		for _, seen := range outside(&d.holes, part) {
			d.looked(len(d.picks.repairs))
			for _, fresh := range d.picks.notOnTheWay(seen, newest, s.half.transport == mpRDMA, at.time-max(s.rttMin, s.slowestPath())) {
				for _, sent := range s.packetsIn(fresh) {
					s.miss(sent, gap{run: d.run.id, evidence: by, where: Downstream, opened: at})
					d.name(sent)
				}
				if by == EvidenceMPNack {
					d.picks.openBook(fresh.First).lost++
				}
			}
		}
	}
}

// packetsIn is the parts of a span that packets begin in: a READ request that is
// missing is one, however many PSNs it takes.
func (s *stream) packetsIn(span psn.Span) []psn.Span {
	if s.response || len(s.reads) == 0 {
		return []psn.Span{span}
	}
	return s.sent(span)
}

// notOnTheWay is the parts of a span whose last copy was sent before newest was,
// or, where the order of sending proves nothing, before the given time.
func (p *picks) notOnTheWay(span psn.Span, newest psn.Seq, byTime bool, before int64) []psn.Span {
	var onTheWay psn.Set
	for i := range p.repairs {
		r := &p.repairs[i]
		if !span.Contains(r.seq) {
			continue
		}
		one := psn.Span{First: r.seq, Last: r.seq}
		if byTime && r.time > before || !byTime && newest < r.top {
			onTheWay.Insert(one)
		} else {
			onTheWay.Remove(one)
		}
	}
	return outside(&onTheWay, span)
}

// confirmed drops what a cumulative acknowledgement has settled.
func (p *picks) confirmed(before psn.Seq) {
	p.has.Remove(psn.Span{First: before - 1<<40, Last: before - 1})
	p.synchronised.Remove(psn.Span{First: before - 1<<40, Last: before - 1})
	p.turned.Remove(psn.Span{First: before - 1<<40, Last: before - 1})
	if len(p.repairs) > 0 {
		p.repairs = slices.DeleteFunc(p.repairs, func(r repair) bool { return r.seq < before })
	}
}

// told takes feedback in the forms of the extensions; it reports whether it was
// that.
func (s *stream) told(in *arrival, seq psn.Seq) bool {
	h := s.half
	switch {
	case in.has.Has(codec.HeaderTCAETH) && h.heeds(windowless):
		h.speaks(windowless)
		s.report(in)
	case (in.op == codec.OpcodeIRNNack || in.op == codec.OpcodeIRNReadNack) && h.heeds(irnTransport):
		h.speaks(irnTransport)
		s.irnNack(seq, in)
	case (in.op == codec.OpcodeMPRDMAAck || in.op == codec.OpcodeMPRDMANack) && h.heeds(mpRDMA):
		h.speaks(mpRDMA)
		s.mpFeedback(seq, in)
	default:
		return false
	}
	return true
}
