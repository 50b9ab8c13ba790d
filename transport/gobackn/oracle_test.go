package gobackn

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/transporttest"
)

// oracle watches a link and knows the rules of go-back-N. It keeps its own
// books, PSN by PSN, from what passes on the wire alone.
type oracle struct {
	qp     transport.QP
	window int
	start  psn.Seq
	places []place // of each PSN from start on

	// The requester, as the wire shows it.
	una, nxt, cursor psn.Seq
	causes           map[string]bool // that allow to go back to una
	since            transport.Time  // when una was sent last, or became the oldest
	sentUna          bool            // una was sent since the last resend began
	owed             bool            // a resend was due when una moved: the rest of it still is
	rnrUntil         transport.Time
	spent, spentRNR  int // retries without progress
	first            map[psn.Seq][]byte
	fed              map[psn.Seq]bool // NAKs that were obeyed since una moved

	// The responder.
	expected psn.Seq
	latest   psn.Seq // the one that was expected last
	nakked   bool    // a NAK for expected was sent
	newest   psn.Seq

	resends, reads int
}

// place is what a PSN belongs to.
type place struct {
	message  int
	from     psn.Seq // the message's first PSN
	end      psn.Seq
	answered bool
}

func newOracle(w *transporttest.Workload, window int) *oracle {
	o := &oracle{qp: w.Requester, window: window, start: psn.Seq(w.Requester.StartPSN), causes: map[string]bool{}, first: map[psn.Seq][]byte{}, fed: map[psn.Seq]bool{}}
	o.una, o.nxt, o.cursor, o.expected = o.start, o.start, o.start, o.start
	for i := range w.Work {
		n := w.Work[i].Packets(o.qp.MTU)
		from := o.start + psn.Seq(len(o.places))
		for range n {
			o.places = append(o.places, place{i, from, from + psn.Seq(n), w.Work[i].Verb >= transport.Read})
		}
	}
	return o
}

func (o *oracle) of(s psn.Seq) *place {
	if s < o.start || s >= o.start+psn.Seq(len(o.places)) {
		return nil
	}
	return &o.places[s-o.start]
}

func (o *oracle) sent(c *transporttest.Copy) error {
	if c.Dir == transporttest.Backward {
		return o.sentBackward(c)
	}
	s := psn.Unwrap(o.nxt, c.Packet.BTH.PSN)
	at := o.of(s)
	if at == nil {
		return fmt.Errorf("%v: no such PSN", c)
	}
	if c.At < o.rnrUntil {
		return fmt.Errorf("%v: sent before the RNR timer ends at %v", c, o.rnrUntil)
	}
	if s < o.una {
		return fmt.Errorf("%v: sent though all before %d is acknowledged", c, o.una)
	}
	if o.rnrUntil != 0 {
		o.causes["rnr"], o.rnrUntil = true, 0
	}
	if s != max(o.cursor, o.una) {
		timeout := o.sentUna && o.qp.AckTimeout > 0 && c.At >= o.since+o.qp.AckTimeout
		switch {
		case s != o.una:
			return fmt.Errorf("%v: next in order is %d, oldest outstanding %d", c, max(o.cursor, o.una), o.una)
		case !timeout && !o.owed && len(o.causes) == 0:
			return fmt.Errorf("%v: resent for no reason; next in order was %d", c, o.cursor)
		}
		switch {
		case o.causes["rnr"]:
			o.spentRNR++
		case timeout || len(o.causes) > 0:
			o.spent++
		}
		if o.spent > o.qp.RetryCount || o.qp.RNRRetryCount != 7 && o.spentRNR > o.qp.RNRRetryCount {
			return fmt.Errorf("%v: retry %d, RNR retry %d", c, o.spent, o.spentRNR)
		}
	}
	if fresh := s == o.nxt; fresh != (c.Ready == transport.Fresh) {
		return fmt.Errorf("%v: said to be %d, next new PSN is %d", c, c.Ready, o.nxt)
	} else if fresh && o.window > 0 && int(o.nxt-o.una) >= o.window {
		return fmt.Errorf("%v: %d PSNs outstanding, window %d", c, o.nxt-o.una, o.window)
	} else if !fresh {
		o.resends++
	}
	if err := o.same(c, s, at); err != nil {
		return err
	}
	clear(o.causes)
	o.owed = false
	o.cursor = s + 1
	if at.answered {
		o.cursor = at.end
	}
	o.nxt = max(o.nxt, o.cursor)
	if s == o.una {
		o.since, o.sentUna = c.At, true
	}
	// READs and atomics outstanding.
	o.reads = 0
	for q, last := o.una, -1; q < o.nxt; q++ {
		if p := o.of(q); p.answered && p.message != last {
			o.reads++
			last = p.message
		}
	}
	if o.reads > o.qp.ReadLimit {
		return fmt.Errorf("%v: %d READs and atomics outstanding", c, o.reads)
	}
	return nil
}

// same holds a resent packet against the first copy. A READ from its middle
// moves VA and length.
func (o *oracle) same(c *transporttest.Copy, s psn.Seq, at *place) error {
	p := c.Packet
	if at.answered && s > at.from {
		off := int(s-at.from) * o.qp.MTU
		p.BTH.PSN = at.from.PSN()
		p.RETH.VA -= uint64(off)
		p.RETH.DMALen += uint32(off)
		s = at.from
	}
	b, err := p.AppendBinary(nil)
	if err != nil {
		return err
	}
	if was, ok := o.first[s]; ok && !bytes.Equal(was, b) {
		return fmt.Errorf("%v: not the packet that was sent before", c)
	}
	o.first[s] = b
	return nil
}

// sentBackward checks the responder: what it says fits what has arrived.
func (o *oracle) sentBackward(c *transporttest.Copy) error {
	s := psn.Unwrap(o.expected, c.Packet.BTH.PSN)
	if c.Packet.BTH.Opcode.Verb() != codec.VerbAck {
		if s >= o.expected {
			return fmt.Errorf("%v: answers what has not arrived", c)
		}
		return nil
	}
	syndrome := c.Packet.AETH.Syndrome
	switch kind := syndrome.Kind(); {
	case kind == codec.KindRNRNAK, kind == codec.KindNAK && !syndrome.IsSequenceNAK():
		// It was counted as arrived; it was refused.
		o.expected, o.nakked = s, true
	case kind == codec.KindNAK && s != o.expected:
		return fmt.Errorf("%v: the first missing PSN is %d", c, o.expected)
	case kind == codec.KindNAK && o.nakked:
		return fmt.Errorf("%v: a second NAK", c)
	case kind == codec.KindNAK:
		o.nakked = true
	case s >= o.expected:
		return fmt.Errorf("%v: acknowledges %d, which has not arrived", c, o.expected)
	case s < o.newest:
		return fmt.Errorf("%v: acknowledged up to %d before", c, o.newest)
	default:
		o.newest = s
	}
	return nil
}

func (o *oracle) arrived(c *transporttest.Copy) error {
	if c.Dir == transporttest.Forward {
		if s := psn.Unwrap(o.expected, c.Packet.BTH.PSN); s == o.expected {
			o.nakked, o.latest = false, s
			o.expected++
			if at := o.of(s); at.answered {
				o.expected = at.end
			}
		}
		return nil
	}
	s := psn.Unwrap(o.una, c.Packet.BTH.PSN)
	if s < o.una || s >= o.nxt {
		return nil
	}
	before, through := o.una, s
	kind := c.Packet.AETH.Syndrome.Kind()
	answer := c.Packet.BTH.Opcode.Verb() != codec.VerbAck
	if answer || kind != codec.KindACK {
		through--
	}
	for o.una <= through && !o.of(o.una).answered {
		o.una++
	}
	missing := o.una <= through
	if o.una != before {
		o.moved(c.At)
	}
	if missing {
		o.causes["implied"] = true
		return nil
	}
	switch {
	case answer && s == o.una:
		o.una++
		o.moved(c.At)
	case !answer && kind == codec.KindNAK && !o.fed[s]:
		o.causes["nak"], o.fed[s] = true, true
	case !answer && kind == codec.KindRNRNAK && o.rnrUntil == 0:
		o.rnrUntil, o.spent = c.At+c.Packet.AETH.Syndrome.RNRTimer(), 0
		clear(o.causes)
	}
	return nil
}

// moved is progress.
func (o *oracle) moved(now transport.Time) {
	timeout := o.sentUna && o.qp.AckTimeout > 0 && now >= o.since+o.qp.AckTimeout
	o.owed = o.owed || timeout || len(o.causes) > 0 || o.rnrUntil != 0
	clear(o.causes)
	clear(o.fed)
	o.spent, o.spentRNR, o.rnrUntil, o.since = 0, 0, 0, now
	o.sentUna = o.cursor > o.una
}

// run runs a workload over a link under the eyes of an oracle.
func run(w *transporttest.Workload, l *transporttest.Link, window, every, depth int) (*oracle, error) {
	q := NewRequester(w.Requester, window)
	l.Requester, l.Responder = q, NewResponder(w.Responder, every)
	o := newOracle(w, window)
	if ready := w.Remote.NotReady; ready != nil {
		w.Remote.NotReady = func(n int) bool {
			refused := ready(n)
			if refused { // what has just arrived is not accepted
				o.expected, o.nakked = o.latest, true
			}
			return refused
		}
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
	if err := w.PostUpTo(depth, q.Post); err != nil {
		return o, err
	}
	return o, l.Run()
}

// must run a workload, and it must all be done.
func must(t *testing.T, w *transporttest.Workload, l *transporttest.Link) *oracle {
	t.Helper()
	o, err := run(w, l, 0, 16, len(w.Work))
	if err == nil {
		err = w.Check()
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}
