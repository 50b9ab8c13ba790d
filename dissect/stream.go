package dissect

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// stream follows the packets of one half in one PSN space: its requests, or the
// READ responses that it carries.
//
// The model. What a sender puts on the wire is a sequence of runs: stretches in
// PSN order. The first run is new data; a NAK or a timer starts another, which
// repeats from somewhere below the top and goes on, under go-back-N, without a
// break into new data. A packet that continues the current run costs a few
// additions. One that lies above it passes over PSNs, which are then missing
// (gap.go); one that lies below it is late, or begins a run (run.go). Beside
// what is missing the stream knows what the receiver must have refused because
// it came behind a hole (recovery.refused), and what it acknowledged.
//
// Everything that only trouble needs is in recovery, which most streams never
// get.
type stream struct {
	top   psn.Seq // one past the highest PSN taken
	next  psn.Seq // what continues the current run; top unless a resend is under way
	acked psn.Seq // one past the highest PSN that the receiver acknowledged
	first psn.Seq // where the epoch began

	watch    bool // something in recovery must see each packet
	on       bool // the first packet was seen
	heard    bool // acked rests on an acknowledgement
	response bool
	receives bool   // messages take receive requests
	implied  bool   // the packet at hand is a READ request that names a missing response
	sport    uint16 // UDP source port of the first packet

	countsMSN bool    // an AETH said so in this epoch
	msn       psn.PSN // messages that the responder completed, where countsMSN says so
	asked     int32   // epoch of the requests that the responses answer

	packets, bytes int64
	lastTime       int64
	rttMin         int64 // smallest round trip, 0 while none was seen
	*flow                // never nil, but shared and empty before begin
	d              *recovery
	a              *Analyzer
	half           *half // that carries the packets
}

// flow is what a stream knows once it has begun, troubles aside. Halves that
// only give feedback have none.
type flow struct {
	origin     psn.PSN // where the first epoch began
	epochs     int32
	beganAt    int64 // time of the epoch's first packet
	messages   int64 // begun so far
	message    inMessage
	paths      []path     // by source port, once there is more than one or MP-RDMA is known
	unanswered unanswered // of these
	marked     uint8
	once       uint8   // bit i: the packet of marks[i] was sent once so far
	marks      [8]mark // the last packets that asked for an acknowledgement

	flying  []completion
	took    samples // by whole messages, until they were acknowledged
	rtts    samples
	rttLast int64 // the newest of them
	peak    int64 // most PSNs in flight at an acknowledgement
	atPeak  int64 // acknowledgements that found as many

	tail  tailRead
	reads []psn.Span // PSNs that READ requests in flight asked for, one span a request
	moved *candidate // a packet far from the window, see epoch.go
}

// mark is when a packet that asked for an acknowledgement passed.
type mark struct {
	seq  psn.Seq
	time int64
}

// inMessage is the message that a PSN belongs to, as far as it was seen.
type inMessage struct {
	number int64
	reth   codec.RETH
	first  psn.Seq
	began  int64 // time of its first packet
	op     codec.Opcode
	known  bool // op is that of its first packet
	hasVA  bool
	open   bool // its last packet has not come yet
	whole  bool // every packet so far was seen
}

// recovery is what a stream knows of its troubles. All Sets hold only what is
// not acknowledged yet, but for lostPSNs and forgotten, which are bounded.
type recovery struct {
	wanted    psn.PSN // the first that the receiver asked for and that is not acknowledged
	wantedAt  int64   // when it asked last, 0 for never
	resumedAt int64   // when the sender went back for it last

	gaps          []gap   // sorted, disjoint; open, or filled and not yet acknowledged
	holes         psn.Set // the last copy known here was lost
	unseen        psn.Set // of these, what never passed here
	counted       psn.Set // of these, whose copy is counted in lost
	again         psn.Set // of these, of which a resent copy is counted too
	refused       psn.Set // passed here while an older PSN was missing at the receiver
	refusedBefore psn.Set // what was refused when the current run began
	skips         []skip  // by the current run
	tardy         psn.Set // came late, so that the receiver may still have asked for it
	undecided     psn.Set // resent by a timer, data or acknowledgement lost
	spoilt        psn.Set // above the top: came damaged
	missed        psn.Set // acknowledged though no copy passed here
	run           run
	prior         run     // before a run that is not proven
	runs          int     // so far
	disowned      bool    // what came by itself last may be of the run that comes,
	after         psn.Seq // and ended before this
	broken        breach
	overtaken     bool // the packet at hand was overtaken by one of an older run
	trial         trial
	answers       []answer
	asks          []ask // the newest last
	rnr           ask
	rnrWait       int64 // that the receiver asked for, nanoseconds

	lost, harmless, damaged  int64
	lostPSNs, forgotten      psn.Set
	vouched, vouchedHarmless int64 // of lost and harmless, see leaky.go
	vouchedPSNs              psn.Set
	notCaptured, reordered   int64
	doubtful                 int64 // PSNs that were ever undecided
	abandoned                int64 // missing PSNs that fell out of sight, not named
	discarded                int64
	resent                   resends
	times                    times
	upstream, downstream     int64 // gaps by where they were lost
	firstBytes               int64 // payload of resends that were seen for the first time
	picks                    picks
	irn                      irn
	windowless               windowlessReports
	mp                       mp
	selective                bool // resends were seen to leave out what had arrived
	gapsTotal                int64
	gapsReordered            int64
	done                     []gap
	worst                    bool  // done has the worst only
	effort                   int64 // steps taken for packets, see effort.go
	unlisted                 int64 // ranges that found no place in lostPSNs or forgotten, until they are counted
	effortKnown              int64 // effort when it was last counted for all streams
	strained                 bool
	openKnown                int     // gaps when they were last counted for all streams
	known                    psn.Seq // what lies before was let go: no report of it opens a gap again
	timer                    int64   // shortest wait that ended an idle wire, 0 while none did
	findings                 []Finding
	numbers                  numbers
	sentLast                 psn.Seq     // place of the last packet that came in turn
	points                   [32]psn.Seq // that acknowledgements went up to, the last ones
	nPoints                  uint8
	timeouts                 int     // in a row, without progress
	retries                  int     // in a row, without progress: timeouts, and NAKs that were answered
	retried                  psn.Seq // the first PSN of the last of them
	retryFrames              []int
	refusals                 int   // RNR NAKs in a row, without progress
	closed                   int64 // when the connection was torn down, 0 while it was not
}

func (s *stream) recovery() *recovery {
	if s.d == nil {
		s.d = &recovery{}
	}
	return s.d
}

// arrive follows one packet that takes n PSNs.
func (s *stream) arrive(in *arrival, n int) {
	if s.on {
		if seq := psn.Unwrap(s.top, in.psn); seq == s.top && s.next == seq && !s.watch {
			s.advance(in, n)
			return
		}
	}
	s.look(in, n)
}

// advance takes a packet that continues new data.
func (s *stream) advance(in *arrival, n int) {
	seq := s.top
	s.top += psn.Seq(n)
	s.next = s.top
	if in.sport != s.sport || s.paths != nil {
		s.travelled(in, seq)
	}
	s.packets++
	s.bytes += int64(in.payload)
	s.lastTime = in.time
	f := &forms[in.op]
	if f.starts {
		s.messages++
		s.message = inMessage{number: s.messages, op: in.op, known: true, first: seq, began: in.time, whole: true}
		if in.has.Has(codec.HeaderRETH) {
			s.message.reth, s.message.hasVA = in.reth, true
		}
	}
	s.message.whole = s.message.whole && (f.starts || s.message.open)
	s.message.open = !f.ends
	if f.ends && s.message.whole {
		s.sentWhole()
	}
	s.receives = s.receives || f.receives
	if in.synchronise {
		s.waitsFor(seq)
	}
	if in.ackReq {
		i := s.marked % uint8(len(s.marks))
		s.marks[i] = mark{seq, in.time}
		s.once |= 1 << i
		s.marked++
	}
}

// look follows a packet off the fast path.
func (s *stream) look(in *arrival, n int) {
	if !s.on {
		s.begin(in, in.psn)
		s.advance(in, n)
		return
	}
	if s.jumped(in, n) {
		return
	}
	s.follow(in, n)
}

// follow takes a packet whose PSN is believed.
func (s *stream) follow(in *arrival, n int) {
	if s.half.transport != goBackN {
		s.observe(in)
	}
	seq := psn.Unwrap(s.top, in.psn)
	if seq >= s.top {
		s.settleTail(seq)
		seq = max(seq, s.top)
	}
	span := psn.Span{First: seq, Last: seq + psn.Seq(n) - 1}
	s.learnOrder(in, seq)
	if s.ordered(in) == overtaken {
		s.trail(in, span, n)
		s.quiet()
		return
	}
	s.mend(seq)
	s.settleRun(seq, in.time)
	switch {
	case seq == s.top && s.next == seq:
		s.refute()
		s.judgeAccepted(span)
		s.enter(in, span)
	case seq >= s.top:
		s.refute()
		switch rest := (psn.Span{First: s.next, Last: s.top - 1}); {
		case rest.Len() == 0 || s.d.run.lone || s.selects():
		case seq == s.top && s.sentLess(in, seq):
		case s.sentRest(in, seq):
			s.passOver(rest, in.sight(), false)
		default:
			s.breakOff(psn.Span{First: s.next, Last: s.top - 1}, in.sight(), seq == s.top)
		}
		if seq > s.top {
			s.passOver(psn.Span{First: s.top, Last: seq - 1}, in.sight(), false)
			s.top, s.message.open = seq, false
		}
		s.judgeAccepted(span)
		s.enter(in, span)
	case s.selects() && s.half.transport != goBackN:
		if s.paths != nil {
			s.travelled(in, seq)
		}
		s.repeated(in, span)
	default:
		s.behind(in, span)
	}
	s.sentUpTo(in)
	s.quiet()
}

// observe notes what only the extensions need of each packet.
func (s *stream) observe(in *arrival) {
	d := s.recovery()
	seq := psn.Unwrap(s.top, in.psn)
	if in.synchronise && seq < s.top {
		s.waitsFor(seq)
	}
	missing := s.top // unless something before it is
	if spans := d.holes.Spans(); len(spans) > 0 {
		missing = spans[0].First
	}
	d.mp.outOfOrder = max(d.mp.outOfOrder, int64(seq-missing))
	if w := &d.windowless; w.waiting {
		w.waiting, w.began = false, in.time
	}
}

// quiet returns to the fast path once nothing is left to watch.
func (s *stream) quiet() {
	s.bound()
	d := s.d
	s.watch = s.moved != nil || s.half.transport == mpRDMA || s.half.transport == windowless && !s.response || s.tail.waiting || d != nil &&
		(d.trial.on || d.broken.on || len(d.answers) > 0 || d.rnr.pending || len(d.holes.Spans()) > 0 || len(d.refused.Spans()) > 0)
}

// judgeAccepted notes whether the receiver can have taken the copy that just
// passed: under go-back-N it refuses what comes behind a hole.
func (s *stream) judgeAccepted(span psn.Span) {
	d := s.d
	if d == nil || s.selects() || s.response {
		return
	}
	if s.floor() < span.First {
		d.refused.Insert(span)
	} else {
		d.refused.Remove(span)
	}
}

// floor is the PSN that the receiver waits for, as far as a hole shows it; above
// everything where none does.
func (s *stream) floor() psn.Seq {
	d := s.d
	low := psn.Seq(1 << 62)
	for _, set := range [...]*psn.Set{&d.holes, &d.refused} {
		if first, ok := firstFrom(set, s.acked); ok {
			low = min(low, first)
		}
	}
	if d.rnr.pending {
		low = min(low, d.rnr.seq)
	}
	return low
}

// firstFrom is the lowest Seq of the set that is not below q.
func firstFrom(set *psn.Set, q psn.Seq) (psn.Seq, bool) {
	if spans := set.From(q); len(spans) > 0 {
		return max(spans[0].First, q), true
	}
	return 0, false
}

// passOver marks what a run should have carried and did not. suspect says that
// it may not have been sent at all.
func (s *stream) passOver(span psn.Span, at sight, suspect bool) {
	d := s.recovery()
	g := gap{run: d.run.id, evidence: EvidenceObserved, where: Upstream, opened: at, suspect: suspect}
	// Below the top: other copies passed here before.
	old := psn.Span{First: span.First, Last: min(span.Last, s.top-1)}
	for _, part := range s.sent(old) {
		if harmless := part.Intersect(psn.Span{First: part.First, Last: s.acked - 1}); harmless.Len() > 0 {
			if !suspect && !s.selects() {
				for _, seen := range d.seenBefore(harmless) {
					for _, whole := range d.outsideReads(seen) {
						s.skipOver(whole, at)
					}
				}
			}
			part.First = harmless.Last + 1
		}
		if !s.selects() {
			s.miss(part, g)
			continue
		}
		for _, hole := range within(&d.holes, part) {
			s.miss(hole, g)
		}
	}
	// New ground.
	for _, part := range s.expected(psn.Span{First: max(span.First, s.top), Last: span.Last}) {
		g.suspect = false
		d.unseen.Insert(part)
		for _, spoilt := range within(&d.spoilt, part) {
			damage := g
			damage.evidence = EvidenceICRC
			d.unseen.Remove(spoilt)
			s.miss(spoilt, damage)
			d.name(spoilt)
		}
		for _, clean := range outside(&d.spoilt, part) {
			s.miss(clean, g)
		}
	}
	d.spoilt.Remove(psn.Span{First: span.First, Last: span.Last + 1})
	if s.heard && s.acked > span.First {
		s.retire(s.acked)
	}
}

// begin starts an epoch with the packet's PSN.
func (s *stream) begin(in *arrival, p psn.PSN) {
	if s.flow == &s.a.unbegun {
		s.flow = &flow{}
	}
	s.epochs++
	base := psn.Seq(s.epochs) << 32 // epochs never share a Seq
	s.first = base + psn.Seq(p)
	s.top, s.next, s.acked = s.first, s.first, s.first
	s.heard, s.watch = false, false
	if !s.on {
		s.origin, s.on = p, true
		s.sport = in.sport
	}
	s.beganAt = in.time
	s.marked, s.tail, s.reads = 0, tailRead{}, s.reads[:0]
	s.message.open = false
	s.flying = s.flying[:0]
	s.lastTime = in.time
	s.countsMSN = false
	if !s.response {
		s.half.live(s.epochs == 1)
		s.half.list()
	} else if req := s.requests(); req != nil {
		s.asked = req.epochs
	}
}

// messageOf is the message that a PSN which is not here belongs to.
func (s *stream) messageOf(q psn.Seq) inMessage {
	switch {
	case s.messages > 0 && q >= s.message.first && (q < s.top || s.message.open):
		return s.message
	case q >= s.top:
		return inMessage{number: s.messages + 1}
	}
	for i := range s.flying {
		if c := &s.flying[i]; q >= c.message.first && q <= c.last {
			return c.message
		}
	}
	return inMessage{}
}
