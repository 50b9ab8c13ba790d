package dissect

import (
	"math/bits"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// A READ request takes as many PSNs as its response has packets, which depends
// on the path MTU. That comes from connection management, from the payload of
// First and Middle packets, or from what is left over: the next request begins
// where the READ ends.

// mtus is a set of the five path MTUs that are possible: bit i is 256 << i.
type mtus uint8

const anyMTU mtus = 1<<5 - 1

// mtuOf is the set of the one MTU of that size; empty if there is none such.
func mtuOf(size int) mtus {
	if size < 256 || size > 4096 || size&(size-1) != 0 {
		return 0
	}
	return 1 << (bits.TrailingZeros(uint(size)) - 8)
}

// packets is how many packets a response of size bytes has at the MTU with
// index i.
func packets(size uint32, i int) int64 {
	mtu := int64(256) << i
	return max(1, (int64(size)+mtu-1)/mtu)
}

// exact is the number of packets of a response where all MTUs left agree on it.
func (m mtus) exact(size uint32) (n int, ok bool) {
	low := int64(0)
	for i := 0; i < 5; i++ {
		if m>>i&1 == 0 {
			continue
		}
		k := packets(size, i)
		if low != 0 && low != k {
			return 0, false
		}
		low = k
	}
	return int(low), low != 0
}

// fitting is those of the MTUs at which a response of size bytes has k packets.
func (m mtus) fitting(size uint32, k int64) mtus {
	var out mtus
	for i := 0; i < 5; i++ {
		if m>>i&1 != 0 && packets(size, i) == k {
			out |= 1 << i
		}
	}
	return out
}

// tailRead is the newest request while it is a READ of which nobody knows yet
// how many PSNs it takes. The top stands one behind it.
type tailRead struct {
	waiting bool
	seq     psn.Seq
	size    uint32
	sized   bool // the RETH was captured
}

// most is the largest number of PSNs that the READ may take.
func (t *tailRead) most() int64 {
	if !t.sized {
		return forwardReach
	}
	return min(packets(t.size, 0), 1<<22)
}

// maxReads bounds the READ requests that a stream remembers.
const maxReads = 256

// readRequest follows a READ request, or another that a READ response answers.
func (s *stream) readRequest(in *arrival) {
	h := s.half
	sized := in.has.Has(reth)
	var n int
	known := false
	if sized {
		n, known = h.mtus().exact(in.reth.DMALen)
	}
	if forms[in.op].verb != codec.VerbRead {
		n, known = 1, true // what its RETH gives the size of is not fetched
	}
	if h.transport == irnTransport {
		n, known = 1, true // IRN counts responses in a space of their own
	}
	if !known {
		n = 1
	}
	if s.on && s.near(in.psn) {
		if seq := psn.Unwrap(s.top, in.psn); seq < s.top {
			s.readAgain(in, seq, n)
			return
		}
	}
	s.arrive(in, n)
	if s.moved != nil {
		return // set aside
	}
	last := s.top - 1
	if s.top-psn.Seq(n) != psn.Unwrap(s.top-psn.Seq(n), in.psn) {
		return
	}
	if len(s.reads) >= maxReads {
		s.reads = append(s.reads[:0], s.reads[maxReads/2:]...)
	}
	s.reads = append(s.reads, psn.Span{First: last - psn.Seq(n) + 1, Last: last})
	if !known {
		s.tail = tailRead{waiting: true, seq: last, size: in.reth.DMALen, sized: sized}
		s.watch = true
	}
}

// readAgain follows a READ request below the top. One inside an outstanding
// READ names the first response that is missing. One at its start names nothing,
// since the first requests of the run may have been lost before this point; it is
// an implied NAK where that response is known to be missing, or passed here and
// answers to later requests after it, unless a timer may have asked.
func (s *stream) readAgain(in *arrival, seq psn.Seq, n int) {
	old, inside := s.readAt(seq)
	resp := s.responses()
	begun := s.recovery().run.id
	named := inside && seq > old.First // the rest of the same READ
	s.implied = named
	if inside {
		n = int(old.Last-seq) + 1
	}
	if inside && !named && resp != nil {
		s.implied = resp.d != nil && resp.d.holes.Contains(resp.place(seq)) || s.answeredPast(old) && !s.timerMayAsk(seq, in)
	}
	s.arrive(in, n)
	s.implied = false
	if d := s.d; resp != nil && d.run.id != begun {
		resp.askedAgain(in, seq.PSN(), d.run.reason, named)
	}
}

// answeredPast reports whether the last copies of the responses to a READ passed
// here and answers to requests behind it followed them. A requester that has the
// first response asks for the rest alone, so that one which asks for all of it
// saw the later answers and missed the first.
func (s *stream) answeredPast(read psn.Span) bool {
	resp := s.responses()
	if !resp.on || s.half.transport == irnTransport {
		return false
	}
	end := resp.place(read.Last) + 1
	return resp.next > end || resp.next == end && s.acked > read.Last+1 && s.half.partner.fb.lastTime >= resp.lastTime
}

// answerMissed reports whether an atomic is sent again since its answer went
// missing: something behind it was acknowledged meanwhile, which no answer of its
// own had to precede.
func (s *stream) answerMissed(in *arrival) bool {
	if !s.on || s.acked == 0 || !s.near(in.psn) {
		return false
	}
	seq := psn.Unwrap(s.top, in.psn)
	if seq+1 >= s.acked || seq < s.first {
		return false
	}
	s.recovery() // it is about to begin
	return !s.tooLate(in.time - s.lastActivity())
}

// timerMayAsk reports whether a repeated request waited so long that a timer may
// have sent it. So may it where neither a timer nor a round trip is known.
func (s *stream) timerMayAsk(seq psn.Seq, in *arrival) bool {
	silence := in.time - max(s.lastActivity(), s.responses().lastTime)
	timer := s.half.timer()
	if timer == 0 {
		timer = s.d.timer
	}
	return timer == 0 && s.rttMin == 0 || s.tooLate(silence) || timer > 0 && s.waited(seq, in.time, silence) >= timer*3/4
}

// askedAgain notes that the requester asked for responses again, from p on.
// named says that p itself is missing at the requester.
func (s *stream) askedAgain(in *arrival, p psn.PSN, why reason, named bool) {
	if !s.on {
		return
	}
	d := s.recovery()
	seq := psn.Unwrap(s.top, p)
	d.asked(ask{seq: seq, at: in.sight(), reason: why})
	s.wants(seq, in.time)
	s.watch = true
	if !named || seq < s.first {
		return
	}
	s.named(seq, in.sight(), EvidenceImpliedNAK)
}

// place is where a PSN of the requests lies among the responses.
func (s *stream) place(seq psn.Seq) psn.Seq { return psn.Unwrap(s.top, seq.PSN()) }

// readAt is the READ that a PSN belongs to.
func (s *stream) readAt(seq psn.Seq) (psn.Span, bool) {
	for i := len(s.reads) - 1; i >= 0; i-- {
		if s.reads[i].Contains(seq) {
			return s.reads[i], true
		}
	}
	return psn.Span{}, false
}

// responses is the stream of READ responses to these requests, nil if there is
// none.
func (s *stream) responses() *stream {
	if p := s.half.partner; p != nil {
		return p.resp
	}
	return nil
}

// settleTail decides how many PSNs the newest READ takes, from where the next
// request begins.
func (s *stream) settleTail(next psn.Seq) {
	if !s.tail.waiting {
		return
	}
	t := s.tail
	k := int64(next - t.seq)
	if !t.sized {
		s.endTail(next)
		return
	}
	h := s.half
	fit := h.mtus().fitting(t.size, k)
	if fit != 0 {
		h.setMTUs(fit)
		s.endTail(next)
		return
	}
	// Something between is missing: the READ ends where the largest MTU left
	// lets it end.
	n := int64(1)
	for i := 4; i >= 0; i-- {
		if h.mtus()>>i&1 != 0 {
			n = packets(t.size, i)
			break
		}
	}
	s.endTail(t.seq + psn.Seq(min(n, k)))
}

// endTail ends the newest READ before next.
func (s *stream) endTail(next psn.Seq) {
	s.tail.waiting = false
	if next <= s.tail.seq {
		return
	}
	s.readEnds(s.tail.seq, next-1)
	if n := len(s.reads); n > 0 && s.reads[n-1].First == s.tail.seq {
		s.reads[n-1].Last = next - 1
	}
	if s.next == s.top {
		s.next = next
	}
	s.top = max(s.top, next)
	s.quiet()
}

// learnMTU takes a path MTU from the payload of a First or Middle packet.
func (h *half) learnMTU(in *arrival) {
	f := &forms[in.op]
	if f.ends || in.payload == 0 {
		return
	}
	switch m := mtuOf(in.payload); {
	case m != 0 && h.mtu != m:
		h.showMTUs(m)
		h.settleTails()
	case m != 0:
		h.mtuShown = true
	}
}

// settleTails decides on the newest READ of either side once the MTU is known.
func (h *half) settleTails() {
	for _, side := range [2]*half{h, h.partner} {
		if side == nil || !side.req.tail.waiting || !side.req.tail.sized {
			continue
		}
		if n, ok := side.mtus().exact(side.req.tail.size); ok {
			side.req.endTail(side.req.tail.seq + psn.Seq(n))
		}
	}
}

func (h *half) mtus() mtus {
	if h.partner != nil && h.mtu&h.partner.mtu != 0 {
		return h.mtu & h.partner.mtu
	}
	return h.mtu
}

// showMTUs is setMTUs where more than the distance of two requests says so, which
// a loss between them stretches.
func (h *half) showMTUs(m mtus) {
	h.setMTUs(m)
	h.mtuShown = true
}

func (h *half) setMTUs(m mtus) {
	h.mtu = m
	if h.partner != nil {
		h.partner.mtu = m
	}
}

// sent is the parts of a span below the top that packets begin in: all of it,
// but for the inside of READs. Responses are sent again for each request on its
// own, so that only those of one READ follow from each other.
func (s *stream) sent(span psn.Span) []psn.Span {
	if span.Len() == 0 {
		return nil
	}
	if s.response {
		req := s.requests()
		if req == nil {
			return nil
		}
		read, ok := req.readAt(psn.Unwrap(req.top, span.Last.PSN()+1&psn.Mask))
		if !ok {
			return nil
		}
		first := s.place(read.First)
		if span.First = max(span.First, first); span.Len() == 0 {
			return nil
		}
		return []psn.Span{span}
	}
	parts := []psn.Span{}
	for _, read := range s.reads {
		inner := psn.Span{First: read.First + 1, Last: read.Last}.Intersect(span)
		if inner.Len() == 0 {
			continue
		}
		if head := (psn.Span{First: span.First, Last: inner.First - 1}); head.Len() > 0 {
			parts = append(parts, head)
		}
		span.First = inner.Last + 1
	}
	if span.Len() > 0 {
		parts = append(parts, span)
	}
	return parts
}

// requests is the stream whose READs these responses answer, nil if there is
// none.
func (s *stream) requests() *stream {
	if p := s.half.partner; p != nil && p.req.on {
		return &p.req
	}
	return nil
}

// expected is the parts of a span above the top that packets must come in. All
// of it, for requests. For responses what READ requests asked for: where WRITEs
// and SENDs took PSNs the jump is no gap.
func (s *stream) expected(span psn.Span) []psn.Span {
	if span.Len() == 0 {
		return nil
	}
	if !s.response || s.half.transport == irnTransport {
		return []psn.Span{span}
	}
	req := s.requests()
	if req == nil {
		if s.message.open {
			return []psn.Span{span} // inside a message every PSN must come
		}
		return nil
	}
	var parts []psn.Span
	for _, read := range req.reads {
		first := psn.Unwrap(span.First, read.First.PSN())
		if part := span.Intersect(psn.Span{First: first, Last: first + read.Last - read.First}); part.Len() > 0 {
			parts = append(parts, part)
		}
	}
	return parts
}
