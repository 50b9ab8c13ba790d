package irn

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// Responder keeps what arrives within one BDP of what it expects, places it at
// once, and says of each packet what it has. READs and atomics wait until
// everything before them has come.
//
// A request that it cannot accept is refused when it is the one expected; ahead
// of that it is dropped, as if it had been lost.
type Responder struct {
	Expected psn.Seq // the lowest PSN that has not arrived
	Failed   bool    // READ responses went unacknowledged too often; it is silent from then on

	qp      transport.QP
	config  Config
	exec    transport.Executor
	arrived bitmap // with ends: the two bits of a packet
	ends    bitmap
	place   place
	parked  parked
	reports feedback
	answers answers
}

// NewResponder makes a responder.
func NewResponder(qp transport.QP, c Config) *Responder {
	r := &Responder{Expected: psn.Seq(qp.StartPSN), qp: qp, config: c.withDefaults()}
	r.exec = transport.NewExecutor(&r.qp)
	r.arrived, r.ends = newBitmap(r.config.Cap), newBitmap(r.config.Cap)
	r.place.qp, r.place.exec, r.place.limit = &r.qp, &r.exec, uint32(r.config.Cap)
	r.parked.slots = make([]transport.Packet, r.qp.MaxReads())
	r.reports = newFeedback(&r.qp, &r.config)
	r.answers = answers{send: newSender(&r.qp, &r.config), end: r.Expected}
	return r
}

// slot is what is known of a packet: two bits.
type slot uint8

const (
	absent   slot = iota
	consumes      // the last of its message, which takes a receive
	received      // not the last of its message
	last          // the last of its message
)

func (r *Responder) slot(s psn.Seq) slot {
	v := absent
	if r.ends.has(s) {
		v |= 1
	}
	if r.arrived.has(s) {
		v |= 2
	}
	return v
}

func (r *Responder) setSlot(s psn.Seq, v slot) {
	r.ends.clear(s)
	r.arrived.clear(s)
	if v&1 != 0 {
		r.ends.set(s)
	}
	if v&2 != 0 {
		r.arrived.set(s)
	}
}

// Receive implements transport.Machine.
func (r *Responder) Receive(now transport.Time, p *transport.Packet) {
	if r.Failed {
		return
	}
	op := p.BTH.Opcode
	if op == codec.OpcodeIRNReadAck || op == codec.OpcodeIRNReadNack {
		r.answers.feedback(now, p)
		r.Failed = r.answers.failed
		return
	}
	s := psn.Unwrap(r.Expected, p.BTH.PSN)
	switch {
	case s < r.Expected:
		r.repeat(s, p)
		return
	case s >= r.Expected+psn.Seq(r.config.Cap):
		return
	case r.slot(s) == absent:
		v, syndrome := r.accept(s, p)
		if v == absent {
			if s == r.Expected {
				r.refuse(syndrome)
			}
			return
		}
		r.setSlot(s, v)
	}
	if s > r.Expected {
		r.reports.push(report{op: codec.OpcodeIRNNack, at: r.Expected.PSN(), sack: s.PSN(), syndrome: codec.SyndromePSNSequenceError, msn: r.exec.MSN})
		return
	}
	r.advance()
}

// accept places a packet that has not arrived before, or parks it. It gives the
// packet's two bits, or absent and why it is refused.
func (r *Responder) accept(s psn.Seq, p *transport.Packet) (slot, codec.Syndrome) {
	op := p.BTH.Opcode
	if op.Service() != codec.IRN || op.Response() {
		return absent, codec.SyndromeInvalidRequest
	}
	v, syndrome := received, codec.SyndromeInvalidRequest
	if op.Ends() {
		v = last
	}
	switch op.Verb() {
	case codec.VerbSend:
		syndrome = r.place.send(p, r.reach(s))
		if v == last {
			v = consumes
		}
	case codec.VerbWrite:
		syndrome = r.place.write(p, r.reach(s))
		if p.Has(codec.HeaderImmDt) {
			v = consumes
		}
	case codec.VerbRead, codec.VerbAtomic:
		if r.parked.park(p) {
			syndrome = codec.SyndromeACK
		}
	}
	if syndrome != codec.SyndromeACK {
		return absent, syndrome
	}
	return v, syndrome
}

// reach is how many receives the packets up to s can consume at most: each of
// those before it may end a message.
func (r *Responder) reach(s psn.Seq) uint32 { return uint32(s-r.Expected) + 1 }

// advance moves Expected over what has arrived: messages complete, READs and
// atomics are executed.
func (r *Responder) advance() {
	told := false // an ATOMIC acknowledge speaks for everything up to its PSN
	for {
		v := r.slot(r.Expected)
		if v == absent {
			break
		}
		told = false
		switch p := r.parked.take(r.Expected); {
		case p != nil:
			if s := r.execute(p); s != codec.SyndromeACK {
				r.setSlot(r.Expected, absent)
				r.refuse(s)
				return
			}
			told = p.BTH.Opcode.Verb() == codec.VerbAtomic
		case v != received:
			r.exec.MSN = (r.exec.MSN + 1) & psn.Mask
			if v == consumes {
				r.place.completed()
			}
		}
		r.setSlot(r.Expected, absent)
		r.Expected++
	}
	if !told {
		r.acknowledge()
	}
}

// execute executes a READ or an atomic whose turn has come.
func (r *Responder) execute(p *transport.Packet) codec.Syndrome {
	read := p.BTH.Opcode.Verb() == codec.VerbRead
	if read && r.answers.full(r.qp.MaxReads()) {
		return codec.SyndromeInvalidRequest
	}
	if s := r.exec.Execute(p); s != codec.SyndromeACK {
		return s
	}
	if read {
		r.answers.push(&p.RETH, r.exec.MSN, r.qp.MTU)
		return codec.SyndromeACK
	}
	r.tell(p.BTH.PSN)
	return codec.SyndromeACK
}

// tell gives the result of the atomic that was executed at a PSN.
func (r *Responder) tell(at psn.PSN) {
	if found, ok := r.exec.Found(at); ok {
		r.reports.push(report{op: codec.Op(codec.RC, codec.AtomicAcknowledge), at: at, syndrome: codec.SyndromeACK, msn: r.exec.MSN, found: found})
	}
}

// repeat answers a duplicate: an atomic is told its saved result.
func (r *Responder) repeat(s psn.Seq, p *transport.Packet) {
	if p.BTH.Opcode.Verb() == codec.VerbAtomic {
		r.tell(s.PSN())
		return
	}
	r.acknowledge()
}

// acknowledge says that everything before Expected has arrived.
func (r *Responder) acknowledge() {
	r.reports.push(report{op: codec.Op(codec.RC, codec.Acknowledge), at: (r.Expected - 1).PSN(), syndrome: codec.SyndromeACK, msn: r.exec.MSN})
}

// refuse says that the expected packet came and cannot be accepted.
func (r *Responder) refuse(s codec.Syndrome) {
	r.reports.push(report{op: codec.Op(codec.RC, codec.Acknowledge), at: r.Expected.PSN(), syndrome: s, msn: r.exec.MSN})
}

// Ready implements transport.Machine.
func (r *Responder) Ready(now transport.Time) transport.Ready {
	if !r.answers.send.timeout(now) {
		r.Failed = true
	}
	switch {
	case r.Failed:
		return transport.Idle
	case r.reports.queue.Len() > 0:
		return transport.Reply
	}
	return r.answers.ready()
}

// Next implements transport.Machine.
func (r *Responder) Next(now transport.Time, p *transport.Packet) {
	if r.reports.queue.Len() > 0 {
		r.reports.next(p, r.qp.PKey, r.qp.SrcQP)
		return
	}
	r.answers.next(now, p, &r.qp)
}

// Wake implements transport.Machine.
func (r *Responder) Wake() transport.Time {
	if r.Failed {
		return transport.Never
	}
	return r.answers.send.deadline()
}
