package gobackn

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// ackEvery is how many packets one acknowledgement answers if none asks for it.
const ackEvery = 16

// Responder accepts the request with the expected PSN, answers those behind it
// again, and drops those ahead of it after one NAK.
//
// A request that it refuses, with an RNR NAK or for good, it refuses each time
// that it comes, and what follows it is dropped without a word. (IBA would have
// a responder fall silent once it has refused for good. This one repeats the
// refusal, so that its loss does not hide the reason.)
type Responder struct {
	Expected psn.Seq // the PSN that it accepts next

	qp      transport.QP
	exec    transport.Executor
	replies transport.Replies
	every   int
	waiting int  // packets accepted since the last acknowledgement
	refused bool // Expected has drawn a NAK and has not come since
}

// NewResponder makes a responder that acknowledges every so many packets, and
// when a packet asks for it; 0 stands for 16.
func NewResponder(qp transport.QP, every int) *Responder {
	if every == 0 {
		every = ackEvery
	}
	r := &Responder{qp: qp, Expected: psn.Seq(qp.StartPSN), every: every}
	r.exec, r.replies = transport.NewExecutor(&r.qp), transport.NewReplies(&r.qp)
	return r
}

// Receive implements transport.Machine.
func (r *Responder) Receive(_ transport.Time, p *transport.Packet) {
	switch s := psn.Unwrap(r.Expected, p.BTH.PSN); {
	case s > r.Expected:
		if !r.refused {
			r.refuse(codec.SyndromePSNSequenceError)
		}
	case s < r.Expected:
		r.repeat(s, p)
	default:
		r.replies.Relent()
		r.refused = false
		r.accept(p)
	}
}

// refuse says that the expected PSN is missing or cannot be executed. It also
// acknowledges everything before.
func (r *Responder) refuse(s codec.Syndrome) {
	r.refused, r.waiting = true, 0
	r.replies.NAK(r.Expected, s, r.exec.MSN)
}

// accept executes the expected request.
func (r *Responder) accept(p *transport.Packet) {
	verb := p.BTH.Opcode.Verb()
	if transport.Answered(verb) && r.replies.Full() {
		r.refuse(codec.SyndromeInvalidRequest)
		return
	}
	if s := r.exec.Execute(p); s != codec.SyndromeACK {
		r.refuse(s)
		return
	}
	at := r.Expected
	r.Expected += psn.Seq(transport.Span(p, r.qp.MTU))
	if transport.Answered(verb) {
		r.waiting = 0
		r.replies.Answer(&r.exec, at, p, false)
		return
	}
	if r.waiting++; p.BTH.AckReq || r.waiting >= r.every {
		r.acknowledge()
	}
}

// acknowledge says that everything before Expected has been executed.
func (r *Responder) acknowledge() {
	r.waiting = 0
	r.replies.ACK(r.Expected-1, r.exec.MSN)
}

// repeat answers a duplicate: data is acknowledged and not placed again, a READ
// is served from memory, from its middle too, an atomic is told what it found
// when it was executed (IBA 9.7.5.1.4).
func (r *Responder) repeat(s psn.Seq, p *transport.Packet) {
	if !transport.Answered(p.BTH.Opcode.Verb()) {
		r.acknowledge()
		return
	}
	if s+psn.Seq(transport.Span(p, r.qp.MTU)) <= r.Expected {
		r.replies.Answer(&r.exec, s, p, true)
	}
}

// Ready implements transport.Machine.
func (r *Responder) Ready(transport.Time) transport.Ready {
	if r.replies.Pending() {
		return transport.Reply
	}
	return transport.Idle
}

// Next implements transport.Machine.
func (r *Responder) Next(_ transport.Time, p *transport.Packet) { r.replies.Next(p) }

// Wake implements transport.Machine. A responder has no timer.
func (r *Responder) Wake() transport.Time { return transport.Never }
