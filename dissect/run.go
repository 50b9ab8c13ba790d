package dissect

import (
	"slices"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// run is a stretch of packets that a sender put on the wire in PSN order for one
// reason. The run with id 0 is new data.
type run struct {
	id     int
	reason reason
	began  sight
	first  psn.Seq
	before psn.Seq // what would have continued the run before
	lone   bool    // it is only an answer, see below, that was acknowledged

	proven bool             // see proof.go
	waited int64            // of a timeout: since the last copy of its first packet
	idle   int64            // of a timeout: the silence that it ended, 0 where none did
	owed   [4]owed          // what it passed over before it was proven
	nOwed  int              // of these
	sent   int64            // packets that it carried before it was proven
	strays [maxStrays]stray // the first of these
}

// stray is a packet of a run that is not proven: no other went on from it.
type stray struct {
	seq    psn.Seq
	bytes  int64
	judged judgement
	at     sight
}

// maxStrays is how many packets a run may carry before it is proven, or not: each
// but the first follows what it passed over.
const maxStrays = 5

// ask is what the receiver asks for: to resend from seq on.
type ask struct {
	seq     psn.Seq
	at      sight
	pending bool   // no run has answered it yet
	reason  reason // of the run that will
}

// maxAsks bounds what a receiver may ask for before an answer is seen.
const maxAsks = 4

// asked notes what the receiver asks for.
func (d *recovery) asked(k ask) {
	if n := len(d.asks); n > 0 && d.asks[n-1].seq == k.seq {
		d.asks = d.asks[:n-1]
	}
	if len(d.asks) == maxAsks {
		d.asks = append(d.asks[:0], d.asks[1:]...)
	}
	d.asks = append(d.asks, k)
}

// answered takes the ask that a run from seq on answers, and with it those
// before. It is the one that names the highest PSN not above seq.
func (d *recovery) answered(seq psn.Seq) (ask, bool) {
	best := d.answering(seq)
	if best < 0 {
		return ask{}, false
	}
	k := d.asks[best]
	d.asks = append(d.asks[:0], d.asks[best+1:]...)
	return k, true
}

func (d *recovery) answering(seq psn.Seq) int {
	best := -1
	for i := range d.asks {
		if d.asks[i].seq <= seq && (best < 0 || d.asks[i].seq >= d.asks[best].seq) {
			best = i
		}
	}
	return best
}

// askedWithin reports whether the receiver asked for q, or for what is missing
// right before it.
func (d *recovery) askedWithin(q psn.Seq) bool {
	i, inside := d.gapAt(q)
	k := d.answering(q)
	return inside && k >= 0 && d.asks[k].seq >= d.gaps[i].First
}

// asksFor reports whether the receiver asked to resend from q on.
func (d *recovery) asksFor(q psn.Seq) bool {
	return slices.ContainsFunc(d.asks, func(k ask) bool { return k.seq == q })
}

// reached notes that an acknowledgement went up to q.
func (d *recovery) reached(q psn.Seq) {
	if n := len(d.points); d.points[(int(d.nPoints)+n-1)%n] != q {
		d.points[d.nPoints] = q
		d.nPoints = (d.nPoints + 1) % uint8(n)
	}
}

// wasReached reports whether one of the last acknowledgements went just up to q.
func (d *recovery) wasReached(q psn.Seq) bool { return slices.Contains(d.points[:], q) }

// forget drops what was asked for below the Seq, now that it was acknowledged.
func (d *recovery) forget(before psn.Seq) {
	kept := d.asks[:0]
	for _, k := range d.asks {
		if k.seq >= before {
			kept = append(kept, k)
		}
	}
	d.asks = kept
}

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
}

// breach is where a resend run gave way to what the sender had sent before it:
// new data, or the end of the run before. If the resend goes on where it left
// off, those packets were only late; if not, a part of it was lost, or, before
// new data, the sender repeats selectively and had no more to repeat.
type breach struct {
	on      bool
	rest    psn.Span // what the run should have carried
	at      sight    // the packet that gave the breach away
	suspect bool     // nothing else is known to be missing
	packets int      // since then
}

// maxStragglers is how many packets a later run may find in its way.
const maxStragglers = 4

// breakOff notes that a resend run gave way to the packet at.
func (s *stream) breakOff(rest psn.Span, at sight, suspect bool) {
	s.d.broken = breach{true, rest, at, suspect, 0}
	s.watch = true
}

// mend decides on a breach when a packet comes after it.
func (s *stream) mend(seq psn.Seq) {
	d := s.d
	if d == nil || !d.broken.on {
		return
	}
	b := &d.broken
	b.packets++
	switch {
	case seq == b.rest.First:
		b.on = false
		s.next = seq
		d.overtaken = true
	case seq == s.next && b.packets < maxStragglers:
	default:
		s.part()
	}
}

// part takes a breach for what it seems to be.
func (s *stream) part() {
	if d := s.d; d != nil && d.broken.on {
		d.broken.on = false
		s.passOver(d.broken.rest, d.broken.at, d.broken.suspect)
	}
}

// behind follows a packet below the top.
func (s *stream) behind(in *arrival, span psn.Span) {
	d := s.recovery()
	t := &d.trial
	if t.on && t.ahead {
		if span.First == s.next {
			t.on = false
			s.straggle(t)
			d.overtaken = true
		} else {
			s.skip()
		}
	}
	if t.on {
		// After a timer's silence another run begins, whose packets may repeat these.
		later := span.First < t.next && s.service() != codec.UC && s.tooLate(in.time-s.lastActivity())
		if !later && span.First < s.next && t.early == (span.First < s.first) && t.missed == d.missed.Contains(span.First) && (s.mayBeLate(in, span.First) || s.precedes(in, span.First)) {
			t.add(in, span)
			s.packets++
			s.bytes += int64(in.payload)
			s.lastTime = in.time
			return
		}
		if !later && span.First < s.next && s.repeatsNeighbour(span.First) {
			s.confirm(in) // repeats a neighbour
		} else {
			s.refute()
		}
	}
	switch {
	case span.First < s.next && d.skipped(span.First) >= 0:
		s.catchUp(in, d.skipped(span.First), span)
		return
	case span.First == s.next:
	case span.First > s.next && (d.wasReached(span.First) || span.First <= s.acked && forms[in.op].awaits):
		// Once the requester hears that all before it arrived it breaks off what it
		// resends: it goes on behind that, or asks again for an answer that it
		// waits for still.
		s.newRun(span.First, in.sight(), in.time-s.lastActivity())
	case span.First > s.next && span.First >= d.run.before && span.First < d.run.before+maxStragglers:
		s.breakOff(psn.Span{First: s.next, Last: span.First - 1}, in.sight(), false)
	case span.First > s.next && s.mayBeLate(in, span.First):
		s.tryOut(in, span)
		d.trial.ahead = true
		return
	case span.First > s.next:
		s.passOver(psn.Span{First: s.next, Last: span.First - 1}, in.sight(), false)
	case s.mayBeLate(in, span.First):
		s.tryOut(in, span)
		return
	case s.precedes(in, span.First):
		s.tryOut(in, span)
		d.trial.early = d.trial.on
		return
	case s.service() == codec.UC:
		// No resend: a copy of the network's, or a new epoch, as the next tells.
		s.refute()
		s.moved = &candidate{*in, int(span.Len())}
		return
	default:
		s.newRun(span.First, in.sight(), in.time-s.lastActivity())
		s.leaveOut(psn.Span{First: d.run.first, Last: span.First - 1}, in.sight())
	}
	s.resend(in, span)
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

func (s *stream) service() codec.Service { return s.half.service }

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
			for _, part := range d.byGap([]psn.Span{span}) {
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
	if first := t.set.Spans()[0]; t.ahead && !d.holes.Contains(first.First) {
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
		lost: lost, why: why, packets: t.packets, bytes: t.bytes, at: t.last})
	if len(d.answers) > maxOpenGaps {
		d.answers = d.answers[1:]
	}
}

// newRun begins a resend whose first packet seen is seq, after a silence in
// nanoseconds.
func (s *stream) newRun(seq psn.Seq, at sight, silence int64) {
	d := s.recovery()
	s.a.pairByResend(s, seq)
	r := run{reason: byEarly, began: at, first: seq, before: s.next}
	sure := false // it is a run
	k, answers := d.answered(seq)
	if answers && s.tooLate(silence) {
		answers = false
	}
	switch {
	case d.rnr.pending && seq >= d.rnr.seq && (!answers || k.seq <= d.rnr.seq):
		r.reason, r.first, sure = byRNR, d.rnr.seq, true
		d.rnr.pending = false
	case answers:
		r.reason, r.first, sure = k.reason, k.seq, true
		d.times.nakReaction.add(at.time - k.at.time)
	case s.implied:
		r.reason, sure = byImpliedNAK, true
	default:
		if yes, wait, idle := s.timedOut(seq, at, silence); yes {
			r.reason, r.waited, r.idle = byTimeout, wait, idle
			sure = s.keptTimer(silence)
		}
		if s.heard && !s.response && !s.selects() && !d.disowned {
			r.first = min(seq, s.acked)
		}
	}
	if d.disowned && d.after <= seq {
		r.first = max(r.first, d.after)
	}
	d.refusedBefore.Clear()
	d.shifted(len(d.refused.Spans()))
	for _, span := range d.refused.Spans() {
		d.refusedBefore.Insert(span)
	}
	d.runs++
	r.id = d.runs
	d.prior, d.run = d.run, r
	if sure {
		s.prove()
	}
	s.next = seq
	for i := range s.marks {
		if s.marks[i].seq >= seq {
			s.once &^= 1 << i
		}
		if s.marks[i].seq == seq && s.marks[i].time > 0 {
			s.marks[i].time = at.time // of its last copy
		}
	}
}

// slowestAnswer is how many round trips a sender may think about a NAK, when no
// timer is known to tell its answer from a timeout.
const slowestAnswer = 256

// tooLate reports whether a resend comes too late to answer a NAK: it waited for
// the timer.
func (s *stream) tooLate(silence int64) bool {
	return s.keptTimer(silence) || s.rttMin > 0 && silence > slowestAnswer*s.rttMin
}

// keptTimer reports whether a silence is as long as the timer, where one is known.
func (s *stream) keptTimer(silence int64) bool {
	timer := s.half.timer()
	if timer == 0 {
		timer = s.d.timer
	}
	return timer > 0 && silence >= timer*3/4
}

// shortestTimer is how long a silence must be, in nanoseconds, to pass for the
// work of a timer that nobody stated. Without a round trip to compare with, less
// is only the pace of the packets.
const shortestTimer = 100_000

// timedOut reports whether a resend that nothing asked for is the work of a
// timer: it waited at least three quarters of the queue pair's timer, or, while
// that is not known, broke a silence. It also gives how long it waited, and the
// silence that may teach the timer, 0 where none does.
func (s *stream) timedOut(seq psn.Seq, at sight, silence int64) (yes bool, wait, idle int64) {
	d := s.d
	if wait = s.waited(seq, at.time, silence); wait <= 0 {
		return false, 0, 0
	}
	if timer := s.half.timer(); timer > 0 {
		return wait >= timer*3/4, wait, 0
	}
	if silence*2 >= wait && silence > max(4*s.rttMin, shortestTimer) {
		return true, wait, silence
	}
	return d.timer > 0 && wait >= d.timer*3/4, wait, 0
}

// timerFired counts a timeout at seq.
func (s *stream) timerFired(seq psn.Seq, at sight, wait, idle int64) {
	d := s.d
	d.times.timeout.add(wait)
	if idle > 0 && (d.timer == 0 || idle < d.timer) {
		d.timer = idle
	}
	s.tellAt(TimeoutSeen, seq, at)
	s.retry(seq, at)
	d.timeouts++
}

// waited is how long before now the last copy of seq passed, or of a packet
// before it whose time is known; at least the silence.
func (s *stream) waited(seq psn.Seq, now, silence int64) int64 {
	wait := silence
	for i := range s.marks {
		if m := &s.marks[i]; m.seq <= seq && m.time > 0 && uint8(i) < s.marked {
			wait = max(silence, now-m.time)
		}
	}
	if r := &s.d.run; r.id > 0 && r.proven && r.seen() == seq {
		wait = max(wait, now-r.began.time) // it began with the last copy
	}
	return wait
}

// lastActivity is when a packet of the stream or its feedback passed last.
func (s *stream) lastActivity() int64 {
	if p := s.half.partner; p != nil {
		return max(s.lastTime, p.fb.lastTime)
	}
	return s.lastTime
}

// resend takes a packet below the top that the current run carries.
func (s *stream) resend(in *arrival, span psn.Span) {
	d := s.d
	read := forms[in.op].verb == codec.VerbRead
	s.packets++
	s.bytes += int64(in.payload)
	why, verdict := d.run.reason, isUnknown
	switch {
	case d.holes.Overlap(span) > 0:
		verdict = isNeeded
		s.fill(span, in.sight(), read, int64(in.payload))
	case (why == byRNR || why == byImpliedNAK) && span.First == d.run.first:
		verdict = isNeeded
	case why == byImpliedNAK:
		verdict = isWasted
	case span.Last < s.acked:
		verdict = isRedundant
	case d.refused.Contains(span.First):
		verdict = isWasted
	case why == byRNR || why == byNAK:
		verdict = isWasted // go-back-N starts over
	default:
		s.doubt(in, span)
	}
	d.resent.add(1, int64(in.payload), why, verdict)
	s.judgeAccepted(span)
	if d.overtaken {
		d.tardy.Insert(span)
		d.overtaken = false
	} else {
		d.tardy.Remove(span)
	}
	s.next = span.Last + 1
	s.lastTime = in.time
	s.tellResend(span, in.sight(), why, verdict)
	if r := &d.run; !r.proven {
		if r.sent < maxStrays {
			r.strays[r.sent] = stray{span.First, int64(in.payload), verdict, in.sight()}
		}
		r.sent++
		if s.next >= s.top && r.nOwed == 0 {
			s.prove() // it is whole
		}
	}
}

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
