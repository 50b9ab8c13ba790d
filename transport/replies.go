package transport

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// Replies is what a responder has to say and has not said yet: standard
// acknowledgements, NAKs, ATOMIC acknowledges and READ responses, in the order
// of their PSNs, whatever the order in which they come about. A later response
// would tell the requester that an earlier one is lost (IBA 9.7.5.1.1).
//
// It is bounded: ReadLimit READs and atomics, as many duplicates of them, and
// an acknowledgement between each two of these.
type Replies struct {
	qp     *QP
	queue  []reply
	unsent int // READs and atomics that are not duplicates
	again  int // those that are
}

type reply struct {
	kind     replyKind
	at       psn.Seq        // its PSN; of a READ that of the first response
	syndrome codec.Syndrome // of a NAK
	msn      uint32
	found    uint64 // by an atomic
	again    bool   // answers a duplicate
	read     codec.RETH
	packets  int // of a READ: how many responses
	sent     int // and how many of them have gone
}

type replyKind uint8

const (
	replyACK replyKind = iota
	replyNAK
	replyAtomic
	replyRead
)

// NewReplies makes the empty queue of a responder.
func NewReplies(qp *QP) Replies {
	return Replies{qp: qp, queue: make([]reply, 0, 8)}
}

// Pending reports whether there is something to say.
func (r *Replies) Pending() bool { return len(r.queue) > 0 }

// ACK acknowledges everything up to at. It joins an acknowledgement that stands
// right before it and has not gone yet.
func (r *Replies) ACK(at psn.Seq, msn uint32) {
	i := r.place(at)
	if i > 0 && r.queue[i-1].kind == replyACK {
		r.queue[i-1].at, r.queue[i-1].msn = at, msn
		return
	}
	r.insert(i, reply{kind: replyACK, at: at, msn: msn})
}

// NAK refuses what comes at a PSN, for a sequence error that which is missing.
// One that was not sent yet is replaced.
func (r *Replies) NAK(at psn.Seq, s codec.Syndrome, msn uint32) {
	r.Relent()
	r.insert(r.place(at), reply{kind: replyNAK, at: at, syndrome: s, msn: msn})
}

// Relent takes back a NAK that was not sent yet, since what it asks for has
// come.
func (r *Replies) Relent() {
	for i := range r.queue {
		if r.queue[i].kind == replyNAK {
			r.queue = append(r.queue[:i], r.queue[i+1:]...)
			return
		}
	}
}

// Full reports whether the responder can take no further READ or atomic: it
// has promised QP.ReadLimit. A requester that keeps to the limit never sees it.
func (r *Replies) Full() bool { return r.unsent >= r.qp.MaxReads() }

// Atomic answers an atomic with what it found. again says that it answers a
// duplicate; it is forgotten when too many of these are waiting.
func (r *Replies) Atomic(at psn.Seq, found uint64, msn uint32, again bool) {
	i := r.before(at)
	if i < len(r.queue) && r.queue[i].kind == replyAtomic && r.queue[i].at == at {
		return // the answer to the first copy has not gone yet
	}
	if r.admit(again) {
		r.insert(i, reply{kind: replyAtomic, at: at, found: found, msn: msn, again: again})
	}
}

// Read answers a READ, a FLUSH or an ATOMIC WRITE: as many responses as h asks
// for, made from memory when they are sent. again is as in Atomic; where the
// responses to an earlier copy are still going out, these go back to at.
func (r *Replies) Read(at psn.Seq, h *codec.RETH, msn uint32, again bool) {
	fresh := reply{kind: replyRead, at: at, read: *h, msn: msn, again: again}
	fresh.packets = max(1, (int(h.DMALen)+r.qp.MTU-1)/r.qp.MTU)
	for i := range r.queue {
		old := &r.queue[i]
		if old.kind != replyRead || at >= old.at+psn.Seq(old.packets) || at+psn.Seq(fresh.packets) <= old.at {
			continue
		}
		fresh.again = old.again
		if at < old.at+psn.Seq(old.sent) {
			r.queue = append(r.queue[:i], r.queue[i+1:]...)
			r.insert(r.before(at), fresh)
		}
		return
	}
	if r.admit(again) {
		r.insert(r.before(at), fresh)
	}
}

// admit counts a READ or atomic, if there is place for it.
func (r *Replies) admit(again bool) bool {
	count := &r.unsent
	if again {
		count = &r.again
	}
	if *count >= r.qp.MaxReads() {
		return false
	}
	*count++
	return true
}

// place is where an acknowledgement of a PSN goes: behind all that is not later.
func (r *Replies) place(at psn.Seq) int { return r.before(at + 1) }

// before is where the answer to a READ or an atomic goes: behind all that is
// earlier, and before an acknowledgement of the same PSN. The responses to a READ
// stay together.
func (r *Replies) before(at psn.Seq) int {
	begun := 0
	if len(r.queue) > 0 && r.queue[0].sent > 0 {
		begun = 1
	}
	i := len(r.queue)
	for i > begun && r.queue[i-1].at >= at {
		i--
	}
	return i
}

func (r *Replies) insert(i int, v reply) {
	r.queue = append(r.queue, reply{})
	copy(r.queue[i+1:], r.queue[i:])
	r.queue[i] = v
}

// Next makes p the next reply. There must be one.
func (r *Replies) Next(p *Packet) {
	v := &r.queue[0]
	op, at := codec.Acknowledge, v.at
	switch v.kind {
	case replyAtomic:
		op = codec.AtomicAcknowledge
	case replyRead:
		op, at = Response(v.sent, v.packets), at+psn.Seq(v.sent)
	}
	opcode := codec.Op(codec.RC, op)
	*p = Packet{}
	p.Headers = opcode.Headers()
	p.BTH = codec.BTH{Opcode: opcode, PKey: r.qp.PKey, DestQP: r.qp.SrcQP, PSN: at.PSN()}
	p.AETH = codec.AETH{Syndrome: codec.SyndromeACK, MSN: v.msn}
	switch v.kind {
	case replyNAK:
		p.AETH.Syndrome = v.syndrome
	case replyAtomic:
		p.AtomicAckETH.OrigRemDt = v.found
	case replyRead:
		off := v.sent * r.qp.MTU
		r.qp.Load(p, v.read.VA+uint64(off), min(r.qp.MTU, int(v.read.DMALen)-off))
		if v.sent++; v.sent < v.packets {
			return
		}
	}
	r.drop()
}

// drop removes the reply that has gone.
func (r *Replies) drop() {
	if v := &r.queue[0]; v.kind == replyAtomic || v.kind == replyRead {
		if v.again {
			r.again--
		} else {
			r.unsent--
		}
	}
	r.queue = r.queue[:copy(r.queue, r.queue[1:])]
}

// Answered reports whether a request of the verb draws an answer of its own, and
// not an acknowledgement alone.
func Answered(v codec.Verb) bool {
	switch v {
	case codec.VerbRead, codec.VerbAtomic, codec.VerbFlush, codec.VerbAtomicWrite:
		return true
	}
	return false
}

// Answer queues what a request is answered with that e has executed, if it is
// one that is Answered. again is as in Atomic.
func (r *Replies) Answer(e *Executor, at psn.Seq, p *Packet, again bool) {
	switch verb := p.BTH.Opcode.Verb(); {
	case verb == codec.VerbAtomic:
		if found, ok := e.Found(p.BTH.PSN); ok {
			r.Atomic(at, found, e.MSN, again)
		}
	case verb == codec.VerbRead:
		if e.Allows(&p.RETH) {
			r.Read(at, &p.RETH, e.MSN, again)
		}
	case Answered(verb):
		r.Read(at, &codec.RETH{}, e.MSN, again)
	}
}
