package mprdma

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// Responder takes packets in any order within a ring of slots and acknowledges
// each on its own path.
type Responder struct {
	Head psn.Seq // the lowest PSN that has not arrived

	// Completed counts the receives that messages have consumed, in order: the
	// completions of the receive queue.
	Completed int

	qp      transport.QP
	exec    transport.Executor
	replies transport.Replies
	slots   []slot
	reports transport.Ring[report]
	routes  []route // of the newest READs and atomics
	oldest  int
}

// slot is a place in the ring: its two bits, and the packet that waits there.
type slot struct {
	state  state
	packet transport.Packet
}

// state is what is known of a slot's packet.
type state uint8

const (
	empty          state = iota
	received             // not the last of its message
	tail                 // the last of its message
	tailCompletion       // the last of a message that consumes a receive
)

func stateOf(op codec.Opcode) state {
	switch {
	case !op.Ends():
		return received
	case op.Verb() == codec.VerbSend || op.Headers().Has(codec.HeaderImmDt):
		return tailCompletion
	}
	return tail
}

// route is the path on which a request came: its answer goes there too.
type route struct {
	first, end psn.Seq
	path       uint16
}

// report is an acknowledgement that waits to be sent.
type report struct {
	op       codec.Opcode
	at       psn.PSN
	path     uint16
	syndrome codec.Syndrome
	msn      uint32
	mp       codec.MPETH
}

// mostReports is how many acknowledgements may wait to be sent.
const mostReports = 1024

// NewResponder makes a responder.
func NewResponder(qp transport.QP, c Config) *Responder {
	r := &Responder{Head: psn.Seq(qp.StartPSN), qp: qp, slots: make([]slot, c.withDefaults().Slots)}
	r.exec, r.replies = transport.NewExecutor(&r.qp), transport.NewReplies(&r.qp)
	r.routes = make([]route, 0, 2*r.qp.MaxReads())
	return r
}

func (r *Responder) slot(s psn.Seq) *slot {
	n := psn.Seq(len(r.slots))
	return &r.slots[((s%n)+n)%n]
}

// Receive implements transport.Machine.
func (r *Responder) Receive(_ transport.Time, p *transport.Packet) {
	op := p.BTH.Opcode
	if op.Response() {
		return
	}
	s := psn.Unwrap(r.Head, p.BTH.PSN)
	switch at := r.slot(s); {
	case s < r.Head:
		r.ack(p)
		r.repeat(s, p)
	case s == r.Head:
		if syndrome := r.execute(p); syndrome != codec.SyndromeACK {
			r.refuse(p.Path, syndrome)
			return
		}
		refused, path := r.advance()
		r.ack(p)
		if refused != codec.SyndromeACK {
			r.refuse(path, refused)
		}
	case s >= r.Head+psn.Seq(len(r.slots)):
		r.nack(p, r.Head)
	case p.BTH.Synchronise:
		r.nack(p, s)
	default:
		if at.state == empty || at.packet.BTH.PSN != p.BTH.PSN { // or left from inside a READ
			at.state, at.packet = stateOf(op), *p
		}
		r.ack(p)
	}
}

// execute executes the packet at the head and moves the head behind it.
func (r *Responder) execute(p *transport.Packet) codec.Syndrome {
	answered := answered(p.BTH.Opcode.Verb())
	if answered && r.replies.Full() {
		return codec.SyndromeInvalidRequest
	}
	if s := r.exec.Execute(p); s != codec.SyndromeACK {
		return s
	}
	at := r.Head
	r.Head += psn.Seq(transport.Span(p, r.qp.MTU))
	if stateOf(p.BTH.Opcode) == tailCompletion {
		r.Completed++
	}
	if answered {
		r.answer(at, p, false)
	}
	return codec.SyndromeACK
}

// advance executes what waits in the slots from the head on. It gives why it
// refused a packet, and the path on which that had come.
func (r *Responder) advance() (codec.Syndrome, uint16) {
	for {
		at := r.slot(r.Head)
		if at.state == empty || at.packet.BTH.PSN != r.Head.PSN() {
			return codec.SyndromeACK, 0
		}
		at.state = empty
		if s := r.execute(&at.packet); s != codec.SyndromeACK {
			return s, at.packet.Path
		}
	}
}

// repeat answers a duplicate again: a READ from memory, from its middle too, an
// atomic with what it found.
func (r *Responder) repeat(s psn.Seq, p *transport.Packet) {
	if answered(p.BTH.Opcode.Verb()) && s+psn.Seq(transport.Span(p, r.qp.MTU)) <= r.Head {
		r.answer(s, p, true)
	}
}

// answer queues what a READ, an atomic, a FLUSH or an ATOMIC WRITE is answered
// with, on the path on which it came.
func (r *Responder) answer(at psn.Seq, p *transport.Packet, again bool) {
	v := route{at, at + psn.Seq(transport.Span(p, r.qp.MTU)), p.Path}
	if len(r.routes) < cap(r.routes) {
		r.routes = append(r.routes, v)
	} else {
		r.routes[r.oldest] = v
		r.oldest = (r.oldest + 1) % len(r.routes)
	}
	switch p.BTH.Opcode.Verb() {
	case codec.VerbAtomic:
		if found, ok := r.exec.Found(p.BTH.PSN); ok {
			r.replies.Atomic(at, found, r.exec.MSN, again)
		}
	case codec.VerbRead:
		if r.exec.Allows(&p.RETH) {
			r.replies.Read(at, &p.RETH, r.exec.MSN, again)
		}
	default:
		r.replies.Read(at, &codec.RETH{}, r.exec.MSN, again)
	}
}

// answered reports whether a verb draws an answer of its own.
func answered(v codec.Verb) bool {
	switch v {
	case codec.VerbRead, codec.VerbAtomic, codec.VerbFlush, codec.VerbAtomicWrite:
		return true
	}
	return false
}

// ack acknowledges a packet on its path.
func (r *Responder) ack(p *transport.Packet) {
	r.report(report{op: codec.OpcodeMPRDMAAck, at: p.BTH.PSN, path: p.Path, syndrome: codec.SyndromeACK, mp: r.echo(p)})
}

// nack drops a packet, and names the PSN that is to be sent again.
func (r *Responder) nack(p *transport.Packet, at psn.Seq) {
	r.report(report{op: codec.OpcodeMPRDMANack, at: at.PSN(), path: p.Path, syndrome: codec.SyndromePSNSequenceError, mp: r.echo(p)})
}

// refuse says that the packet at the head cannot be executed.
func (r *Responder) refuse(path uint16, s codec.Syndrome) {
	r.report(report{op: codec.Op(codec.RC, codec.Acknowledge), at: r.Head.PSN(), path: path, syndrome: s})
}

// echo is what an acknowledgement tells of the packet that it answers.
func (r *Responder) echo(p *transport.Packet) codec.MPETH {
	return codec.MPETH{ECE: p.CE, ReTxEcho: p.BTH.ReTx, AACK: (r.Head - 1).PSN()}
}

// report queues an acknowledgement. When very many are waiting the newest gives
// way, as if the network had lost it.
func (r *Responder) report(v report) {
	v.msn = r.exec.MSN
	if n := r.reports.Len(); n >= mostReports {
		*r.reports.At(n - 1) = v
		return
	}
	r.reports.Push(v)
}

// Ready implements transport.Machine.
func (r *Responder) Ready(transport.Time) transport.Ready {
	if r.reports.Len() > 0 || r.replies.Pending() {
		return transport.Reply
	}
	return transport.Idle
}

// Next implements transport.Machine.
func (r *Responder) Next(_ transport.Time, p *transport.Packet) {
	if r.reports.Len() == 0 {
		r.replies.Next(p)
		s := psn.Unwrap(r.Head, p.BTH.PSN)
		for i := range r.routes {
			// Of a READ that was asked for again the newer copy stands later, but
			// for where the ring begins.
			if v := &r.routes[(r.oldest+i)%len(r.routes)]; v.first <= s && s < v.end {
				p.Path = v.path
			}
		}
		return
	}
	v := r.reports.Pop()
	*p = transport.Packet{Packet: codec.Packet{Headers: v.op.Headers()}, Path: v.path}
	p.BTH = codec.BTH{Opcode: v.op, PKey: r.qp.PKey, DestQP: r.qp.SrcQP, PSN: v.at}
	p.AETH = codec.AETH{Syndrome: v.syndrome, MSN: v.msn}
	p.MPETH = v.mp
}

// Wake implements transport.Machine. A responder has no timer.
func (r *Responder) Wake() transport.Time { return transport.Never }
