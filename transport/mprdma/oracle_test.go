package mprdma

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/transporttest"
)

// copied is what the oracle knows of a packet in flight.
type copied struct {
	at    transport.Time
	acked bool
	n     int
	first []byte
	sync  bool
}

// oracle watches a link and knows the rules of MP-RDMA, from what passes on the
// wire alone.
type oracle struct {
	config Config
	qp     transport.QP
	way    transport.Time // the shortest one way

	// The sender.
	una, nxt   psn.Seq
	flight     map[psn.Seq]*copied
	order      []psn.Seq // those in flight
	cwnd       float64
	inflate    int            // packets in flight that are acknowledged: no less than the rule's count
	released   map[uint16]int // packets that acknowledgements have released on a path
	clock      transport.Time // the last acknowledgement or spray
	recovering bool
	recovery   psn.Seq
	began      transport.Time // when it entered recovery, or its timer last ended
	since      transport.Time
	spent      int
	rnrUntil   transport.Time
	owes       map[psn.Seq]bool // PSNs of requests whose answers have not come
	work       map[psn.Seq]transport.WorkRequest
	posted     psn.Seq // the end of what was posted

	// The receiver.
	head   psn.Seq
	have   map[psn.Seq]psn.Seq // what waits in slots, and where it ends
	says   []said
	msn    uint32
	loose  bool // it may refuse
	resent []psn.PSN
	paths  map[uint16]int
	nacks  int
	early  int
}

// said is what the receiver must say.
type said struct {
	op        codec.Opcode
	at        psn.PSN
	path      uint16
	ece, retx bool
	aack      psn.PSN
}

func newOracle(w *transporttest.Workload, c Config) *oracle {
	start := psn.Seq(w.Requester.StartPSN)
	return &oracle{
		config: c, qp: w.Requester, una: start, nxt: start, head: start, flight: map[psn.Seq]*copied{},
		cwnd: c.Window, released: map[uint16]int{}, clock: math.MinInt64 / 2, owes: map[psn.Seq]bool{},
		have: map[psn.Seq]psn.Seq{}, msn: w.Responder.StartMSN, loose: w.Remote.NotReady != nil, paths: map[uint16]int{},
	}
}

func (o *oracle) awnd() int { return int(math.Floor(o.cwnd)) + o.inflate - len(o.order) }

func (o *oracle) sent(c *transporttest.Copy) error {
	if c.Dir == transporttest.Backward {
		return o.sentBackward(c)
	}
	p := &c.Packet
	b, err := p.AppendBinary(nil)
	if err != nil {
		return err
	}
	if int(p.Path) >= o.config.Paths {
		return fmt.Errorf("%v: path %d", c, p.Path)
	}
	if c.At < o.rnrUntil {
		return fmt.Errorf("%v: sent before the RNR timer ends at %v", c, o.rnrUntil)
	}
	if o.rnrUntil != 0 {
		o.rnrUntil = 0
		o.recovering, o.recovery, o.began = true, o.nxt, c.At
	}
	o.paths[p.Path]++
	s := psn.Unwrap(o.una, p.BTH.PSN)
	if s == o.nxt {
		switch {
		case p.BTH.ReTx || c.Ready != transport.Fresh:
			return fmt.Errorf("%v: new, and called a resend", c)
		case o.recovering:
			return fmt.Errorf("%v: new in recovery until %d", c, o.recovery)
		case o.awnd() < 1 && o.released[p.Path] <= 0:
			return fmt.Errorf("%v: new, with cwnd %v, inflate %d, %d in flight", c, o.cwnd, o.inflate, len(o.order))
		}
		if len(o.order) == 0 {
			o.since = c.At
		}
		o.released[p.Path]--
		o.flight[s] = &copied{at: c.At, n: 1, first: b, sync: p.BTH.Synchronise}
		o.order = append(o.order, s)
		o.nxt += psn.Seq(transport.Span(p, o.qp.MTU))
		if v := p.BTH.Opcode.Verb(); v == codec.VerbRead || v == codec.VerbAtomic {
			for q := s; q < o.nxt; q++ {
				o.owes[q] = true
			}
		}
		return nil
	}
	if !p.BTH.ReTx || c.Ready != transport.Resend {
		return fmt.Errorf("%v: a resend, and not called one", c)
	}
	o.resent = append(o.resent, p.BTH.PSN)
	v := o.flight[s]
	if v == nil {
		if !o.owes[s] {
			return fmt.Errorf("%v: resent, and all before %d is acknowledged", c, o.una)
		}
		return nil // asks for an answer again
	}
	late := o.qp.AckTimeout > 0 && c.At >= o.since+o.qp.AckTimeout
	if late {
		o.since += o.qp.AckTimeout // the port may have been busy since
		if una := o.flight[o.una]; una != nil && una.acked {
			una.acked = false // the cumulative point says that it is missing
			o.inflate--
		}
		o.spent++
		o.recovering, o.recovery, o.began = true, o.nxt, c.At
		if o.spent > o.qp.RetryCount {
			return fmt.Errorf("%v: timeout %d", c, o.spent)
		}
	}
	if v.acked {
		return fmt.Errorf("%v: resent, and acknowledged", c)
	}
	if o.recovering && v.at > o.began && c.At-v.at < 2*o.way && !v.sync {
		return fmt.Errorf("%v: resent again in the same recovery, %v after its last copy", c, c.At-v.at)
	}
	if !o.recovering && c.At-v.at < 2*o.way {
		return fmt.Errorf("%v: resent early, %v after its last copy", c, c.At-v.at)
	}
	if !o.recovering && o.awnd() < 1 && o.released[p.Path] <= 0 {
		return fmt.Errorf("%v: resent early with cwnd %v, inflate %d, %d in flight", c, o.cwnd, o.inflate, len(o.order))
	}
	if !o.recovering && o.nxt < o.posted && o.work[o.nxt].Verb < transport.Read { // too many of those may be outstanding
		return fmt.Errorf("%v: resent early, and there is something new to send", c)
	}
	if !o.recovering {
		o.released[p.Path]--
	}
	b[8] &^= 0x20
	if !bytes.Equal(b, v.first) {
		return fmt.Errorf("%v: not the packet that was sent before", c)
	}
	v.at = c.At
	v.n++
	return nil
}

// sentBackward holds what the receiver says against what arrived.
func (o *oracle) sentBackward(c *transporttest.Copy) error {
	p := &c.Packet
	op := p.BTH.Opcode
	if d := int32(p.AETH.MSN-o.msn) << 8 >> 8; op.Verb() == codec.VerbAck && d < 0 {
		return fmt.Errorf("%v: MSN %d after %d", c, p.AETH.MSN, o.msn)
	} else if d > 0 {
		o.msn = p.AETH.MSN
	}
	if op != codec.OpcodeMPRDMAAck && op != codec.OpcodeMPRDMANack || o.loose {
		return nil
	}
	got := said{op, p.BTH.PSN, p.Path, p.MPETH.ECE, p.MPETH.ReTxEcho, p.MPETH.AACK}
	if len(o.says) == 0 || o.says[0] != got {
		return fmt.Errorf("%v: %+v, want %+v", c, got, o.says)
	}
	o.says = o.says[1:]
	return nil
}

func (o *oracle) arrived(c *transporttest.Copy) error {
	p := &c.Packet
	if c.Dir == transporttest.Forward {
		o.takes(p)
		return nil
	}
	s := psn.Unwrap(o.una, p.BTH.PSN)
	switch op := p.BTH.Opcode; {
	case op == codec.OpcodeMPRDMAAck:
		o.clock = c.At
		if p.MPETH.ECE {
			o.cwnd -= 0.5
		} else {
			o.cwnd += 1 / o.cwnd
		}
		o.cwnd = max(1, o.cwnd)
		if v := o.flight[s]; v != nil && !v.acked {
			v.acked = true
			o.inflate++
		}
		o.upto(c.At, psn.Unwrap(o.una, p.MPETH.AACK)+1)
		if o.released[p.Path] < 0 {
			o.released[p.Path] = 0
		}
		o.released[p.Path] += max(0, min(2, o.awnd()))
	case op == codec.OpcodeMPRDMANack:
		o.nacks++
		o.upto(c.At, psn.Unwrap(o.una, p.MPETH.AACK)+1)
		if v := o.flight[s]; v != nil && !v.acked {
			if v.sync {
				o.early++
			}
			if !o.recovering && o.rnrUntil == 0 {
				o.recovering, o.recovery, o.began = true, o.nxt, c.At
			}
		}
	case op.Verb() == codec.VerbReadResponse || op.Verb() == codec.VerbAtomicAck:
		if !o.owes[s] {
			break
		}
		end := s + 1
		for o.owes[end] && !o.begins(end) {
			end++
		}
		o.upto(c.At, end)
		if !o.owes[s-1] || o.begins(s) {
			delete(o.owes, s)
		}
	case p.AETH.Syndrome.Kind() == codec.KindRNRNAK:
		o.upto(c.At, s)
		if v := o.flight[s]; v != nil && s == o.una && o.rnrUntil == 0 {
			if v.acked {
				o.inflate--
			}
			o.rnrUntil, v.acked, o.spent = c.At+p.AETH.Syndrome.RNRTimer(), false, 0
			o.since = o.rnrUntil
		}
	}
	return nil
}

func (o *oracle) begins(s psn.Seq) bool { _, ok := o.work[s]; return ok }

// upto moves the cumulative point.
func (o *oracle) upto(now transport.Time, to psn.Seq) {
	if to <= o.una || to > o.nxt {
		return
	}
	for len(o.order) > 0 && o.order[0] < to {
		if o.flight[o.order[0]].acked {
			o.inflate--
		}
		delete(o.flight, o.order[0])
		o.order = o.order[1:]
	}
	o.una, o.since, o.spent, o.rnrUntil = to, now, 0, 0
	if o.recovering && to >= o.recovery {
		o.recovering = false
	}
}

// takes is the receiver's side of an arrival.
func (o *oracle) takes(p *transport.Packet) {
	s := psn.Unwrap(o.head, p.BTH.PSN)
	say := said{op: codec.OpcodeMPRDMAAck, at: p.BTH.PSN, path: p.Path, ece: p.CE, retx: p.BTH.ReTx}
	switch {
	case s >= o.head+psn.Seq(o.config.Slots):
		say.op, say.at = codec.OpcodeMPRDMANack, o.head.PSN()
	case s > o.head && p.BTH.Synchronise:
		say.op = codec.OpcodeMPRDMANack
	case s >= o.head:
		o.have[s] = s + psn.Seq(transport.Span(p, o.qp.MTU))
		for o.have[o.head] != 0 {
			end := o.have[o.head]
			delete(o.have, o.head)
			o.head = end
		}
	}
	say.aack = (o.head - 1).PSN()
	o.says = append(o.says, say)
}

// run runs a workload over a link under the eyes of an oracle.
func run(w *transporttest.Workload, l *transporttest.Link, c Config, depth int) (*oracle, error) {
	q := NewRequester(w.Requester, c)
	l.Requester, l.Responder = q, NewResponder(w.Responder, c)
	o := newOracle(w, c.withDefaults())
	o.way = 2_000
	o.work = map[psn.Seq]transport.WorkRequest{}
	at := psn.Seq(w.Requester.StartPSN)
	for _, v := range w.Work {
		o.work[at] = v
		at += psn.Seq(v.Packets(w.Requester.MTU))
	}
	sent, arrived := l.Sent, l.Arrived
	l.Sent = func(c *transporttest.Copy) error {
		if sent != nil {
			sent(c)
		}
		return o.sent(c)
	}
	l.Arrived = func(c *transporttest.Copy) error {
		if arrived != nil {
			arrived(c)
		}
		return o.arrived(c)
	}
	o.posted = o.nxt
	post := func(r transport.WorkRequest) error {
		o.posted += psn.Seq(r.Packets(w.Requester.MTU))
		return q.Post(r)
	}
	if err := w.PostUpTo(depth, post); err != nil {
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
	if len(o.says) > 0 && !o.loose {
		return fmt.Errorf("%d acknowledgements were not sent", len(o.says))
	}
	if int(o.msn) != (len(w.Work)+int(w.Responder.StartMSN))&psn.Mask {
		return fmt.Errorf("MSN is %d after %d messages", o.msn, len(w.Work))
	}
	return nil
}
