package irn

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/transporttest"
)

// space is one PSN space as the wire shows it: what its sender may do, from
// what it has sent and what feedback has arrived at it.
type space struct {
	config  Config
	retries int

	start, una, nxt psn.Seq
	told            psn.Seq
	sacked          map[psn.Seq]bool
	unanswered      map[psn.Seq]bool // atomics whose result has not arrived

	recovering bool
	recovery   psn.Seq
	again      map[psn.Seq]bool // resent in this recovery
	passed     map[psn.Seq]bool // see holes
	owed       bool             // the cumulative PSN, at the start of a recovery
	spent      int
	since      transport.Time
	rnrUntil   transport.Time

	first               map[psn.Seq][]byte
	fresh, resent       int
	timeouts            int
	most                int // in flight
	resentPSN           []psn.PSN
	recoveries, implied int
}

func newSpace(qp *transport.QP, c Config) *space {
	s := psn.Seq(qp.StartPSN)
	return &space{config: c, retries: qp.RetryCount, start: s, una: s, nxt: s, told: s, sacked: map[psn.Seq]bool{},
		unanswered: map[psn.Seq]bool{}, again: map[psn.Seq]bool{}, passed: map[psn.Seq]bool{}, first: map[psn.Seq][]byte{}}
}

func (s *space) high() psn.Seq {
	high := max(s.una, s.told-1)
	for q := range s.sacked {
		high = max(high, q)
	}
	return high
}

// holes are the PSNs that may be resent next: the lowest one below the highest
// acknowledged that is neither acknowledged nor resent in this recovery. An
// atomic that had been reported and whose result is lost may be passed over: the
// sender walks up but once in a recovery, and may have been above it by then.
// must is false when all of them may be.
func (s *space) holes() (may []psn.Seq, must bool) {
	if !s.recovering {
		return nil, false
	}
	if s.owed {
		return []psn.Seq{s.una}, true
	}
	high, from := s.high(), s.una
	for q := range s.again {
		from = max(from, q+1)
	}
	for q := from; q < high; q++ {
		if s.sacked[q] {
			continue
		}
		may = append(may, q)
		if !s.passed[q] {
			return may, true
		}
	}
	return may, false
}

func (s *space) enter() {
	s.recovering, s.recovery, s.owed = true, s.nxt-1, true
	s.recoveries++
	clear(s.again)
	clear(s.passed)
}

func (s *space) rto() transport.Time {
	if int(s.nxt-s.una) <= s.config.Few {
		return s.config.RTOLow
	}
	return s.config.RTOHigh
}

// sent checks a transmission.
func (s *space) sent(c *transporttest.Copy) error {
	q := psn.Unwrap(s.una, c.Packet.BTH.PSN)
	b, err := c.Packet.AppendBinary(nil)
	if err != nil {
		return err
	}
	if c.At < s.rnrUntil {
		return fmt.Errorf("%v: sent before the RNR timer ends at %v", c, s.rnrUntil)
	}
	if s.rnrUntil != 0 {
		s.rnrUntil = 0
		s.enter()
	}
	if q == s.nxt {
		if may, must := s.holes(); must {
			return fmt.Errorf("%v: new while %d are to be resent", c, may)
		}
		if int(s.nxt-s.una) >= s.config.Cap {
			return fmt.Errorf("%v: new with %d in flight", c, s.nxt-s.una)
		}
		if c.Ready == transport.Resend {
			return fmt.Errorf("%v: new, and called a resend", c)
		}
		if s.una == s.nxt {
			s.since = c.At
		}
		s.nxt++
		s.fresh++
		s.most = max(s.most, int(s.nxt-s.una))
		s.first[q] = b
		return nil
	}
	if q < s.una || q > s.nxt {
		return fmt.Errorf("%v: in flight are %d to %d", c, s.una, s.nxt-1)
	}
	if may, _ := s.holes(); !slices.Contains(may, q) {
		if q != s.una || c.At < s.since+s.rto() {
			return fmt.Errorf("%v: may not be resent: holes %d, cumulative %d sent at %v, %v to wait, sacked %v, resent %v",
				c, may, s.una, s.since, s.rto(), s.sacked, s.again)
		}
		s.enter()
		s.timeouts++
		s.spent++
	}
	if s.spent > s.retries {
		return fmt.Errorf("%v: retry %d", c, s.spent)
	}
	if c.Ready != transport.Resend {
		return fmt.Errorf("%v: a resend, and called %d", c, c.Ready)
	}
	if !bytes.Equal(s.first[q], b) {
		return fmt.Errorf("%v: not the packet that was sent before", c)
	}
	if q == s.una {
		s.since = c.At
	}
	s.owed = false
	s.again[q] = true
	s.resent++
	s.resentPSN = append(s.resentPSN, q.PSN())
	return nil
}

// heard takes feedback: everything before upto has arrived, and sack has too.
func (s *space) heard(now transport.Time, upto psn.Seq, sack *psn.PSN) {
	says := upto > s.told && upto <= s.nxt
	if says {
		reported := maps.Clone(s.sacked)
		for q := s.told; q < upto; q++ {
			s.sacked[q] = true
		}
		s.told = upto
		for q := range s.unanswered {
			if q < upto && s.sacked[q] {
				s.passed[q] = s.passed[q] || reported[q]
				delete(s.sacked, q)
			}
		}
	}
	s.settle(now)
	if sack != nil {
		if q := psn.Unwrap(s.una, *sack); q >= s.told && q < s.nxt {
			s.sacked[q] = true
		}
	}
	lost := false
	for q := range s.unanswered {
		lost = lost || says && q < s.told
	}
	if lost {
		s.implied++
	}
	if !s.recovering && s.rnrUntil == 0 && (lost || sack != nil && s.high() > s.una) {
		s.spent++
		s.enter()
	}
}

// settle moves the cumulative point.
func (s *space) settle(now transport.Time) {
	before := s.una
	for s.una < s.told && !s.unanswered[s.una] {
		delete(s.sacked, s.una)
		delete(s.again, s.una)
		s.una++
	}
	if s.una == before {
		return
	}
	s.since, s.spent, s.owed, s.rnrUntil = now, 0, false, 0
	if s.una > s.recovery {
		s.recovering = false
	}
}

// nack is what a NACK must say.
type nack struct{ expected, sack psn.PSN }

// receiver is one side's receiver as the wire shows it.
type receiver struct {
	expected psn.Seq
	cap      int
	have     map[psn.Seq]bool
	owed     []nack // NACKs that are to come
	nacks    int
	newest   psn.Seq
	lenient  bool // it may have dropped or refused what arrived
}

func (r *receiver) arrived(p psn.PSN) {
	q := psn.Unwrap(r.expected, p)
	switch {
	case q < r.expected || q >= r.expected+psn.Seq(r.cap):
		return
	case q > r.expected:
		r.have[q] = true
		r.owed = append(r.owed, nack{r.expected.PSN(), p})
		return
	}
	r.have[q] = true
	for r.have[r.expected] {
		delete(r.have, r.expected)
		r.expected++
	}
}

// says checks feedback as it leaves.
func (r *receiver) says(c *transporttest.Copy) error {
	p := &c.Packet
	if p.Has(codec.HeaderSackETH) {
		r.nacks++
		got := nack{p.BTH.PSN, p.SackETH.SackPSN}
		if r.lenient {
			return nil
		}
		if len(r.owed) == 0 || r.owed[0] != got {
			return fmt.Errorf("%v: NACK %v, want %v", c, got, r.owed)
		}
		r.owed = r.owed[1:]
		return nil
	}
	q := psn.Unwrap(r.expected, p.BTH.PSN)
	if q >= r.expected && p.AETH.Syndrome.Kind() == codec.KindACK {
		return fmt.Errorf("%v: acknowledges what has not arrived, expected is %d", c, r.expected)
	}
	if p.BTH.Opcode.Verb() == codec.VerbAck && p.AETH.Syndrome.Kind() == codec.KindACK {
		if q < r.newest {
			return fmt.Errorf("%v: acknowledged up to %d before", c, r.newest)
		}
		r.newest = q
	}
	return nil
}

// oracle watches a link and knows the rules of IRN, from what passes on the
// wire alone.
type oracle struct {
	requests, responses *space
	responder           receiver
	requester           receiver
	msn                 uint32
}

func newOracle(w *transporttest.Workload, c Config) *oracle {
	qp := &w.Requester
	o := &oracle{requests: newSpace(qp, c), responses: newSpace(qp, c), msn: qp.StartMSN}
	o.responder = receiver{expected: o.requests.una, cap: c.Cap, have: map[psn.Seq]bool{}, lenient: w.Remote.NotReady != nil}
	o.requester = receiver{expected: o.requests.una, cap: c.Cap, have: map[psn.Seq]bool{}}
	return o
}

func isResponseFeedback(op codec.Opcode) bool {
	return op == codec.OpcodeIRNReadAck || op == codec.OpcodeIRNReadNack
}

func (o *oracle) sent(c *transporttest.Copy) error {
	p := &c.Packet
	op := p.BTH.Opcode
	switch {
	case isResponseFeedback(op):
		return o.requester.says(c)
	case c.Dir == transporttest.Forward:
		if err := form(c); err != nil {
			return err
		}
		q := psn.Unwrap(o.requests.una, p.BTH.PSN)
		if q == o.requests.nxt && op.Verb() == codec.VerbAtomic {
			defer func() { o.requests.unanswered[q] = true }()
		}
		return o.requests.sent(c)
	case op.Verb() == codec.VerbReadResponse:
		return o.responses.sent(c)
	}
	if d := int32(p.AETH.MSN-o.msn) << 8 >> 8; d > 0 {
		o.msn = p.AETH.MSN
	} else if d < 0 {
		return fmt.Errorf("%v: MSN %d after %d", c, p.AETH.MSN, o.msn)
	}
	return o.responder.says(c)
}

// form checks that a request says where it belongs.
func form(c *transporttest.Copy) error {
	p := &c.Packet
	switch p.BTH.Opcode.Verb() {
	case codec.VerbWrite:
		if !p.Has(codec.HeaderRETH) || int(p.RETH.DMALen) != p.PayloadLen {
			return fmt.Errorf("%v: RETH %+v with %d bytes", c, p.RETH, p.PayloadLen)
		}
	case codec.VerbSend, codec.VerbRead, codec.VerbAtomic:
		if !p.Has(codec.HeaderIRNETH) {
			return fmt.Errorf("%v: no IRNETH", c)
		}
	default:
		return fmt.Errorf("%v: not a request", c)
	}
	return nil
}

func (o *oracle) arrived(c *transporttest.Copy) error {
	p := &c.Packet
	op := p.BTH.Opcode
	var sack *psn.PSN
	if p.Has(codec.HeaderSackETH) {
		sack = &p.SackETH.SackPSN
	}
	switch {
	case isResponseFeedback(op):
		s := o.responses
		upto := psn.Unwrap(s.una, p.BTH.PSN)
		if sack == nil {
			upto++
		}
		s.heard(c.At, upto, sack)
	case c.Dir == transporttest.Forward:
		o.responder.arrived(p.BTH.PSN)
	case op.Verb() == codec.VerbReadResponse:
		o.requester.arrived(p.BTH.PSN)
		// It speaks for its request too: see run.
	default:
		s := o.requests
		q := psn.Unwrap(s.una, p.BTH.PSN)
		kind := p.AETH.Syndrome.Kind()
		switch {
		case op.Verb() == codec.VerbAtomicAck:
			if s.unanswered[q] {
				delete(s.unanswered, q)
				s.sacked[q] = true
				s.heard(c.At, q+1, nil)
			}
		case sack != nil || kind != codec.KindACK:
			s.heard(c.At, q, sack)
			if kind == codec.KindRNRNAK && q == s.una && q < s.nxt && s.rnrUntil == 0 && !s.owed {
				s.rnrUntil, s.spent = c.At+p.AETH.Syndrome.RNRTimer(), 0
			}
		default:
			s.heard(c.At, q+1, nil)
		}
	}
	return nil
}

// run runs a workload over a link under the eyes of an oracle.
func run(w *transporttest.Workload, l *transporttest.Link, c Config, depth int) (*oracle, error) {
	q := NewRequester(w.Requester, c)
	r := NewResponder(w.Responder, c)
	l.Requester, l.Responder = q, r
	o := newOracle(w, c.withDefaults())
	// The rPSNs and sPSNs of READs, so that a response can speak for its request.
	type of struct{ first, end, at psn.Seq }
	var reads []of
	at, answers := psn.Seq(w.Requester.StartPSN), psn.Seq(w.Requester.StartPSN)
	for i := range w.Work {
		n := psn.Seq(w.Work[i].Packets(w.Requester.MTU))
		if w.Work[i].Verb == transport.Read {
			reads = append(reads, of{answers, answers + n, at})
			answers += n
			n = 1
		}
		at += n
	}
	arrived := l.Arrived
	l.Sent = o.sent
	l.Arrived = func(c *transporttest.Copy) error {
		if arrived != nil {
			arrived(c)
		}
		rp := psn.Unwrap(o.requester.expected, c.Packet.BTH.PSN)
		before := o.requester.expected
		if err := o.arrived(c); err != nil {
			return err
		}
		if c.Packet.BTH.Opcode.Verb() == codec.VerbReadResponse && rp >= before {
			for _, v := range reads {
				if v.first <= rp && rp < v.end {
					o.requests.heard(c.At, v.at+1, nil)
				}
			}
		}
		return nil
	}
	if err := w.PostUpTo(depth, q.Post); err != nil {
		return o, err
	}
	return o, l.Run()
}

// must run a workload, and it must all be done.
func must(t *testing.T, w *transporttest.Workload, l *transporttest.Link, c Config) *oracle {
	t.Helper()
	o, err := run(w, l, c, len(w.Work))
	if err == nil {
		err = w.Check()
	}
	if err == nil {
		err = o.settled(w)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// settled checks what must be true when all is done.
func (o *oracle) settled(w *transporttest.Workload) error {
	if n := len(o.responder.owed) + len(o.requester.owed); n > 0 && !o.responder.lenient {
		return fmt.Errorf("%d NACKs were not sent", n)
	}
	if int(o.msn) != (len(w.Work)+int(w.Responder.StartMSN))&psn.Mask {
		return fmt.Errorf("MSN is %d after %d messages", o.msn, len(w.Work))
	}
	return nil
}
