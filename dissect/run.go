package dissect

import (
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
	start  psn.Seq // the first PSN of it that passed
	begins psn.Seq // place of that packet in the order of sending, 0 where it is not known
	after  psn.Seq // place of the last packet before it
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

// behind follows a packet below the top.
func (s *stream) behind(in *arrival, span psn.Span) {
	d := s.recovery()
	turn := s.ordered(in) == inOrder
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
		twice := t.set.Contains(span.First) && !t.ahead && s.service() != codec.UC // a run carries again what was late
		apart := t.order == overtaken && in.place.order == inOrder                 // what came late, and a resend
		if !later && !twice && !apart && span.First < s.next && t.early == (span.First < s.first) && t.missed == d.missed.Contains(span.First) && (s.mayBeLate(in, span.First) || s.precedes(in, span.First)) {
			t.add(in, span)
			s.packets++
			s.bytes += int64(in.payload)
			s.lastTime = in.time
			return
		}
		if !later && !twice && !apart && span.First < s.next && s.repeatsNeighbour(span.First) {
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
	case span.First > s.next && s.sentRest(in, span.First):
		s.passOver(psn.Span{First: s.next, Last: span.First - 1}, in.sight(), false)
	case span.First > s.next && s.sentLess(in, span.First):
		s.newRun(span.First, in.sight(), in.time-s.lastActivity())
		s.prove()
	case span.First > s.next && (d.wasReached(span.First) || span.First <= s.acked && forms[in.op].awaits):
		// Once the requester hears that all before it arrived it breaks off what it
		// resends: it goes on behind that, or asks again for an answer that it
		// waits for still.
		s.newRun(span.First, in.sight(), in.time-s.lastActivity())
	case span.First > s.next && d.run.lone && span.First == d.run.before:
		d.run = d.prior // the run before goes on: what came alone was late, or all of an answer
	case span.First > s.next && span.First >= d.run.before && span.First < d.run.before+maxStragglers && !turn:
		s.breakOff(psn.Span{First: s.next, Last: span.First - 1}, in.sight(), false)
	case span.First > s.next && !turn && s.mayBeLate(in, span.First):
		s.tryOut(in, span)
		d.trial.ahead = true
		return
	case span.First > s.next:
		s.passOver(psn.Span{First: s.next, Last: span.First - 1}, in.sight(), false)
	case !turn && s.mayBeLate(in, span.First):
		s.tryOut(in, span)
		return
	case !turn && s.precedes(in, span.First):
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
		if turn {
			s.prove()
		}
		s.leaveOut(psn.Span{First: d.run.first, Last: span.First - 1}, in.sight())
	}
	s.resend(in, span)
}

func (s *stream) service() codec.Service { return s.half.service }

// newRun begins a resend whose first packet seen is seq, after a silence in
// nanoseconds.
func (s *stream) newRun(seq psn.Seq, at sight, silence int64) {
	d := s.recovery()
	s.a.pairByResend(s, seq)
	r := run{reason: byEarly, began: at, first: seq, before: s.next, start: seq, after: d.sentLast}
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
	d.looked(len(d.refused.Spans()))
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
	if d.run.begins == 0 {
		d.run.begins = in.place.at
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
