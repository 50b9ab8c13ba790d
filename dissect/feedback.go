package dissect

import (
	"slices"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// feedback counts what a half says of the requests that came the other way.
type feedback struct {
	packets, bytes int64
	acks           int64
	noCredit       int64 // ACKs that grant no receive request
	lastTime       int64
	*seldom        // nil while all of it is zero
}

// seldom is feedback that most halves never give.
type seldom struct {
	naks, rnrs int64
	sequence   int64 // of the naks, those for a sequence error
	atomicAcks int64
	cut        int64 // acknowledgements whose AETH was cut off
	nakPSNs    []psn.PSN
}

func (f *feedback) rare() *seldom {
	if f.seldom == nil {
		f.seldom = &seldom{}
	}
	return f.seldom
}

// maxNakPSNs bounds the list of PSNs that NAKs named.
const maxNakPSNs = 4096

func (f *seldom) nak(p psn.PSN) {
	if len(f.nakPSNs) < maxNakPSNs && !slices.Contains(f.nakPSNs, p) {
		f.nakPSNs = append(f.nakPSNs, p)
	}
}

// count adds an acknowledgement to the tallies.
func (f *feedback) count(in *arrival) {
	f.lastTime = in.time
	if forms[in.op].verb == codec.VerbAtomicAck {
		f.rare().atomicAcks++
		return
	}
	f.packets++
	f.bytes += int64(in.wire)
	if !in.has.Has(codec.HeaderAETH) {
		f.rare().cut++
		return
	}
	switch in.aeth.Syndrome.Kind() {
	case codec.KindACK:
		f.acks++
		if n, ok := in.aeth.Syndrome.Credits(); ok && n == 0 && forms[in.op].verb == codec.VerbAck {
			f.noCredit++
		}
	case codec.KindRNRNAK:
		f.rare().rnrs++
	case codec.KindNAK:
		f.rare().naks++
		if in.aeth.Syndrome.IsSequenceNAK() {
			f.rare().sequence++
			f.nak(in.psn)
		}
	}
}

// acknowledged takes what an acknowledgement says of the stream.
func (s *stream) acknowledged(in *arrival) {
	if !s.on {
		return
	}
	s.moveWith(in)
	kind := codec.KindACK
	if forms[in.op].verb == codec.VerbAck {
		if !in.has.Has(codec.HeaderAETH) {
			return
		}
		kind = in.aeth.Syndrome.Kind()
	}
	seq := psn.Unwrap(s.top, in.psn)
	if kind == codec.KindNAK && s.startsBefore(seq, in) {
		s.extend(seq, in)
	} else if from, ok := s.reportsBefore(in); ok {
		s.extend(from, in)
	}
	if seq < s.first-1 || seq > s.top+forwardReach {
		if kind == codec.KindNAK && seq > s.top {
			s.find("stale-psn", "feedback names a PSN that was not sent", "", in.number)
		}
		return
	}
	s.counts(in)
	if s.told(in, seq) {
		s.quiet()
		return
	}
	switch kind {
	case codec.KindACK:
		s.ack(seq+1, in)
		if s.rtt(seq, in) {
			s.answersFirstCopy(seq, in)
		}
	case codec.KindRNRNAK:
		s.ack(seq, in)
		s.notReady(seq, in)
	case codec.KindNAK:
		if in.aeth.Syndrome.IsSequenceNAK() {
			s.ack(seq, in)
			s.sequenceError(seq, in)
		} else {
			s.fatal(in)
		}
	}
	s.quiet()
}

// startsBefore reports whether a NAK shows that the flow began before the first
// packet seen, with seq: the receiver has completed nothing yet.
func (s *stream) startsBefore(seq psn.Seq, in *arrival) bool {
	return seq < s.first && s.first-seq <= backwardReach && in.aeth.MSN == 0 && !s.heard && in.aeth.Syndrome.IsSequenceNAK()
}

// reportsBefore reports whether a T/C AETH shows the same: what passed first here is
// in its segments, and the flow began with from.
func (s *stream) reportsBefore(in *arrival) (from psn.Seq, ok bool) {
	if !in.has.Has(codec.HeaderTCAETH) || s.heard || in.tc.Validate() != nil {
		return 0, false
	}
	segments, n := in.tc.Segments()
	from = psn.Unwrap(s.top, in.tc.LastFinishedPSN) + 1
	if n == 0 || from >= s.first || from < s.first-backwardReach {
		return 0, false
	}
	first, last := psn.Unwrap(from, segments[0].First), psn.Unwrap(from, segments[n-1].Last)
	return from, first >= s.first && last < s.top
}

// extend moves the start of the epoch back to seq, which was sent before the
// first packet seen and did not arrive.
func (s *stream) extend(seq psn.Seq, in *arrival) {
	d := s.recovery()
	before := psn.Span{First: seq, Last: s.first - 1}
	s.first, s.acked = seq, seq
	d.unseen.Insert(before)
	s.miss(before, gap{run: d.run.id, evidence: EvidenceObserved, where: Upstream, opened: in.sight()})
	d.refused.Insert(psn.Span{First: before.Last + 1, Last: s.top - 1})
}

// ack moves the cumulative acknowledgement up to before the Seq.
func (s *stream) ack(before psn.Seq, in *arrival) {
	if before <= s.acked && s.heard {
		return
	}
	s.heard = true
	further := before > s.acked
	switch flight := int64(s.top - s.acked); {
	case flight > s.peak:
		s.peak, s.atPeak = flight, 1
	case flight == s.peak:
		s.atPeak++
	}
	if s.acked = max(s.acked, before); s.d != nil {
		s.d.reached(s.acked)
	}
	s.complete(in)
	d := s.d
	if d == nil {
		return
	}
	if d.broken.on && d.broken.rest.Last < s.acked {
		d.broken.on = false
		d.selective = true // nobody missed the rest
	}
	if t := &d.trial; t.on && !t.ahead && t.set.Spans()[0].First < s.acked {
		if t.named && t.order != overtaken && len(t.set.Spans()) == 1 {
			// The receiver takes it for the answer. A run may go on from here.
			lost := s.confirm(in)
			d.run.lone = true
			d.remind(t, d.run.reason, lost)
		} else {
			s.refute()
		}
	}
	if further {
		d.progressed()
	}
	if forms[in.op].verb != codec.VerbAck || in.aeth.Syndrome.Kind() == codec.KindACK {
		d.forget(s.acked)
	}
	if d.rnr.pending && d.rnr.seq < s.acked {
		d.rnr.pending = false
	}
	s.answersFirstCopy(s.acked-1, in)
	s.retire(s.acked)
	d.picks.confirmed(s.acked)
	s.irnProgress()
}

// rtt takes a round trip from a packet that was sent once and asked for the
// acknowledgement that carries its own PSN.
func (s *stream) rtt(seq psn.Seq, in *arrival) bool {
	for i := range s.marks {
		m := &s.marks[i]
		if m.seq == seq && s.once>>i&1 != 0 && m.time > 0 {
			s.once &^= 1 << i
			s.roundTrip(in.time - m.time)
			return true
		}
	}
	return false
}

// roundTrip takes a sample of the round trip.
func (s *stream) roundTrip(span int64) {
	if span <= 0 {
		return
	}
	if s.rttMin == 0 || span < s.rttMin {
		s.rttMin = span
	}
	s.rtts.add(span)
	s.rttLast = span
}

// answersFirstCopy: an acknowledgement that follows a resend sooner than the
// smallest round trip answers the copy before it.
func (s *stream) answersFirstCopy(seq psn.Seq, in *arrival) {
	d := s.d
	if d == nil || s.rttMin == 0 || in.time-d.run.began.time >= s.rttMin {
		return
	}
	for i := 0; i < len(d.gaps); i++ {
		g := &d.gaps[i]
		if g.First > seq {
			return
		}
		if g.evidence != EvidenceTimeout || g.run != d.run.id {
			continue
		}
		part := g.Intersect(psn.Span{First: g.First, Last: seq})
		n := d.undecided.Remove(part)
		d.doubtful -= n
		d.resent.judgeAgain(min(n, d.resent.verdict[isUnknown]), isUnknown, isRedundant)
		left := len(d.gaps)
		d.cut(i, part)
		i += len(d.gaps) - left
	}
}

// sequenceError follows a NAK that names seq: everything before it has arrived,
// it has not, and what followed it was refused.
//
// The last copy of it that should have passed here decides where it was lost. If
// a run passed here without it, upstream. If its last copy passed here intact it
// was lost behind this point; unless it came while an older PSN was missing, for
// then it was refused and the NAK tells nothing new.
func (s *stream) sequenceError(seq psn.Seq, in *arrival) {
	d := s.recovery()
	s.watch = true
	// The packet that gave the breach away draws a NAK, late or not. That it names
	// what the run has to carry next tells; what lies further on was refused before.
	if b := &d.broken; b.on && b.rest.Contains(seq) && (b.packets > 0 || seq == b.rest.First) {
		s.part()
	}
	if seq < s.acked || seq > s.top {
		if seq > s.top {
			s.find("stale-psn", "a NAK names a PSN that was not sent", "", in.number)
		}
		return
	}
	if r := &d.run; r.id > 0 && in.file == r.began.file && in.number < r.began.number {
		s.namedBefore(seq, in.sight())
		return
	}
	d.asked(ask{seq: seq, at: in.sight(), reason: byNAK})
	s.wants(seq, in.time)
	s.tellAt(NakSeen, seq, in.sight())
	if d.rnr.pending && d.rnr.seq == seq {
		return
	}
	s.named(seq, in.sight(), EvidenceNAK)
}

// namedBefore takes a NAK that waited for its stream: it is about the copies
// before the present run, which answered it.
func (s *stream) namedBefore(seq psn.Seq, at sight) {
	d := s.d
	s.tellAt(NakSeen, seq, at)
	if i, inside := d.gapAt(seq); inside && d.gaps[i].evidence != EvidenceTimeout {
		if g := &d.gaps[i]; g.confirmed == "" && g.evidence == EvidenceObserved {
			g.confirmed, g.suspect = EvidenceNAK, false
		}
		return
	}
	if d.rnr.seq == seq {
		return
	}
	if s.named(seq, at, EvidenceNAK); seq >= d.run.first && seq < s.next {
		s.fill(psn.Span{First: seq, Last: seq}, d.run.began, false, 0)
	}
}

// named judges a PSN that the receiver misses.
func (s *stream) named(seq psn.Seq, at sight, by Evidence) {
	d := s.d
	one := psn.Span{First: seq, Last: seq}
	if t := &d.trial; t.on && t.set.Contains(seq) {
		return // on its way
	} else if t.on && t.ahead && seq == s.next && by == EvidenceNAK {
		t.drew, t.drewAt = true, at // as it came early, whatever became of seq
		return
	} else if t.on && t.ahead {
		s.skip()
	}
	if i, inside := d.gapAt(seq); inside && d.gaps[i].inner.Contains(seq) {
		return // within a READ request, where no packet begins
	} else if inside && d.holes.Contains(seq) {
		g := &d.gaps[i]
		if g.confirmed == "" && g.evidence == EvidenceObserved {
			d.times.nakGeneration.add(at.time - g.opened.time)
		}
		g.confirmed, g.suspect = by, false
		d.name(one)
		return
	}
	if seq >= s.top || d.tardy.Contains(seq) {
		return
	}
	if d.refused.Contains(seq) {
		if n := len(d.answers); n > 0 && d.answers[n-1].span.Last == seq-1 {
			d.answers[n-1].named, d.answers[n-1].hasNamed, d.answers[n-1].namedAt = seq, true, at
		}
		return
	}
	if at.time-d.run.began.time < s.rttMin/2 && d.run.first <= seq && d.refusedBefore.Contains(seq) {
		return // too soon to be about the copy of this run
	}
	s.miss(one, gap{run: d.run.id, evidence: by, where: Downstream, opened: at})
	d.name(one)
	if s.response {
		return
	}
	d.refused.Insert(psn.Span{First: seq + 1, Last: s.top - 1})
}

// notReady follows an RNR NAK: flow control, not loss.
func (s *stream) notReady(seq psn.Seq, in *arrival) {
	d := s.recovery()
	s.watch = true
	s.tellAt(RNRNakSeen, seq, in.sight())
	if seq < s.acked || seq >= s.top {
		return
	}
	d.refusals++
	d.rnr = ask{seq: seq, at: in.sight(), pending: true}
	d.rnrWait = in.aeth.Syndrome.RNRTimer().Nanoseconds()
	d.refused.Insert(psn.Span{First: seq, Last: s.top - 1})
}
