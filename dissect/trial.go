package dissect

import (
	"slices"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// trial is packets that filled holes behind the current run, one after another,
// while it is open whether they were late or are the first of a resend run. A
// run gives itself away by repeating a neighbour that had passed before.
type trial struct {
	on         bool
	set        psn.Set // what came
	next       psn.Seq // one past the highest
	packets    int64
	bytes      int64
	inner      psn.Set // inside READ requests, where no packet begins
	ahead      bool    // one packet above the current run: of it, or left over from the run before
	early      bool    // below the first PSN seen of the epoch
	missed     bool    // acknowledged before it came
	first      sight
	last       sight
	silence    int64 // before its first packet
	named      bool  // the receiver had asked for it
	afterTimer bool  // after as long a silence as a timer keeps
	drew       bool  // being ahead, a NAK for what the run has to carry next
	drewAt     sight
	order      order // in which all of it came, if the sender counts
}

// answer is packets that looked late, though the receiver had asked for them
// before. They were late after all if a run carries them once more; if none
// does they are what the sender answered with.
//
// named is a PSN right behind them that a NAK names though it had passed: if they
// were the answer, the run that they began should have carried it and did not.
// If they were late, the NAK only says that it was refused the first time.
type answer struct {
	span     psn.Span   // from the first to the last
	came     []psn.Span // what came of it
	lost     int64      // copies that were taken for lost before
	why      reason
	packets  int64
	bytes    int64
	at       sight
	named    psn.Seq
	hasNamed bool
	namedAt  sight
	order    order // as of trial
}

// mayBeLate reports whether the packet fills a hole that a run passed over, or
// comes ahead of the run once what filled its hole had come. One that the receiver
// named, or that came damaged, had a copy of its own here, and is sent again without
// doubt.
func (s *stream) mayBeLate(in *arrival, seq psn.Seq) bool {
	d := s.d
	switch {
	case in.reTx:
		return false
	case d.missed.Contains(seq):
		return true
	case !d.holes.Contains(seq):
		return seq > s.next && d.lostPSNs.Contains(seq) && d.replaced(seq)
	}
	i, inside := d.gapAt(seq)
	return inside && d.gaps[i].evidence == EvidenceObserved
}

// maxEarly is how many stretches below the first PSN seen are tried out at once.
const maxEarly = 16

// precedes reports whether the packet lies below the first PSN seen, of which no
// copy passed: it was overtaken when the capture began, unless it is the first of
// a resend run, which the receiver may have asked for.
func (s *stream) precedes(in *arrival, seq psn.Seq) bool {
	d := s.d
	if in.reTx || seq >= s.first || seq < s.first-backwardReach || s.heard || s.implied || d.rnr.pending {
		return false
	}
	if set := &d.trial.set; d.trial.on && (set.Contains(seq) || len(set.Spans()) == maxEarly) {
		return false
	}
	return d.answering(seq) < 0
}

// extendTo moves the start of the epoch back to what came late.
func (s *stream) extendTo(seq psn.Seq) {
	s.first = seq
	if !s.heard {
		s.acked = seq
	}
	if s.epochs == 1 {
		s.origin = seq.PSN()
	}
}

// tryOut begins a trial.
func (s *stream) tryOut(in *arrival, span psn.Span) {
	d := s.d
	d.trial.set.Clear()
	d.trial.inner.Clear()
	d.trial = trial{on: true, set: d.trial.set, inner: d.trial.inner, next: span.First, first: in.sight(),
		silence: in.time - s.lastActivity(), named: d.askedWithin(span.First)}
	d.trial.missed = d.missed.Contains(span.First)
	d.trial.afterTimer = !d.trial.named && !d.trial.missed && span.First < s.next && s.service() != codec.UC && s.tooLate(d.trial.silence)
	d.trial.add(in, span)
	s.packets++
	s.bytes += int64(in.payload)
	s.lastTime = in.time
	s.watch = true
	if d.trial.afterTimer {
		s.confirm(in)
	}
}

// repeatsNeighbour reports whether a packet makes a run of those on trial. Of
// what was acknowledged nothing is asked for: there only the next one does.
func (s *stream) repeatsNeighbour(seq psn.Seq) bool {
	t := &s.d.trial
	if t.missed {
		return seq == t.next
	}
	return seq >= t.set.Spans()[0].First && s.service() != codec.UC
}

func (t *trial) add(in *arrival, span psn.Span) {
	t.set.Insert(span)
	t.next = max(t.next, span.Last+1)
	t.packets++
	t.bytes += int64(in.payload)
	t.last = in.sight()
	if t.packets == 1 {
		t.order = in.place.order
	} else if t.order != in.place.order {
		t.order = unordered
	}
	if forms[in.op].verb == codec.VerbRead && span.Len() > 1 {
		t.inner.Insert(psn.Span{First: span.First + 1, Last: span.Last})
	}
}

// fillWith puts a stretch of what is on trial into its places, each READ request
// by itself.
func (s *stream) fillWith(t *trial, span psn.Span) (lost int64) {
	for _, inner := range within(&t.inner, span) {
		if plain := (psn.Span{First: span.First, Last: inner.First - 2}); plain.Len() > 0 {
			lost += s.fill(plain, t.last, false, t.bytesOf(plain))
		}
		read := psn.Span{First: max(span.First, inner.First-1), Last: inner.Last}
		lost += s.fill(read, t.last, true, t.bytesOf(read))
		span.First = inner.Last + 1
	}
	if span.Len() > 0 {
		lost += s.fill(span, t.last, false, t.bytesOf(span))
	}
	return lost
}

// bytesOf is the payload that came for the span.
func (t *trial) bytesOf(span psn.Span) int64 { return t.bytes * span.Len() / t.set.Len() }

// confirm turns the trial into a run. It returns how many lost copies what came
// stands for.
func (s *stream) confirm(in *arrival) (lost int64) {
	d := s.d
	t := &d.trial
	t.on = false
	first := t.set.Spans()[0].First
	s.newRun(first, t.first, t.silence)
	if t.afterTimer && !t.early {
		d.run.sent += t.packets
	} else {
		s.prove()
	}
	if t.early {
		// Whether the copies before the capture arrived nobody can tell.
		s.first, s.acked = min(s.first, first), min(s.acked, first)
		for _, span := range t.set.Spans() {
			for _, part := range d.byGap(nil, []psn.Span{span}) {
				s.doubt(in, part)
			}
			s.tellResend(span, t.last, d.run.reason, isUnknown)
		}
		s.next = t.next
		d.resent.add(t.packets, t.bytes, d.run.reason, isUnknown)
		return 0
	}
	verdict := isNeeded
	if d.missed.Contains(first) {
		verdict = isRedundant
	}
	at := d.run.first
	for _, span := range t.set.Spans() {
		if at < span.First {
			s.leaveOut(psn.Span{First: at, Last: span.First - 1}, in.sight())
		}
		at = span.Last + 1
		lost += s.fillWith(t, span)
		s.judgeAccepted(span)
		s.tellResend(span, t.last, d.run.reason, verdict)
	}
	s.next = t.next
	d.resent.add(t.packets, t.bytes, d.run.reason, verdict)
	return lost
}

// refute ends a trial without a run: what came was late, or answers a NAK alone.
func (s *stream) refute() {
	d := s.d
	if d == nil || !d.trial.on {
		return
	}
	t := &d.trial
	if t.ahead {
		s.skip()
		return
	}
	t.on = false
	spans := t.set.Spans()
	if t.early {
		d.reordered += t.packets
		s.extendTo(spans[0].First)
		return
	}
	if !t.named || s.service() == codec.UC {
		s.straggle(t)
		return
	}
	var lost int64
	for _, span := range spans {
		lost += s.fillWith(t, span)
		s.judgeAccepted(span)
		s.tellResend(span, t.last, byNAK, isNeeded)
	}
	d.resent.add(t.packets, t.bytes, byNAK, isNeeded)
	d.remind(t, byNAK, lost)
}

// straggle takes the packets of a trial for late ones. Those that a resend run
// passed over are copies of that run, and so retransmissions too.
func (s *stream) straggle(t *trial) {
	d := s.d
	if first := t.set.Spans()[0]; t.ahead && !d.holes.Contains(first.First) && d.missed.Overlap(first) == 0 {
		d.resent.add(t.packets, t.bytes, byEarly, isNeeded)
		s.wasLate(answer{span: first, came: []psn.Span{first}, lost: 1, why: byEarly, packets: t.packets, bytes: t.bytes, at: t.last})
		s.judgeAccepted(first)
		return
	}
	d.reordered += t.packets
	var repeated int64
	for _, span := range t.set.Spans() {
		unseen := d.unseen.Overlap(span)
		_, inside := d.gapAt(span.First)
		switch {
		case d.missed.Overlap(span) > 0:
			s.arrivedAfterAll(span, t.last)
			continue
		case unseen == 0:
			repeated += span.Len()
			s.late(span, t.last)
		case inside && d.again.Contains(span.First):
			repeated += span.Len()
			s.late(span, t.last)
		default:
			s.late(span, t.last)
		}
		s.judgeAccepted(span)
		d.tardy.Insert(span)
	}
	if repeated = min(repeated, t.packets); repeated > 0 {
		d.resent.add(repeated, t.bytes*repeated/t.packets, d.run.reason, isWasted)
	}
}

// skip decides that a packet ahead of the run belongs to it.
func (s *stream) skip() {
	d := s.d
	t := &d.trial
	t.on = false
	span, named := t.set.Spans()[0], s.next
	s.passOver(psn.Span{First: s.next, Last: span.First - 1}, t.first, false)
	if t.drew {
		s.named(named, t.drewAt, EvidenceNAK)
	}
	verdict := isNeeded
	switch {
	case d.holes.Contains(span.First):
		s.fillWith(t, span)
	case span.Last < s.acked:
		verdict = isRedundant
	default:
		verdict = isWasted
	}
	s.judgeAccepted(span)
	s.next = span.Last + 1
	d.resent.add(t.packets, t.bytes, d.run.reason, verdict)
	s.tellResend(span, t.last, d.run.reason, verdict)
}

// remind keeps in mind that what the trial saw may have been late after all.
func (d *recovery) remind(t *trial, why reason, lost int64) {
	spans := slices.Clone(t.set.Spans())
	d.answers = append(d.answers, answer{span: psn.Span{First: spans[0].First, Last: spans[len(spans)-1].Last}, came: spans,
		lost: lost, why: why, packets: t.packets, bytes: t.bytes, at: t.last, order: t.order})
	if len(d.answers) > maxOpenGaps {
		d.answers = d.answers[1:]
	}
}
