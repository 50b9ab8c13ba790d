package windowless

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// Responder is the receiving side. It implements transport.Machine.
type Responder struct {
	qp      transport.QP
	params  Params
	exec    transport.Executor
	replies transport.Replies
	failed  bool // a request was refused for good

	next psn.Seq // the first PSN that is not executed
	had  psn.Set // what came above it, and in literal mode everything: the duplicate test
	held map[psn.Seq]*transport.Packet
	free []*transport.Packet

	batch batch
}

// NewResponder makes the receiving side of a queue pair.
func NewResponder(qp transport.QP, params Params) *Responder {
	r := &Responder{qp: qp, params: params, next: psn.Seq(qp.StartPSN), held: map[psn.Seq]*transport.Packet{}}
	r.exec, r.replies = transport.NewExecutor(&r.qp), transport.NewReplies(&r.qp)
	return r
}

// Receive takes a request packet.
func (r *Responder) Receive(now transport.Time, p *transport.Packet) {
	if r.failed || p.BTH.Opcode.Response() {
		return
	}
	at := psn.Unwrap(r.next, p.BTH.PSN)
	span := psn.Span{First: at, Last: at + psn.Seq(transport.Span(p, r.qp.MTU)) - 1}
	switch {
	case at < r.next:
		r.replies.Answer(&r.exec, at, p, true)
		r.again(now)
	case r.had.Contains(at) && r.held[at] == nil:
		// Literal only: reported, but not kept.
	case r.had.Contains(at) && at != r.next:
		r.again(now)
	case at == r.next:
		// New, or refused before for want of a receive.
		r.advance(now, p, span)
	case len(r.held) < r.params.hold():
		r.keep(at, p)
		r.merge(now, span)
	case r.params.Mode == Literal:
		r.merge(now, span) // its list knows nothing of what is kept
	}
}

// advance executes the packet that is next, and what waited for it. What is
// refused for want of a receive must come again; it counts as received only if
// it had been reported before.
func (r *Responder) advance(now transport.Time, p *transport.Packet, span psn.Span) {
	fresh := !r.had.Contains(span.First)
	if !r.execute(p) {
		return
	}
	r.drop(span.First)
	r.next = span.Last + 1
	for h := r.held[r.next]; h != nil; h = r.held[r.next] {
		at := r.next
		end := at + psn.Seq(transport.Span(h, r.qp.MTU))
		if !r.execute(h) {
			break
		}
		r.drop(at)
		r.next = end
	}
	if r.params.Mode == Anchored {
		r.had.Remove(psn.Span{First: span.First, Last: r.next - 1})
		r.batch.spans = len(r.had.Spans())
		r.count(now)
	} else if fresh {
		r.merge(now, span)
	}
}

// execute executes the packet at next and reports whether that went well.
func (r *Responder) execute(p *transport.Packet) bool {
	switch s := r.exec.Execute(p); {
	case s == codec.SyndromeACK:
	default:
		r.failed = s.Kind() == codec.KindNAK
		r.replies.NAK(r.next, s, r.exec.MSN)
		return false
	}
	r.replies.Answer(&r.exec, r.next, p, false)
	return true
}

// keep copies a packet that came before its turn.
func (r *Responder) keep(at psn.Seq, p *transport.Packet) {
	var h *transport.Packet
	if n := len(r.free); n > 0 {
		h, r.free = r.free[n-1], r.free[:n-1]
	} else {
		h = new(transport.Packet)
	}
	*h = *p
	r.held[at] = h
}

// drop forgets a packet that was kept, if it was.
func (r *Responder) drop(at psn.Seq) {
	if h := r.held[at]; h != nil {
		delete(r.held, at)
		r.free = append(r.free, h)
	}
}

// Ready implements transport.Machine.
func (r *Responder) Ready(now transport.Time) transport.Ready {
	if r.params.Mode == Anchored && r.batch.packets > 0 && now >= r.batch.start+r.params.Period {
		r.batch.due = true
	}
	if r.batch.due || r.replies.Pending() {
		return transport.Reply
	}
	return transport.Idle
}

// Next implements transport.Machine. A report goes before answers: it says what
// has arrived, not what is answered.
func (r *Responder) Next(now transport.Time, p *transport.Packet) {
	if r.batch.due {
		r.report(now, p)
		return
	}
	r.replies.Next(p)
	if p.BTH.Opcode.Verb() == codec.VerbAtomicAck && r.params.Mode == Anchored {
		r.attach(now, p)
	}
}

// Wake implements transport.Machine.
func (r *Responder) Wake() transport.Time {
	switch {
	case r.batch.due || r.replies.Pending():
		return 0
	case r.params.Mode == Anchored && r.batch.packets > 0:
		return r.batch.start + r.params.Period
	}
	return transport.Never
}
