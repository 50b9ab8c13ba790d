package conform

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// requester is what is kept of the requests.
type requester struct {
	on       bool
	first    psn.Seq // the first one seen
	firstOp  codec.Opcode
	firstAt  int     // its frame
	top      psn.Seq // one past the highest one seen
	cursor   psn.Seq // what continues the present run
	running  bool    // cursor is known
	previous previous
	message  message

	retryAt   psn.Seq // where the last runs began
	retries   int     // how many of them
	retryFrom int     // frame of the first
	moved     int64   // time of the last progress, or of the last run's beginning
}

// previous is the request before the one at hand.
type previous struct {
	seq, next psn.Seq
	op        codec.Opcode
	frame     int
	known     bool
	sized     bool // next is known
	hasRETH   bool
	reth      codec.RETH
	time      int64
	fresh     bool // no copy of it was seen before
}

// request judges a request packet.
func (c *Checker) request(w *flow) {
	f, p := c.f, &c.packet
	s, op := f.Seq, f.BTH.Opcode
	n, sized := 1, true
	if op.Verb() == codec.VerbRead && op.Service() != codec.IRN {
		if n, sized = 0, false; p.Has(codec.HeaderRETH) {
			n, sized = w.handle.Packets(p.RETH.DMALen)
		}
	}
	if !w.on {
		w.on, w.first, w.top, w.moved = true, s, s, f.Packet.Time
		w.firstOp, w.firstAt = op, f.Packet.Number
	}
	w.size()
	fresh := s >= w.top
	c.sends(w, s, fresh)
	c.messages(w, s)
	goBackN := w.handle.Transport() == "go-back-n" && w.handle.Service() != codec.UC
	if fresh {
		w.batches.passes(c.here(), &c.config.Thresholds)
		if s > w.top && (!w.previous.known || w.previous.sized) {
			w.holes += int(s - w.top)
		}
	}
	switch w.handle.Transport() {
	case "irn":
		if fresh {
			c.inFlight(w, s)
		}
		c.asks(w, s)
		c.irnRequest(w, s, fresh)
		c.arrives(w, s, n, sized)
	case "mp-rdma":
		c.mpRequest(w, s, fresh)
		c.arrives(w, s, n, sized)
	case "windowless":
		c.tcRequest(w, s, fresh)
	}
	if goBackN && w.running {
		c.order(w, s)
	}
	next := s + psn.Seq(max(n, 1))
	w.top = max(w.top, next)
	w.cursor, w.running = next, sized
	w.previous = previous{seq: s, next: next, op: op, frame: f.Packet.Number, time: f.Packet.Time, fresh: fresh && !f.BTH.ReTx, known: true, sized: sized, hasRETH: p.Has(codec.HeaderRETH), reth: p.RETH}
	if goBackN {
		c.arrive(w, n, sized)
	} else if w.expected != nil {
		w.leaveModel()
	}
}

// answered reports whether a request has an answer of its own, for which it is
// sent again though it was acknowledged.
func answered(op codec.Opcode) bool {
	switch op.Verb() {
	case codec.VerbRead, codec.VerbAtomic, codec.VerbAtomicWrite, codec.VerbFlush:
		return true
	}
	return false
}

// size learns how many PSNs the READ before takes, where an answer to it has told
// the path MTU since.
func (w *flow) size() {
	q := &w.previous
	if !q.known || q.sized || q.op.Verb() != codec.VerbRead {
		return
	}
	if n, ok := w.handle.Packets(q.reth.DMALen); ok && q.hasRETH {
		q.next, q.sized = q.seq+psn.Seq(n), true
		w.cursor, w.running, w.top = q.next, true, max(w.top, q.next)
	}
}

// order judges where the request stands among those before.
func (c *Checker) order(w *flow, s psn.Seq) {
	if s < w.cursor {
		c.run(w, s)
		return
	}
	// What is acknowledged need not be sent again.
	if out := (psn.Span{First: max(w.cursor, w.acked), Last: min(s, w.top) - 1}); w.cursor < w.top && out.Len() > 0 {
		c.doubt(w, ifBySender, resendInOrder, say("%s left out of the resend, which goes on with %s", span(out), s.PSN()), w.previous.frame)
	}
}

// run judges the beginning of a resend.
func (c *Checker) run(w *flow, s psn.Seq) {
	read := c.f.BTH.Opcode.Verb() == codec.VerbRead
	switch {
	case !w.heard, w.points.allows(s), s < w.first:
	case answered(c.f.BTH.Opcode), w.answers > 0 && s < w.acked: // a response is missing: the request goes back to that
	case w.refusal.frame > 0 && w.refusal.seq >= w.acked:
		c.doubt(w, ifBySender, resendStartsAtNAK, say("resend begins at %s, the NAK names %s", s.PSN(), w.refusal.seq.PSN()), w.refusal.frame)
	default: // what a timer resends first may be lost before the tap
		c.doubt(w, ifSurelySender, resendStartsAtNAK, say("resend begins at %s, the oldest PSN not acknowledged is %s", s.PSN(), w.acked.PSN()), w.points.where.frame)
	}
	asked := w.asked && w.askedFor == s
	if w.notReady && w.refusal.seq == s {
		asked = true
		w.retries, w.retryFrom = 0, 0
	} else {
		c.retry(w, s)
	}
	if timer := w.handle.AckTimeout().Nanoseconds(); timer > 0 && !asked && !read {
		if waited := c.f.Packet.Time - w.moved; waited >= 0 && waited < timer/4*3 {
			c.found(w, earlyTimeout, Notes, say("resent from %s after %s, the ACK timeout is %s", s.PSN(), nanos(waited), nanos(timer)), w.points.where.frame)
		}
	}
	w.moved, w.asked = c.f.Packet.Time, false
}

// retry counts the resends from one PSN.
func (c *Checker) retry(w *flow, s psn.Seq) {
	if w.retryFrom == 0 || s != w.retryAt {
		w.retryAt, w.retries, w.retryFrom = s, 0, c.f.Packet.Number
	}
	w.retries++
	if limit := w.handle.RetryCount(); limit >= 0 && w.retries == limit+1 {
		c.found(w, retryCount, Violates, say("resent from %s for the %d. time, the retry count is %d", s.PSN(), w.retries, limit), w.retryFrom)
	}
}
