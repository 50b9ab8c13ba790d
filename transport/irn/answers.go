package irn

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// answers is the responder's sender of READ responses.
type answers struct {
	send   sender
	end    psn.Seq // the rPSN that the next READ begins with
	reads  transport.Ring[answer]
	failed bool // no retry is left
}

// answer is a READ that was executed and is not acknowledged to its end.
type answer struct {
	first, end psn.Seq // of the rPSNs of its responses
	read       codec.RETH
	msn        uint32
}

// full reports whether so many READs have been executed and not answered.
func (a *answers) full(most int) bool {
	n := a.reads.Len()
	return n >= most && a.reads.At(n-most).end > a.send.nxt
}

// push takes a READ to be answered.
func (a *answers) push(h *codec.RETH, msn uint32, mtu int) {
	n := max(1, (int(h.DMALen)+mtu-1)/mtu)
	a.reads.Push(answer{a.end, a.end + psn.Seq(n), *h, msn})
	a.end += psn.Seq(n)
}

// feedback takes an acknowledgement of responses.
func (a *answers) feedback(now transport.Time, p *transport.Packet) {
	s := &a.send
	upto := psn.Unwrap(s.una, p.BTH.PSN)
	if p.BTH.Opcode == codec.OpcodeIRNReadAck {
		upto++
	}
	if upto > s.nxt {
		return
	}
	s.ack(now, upto)
	for a.reads.Len() > 0 && a.reads.At(0).end <= s.una {
		a.reads.Pop()
	}
	if p.BTH.Opcode == codec.OpcodeIRNReadNack {
		s.sack(psn.Unwrap(s.una, p.SackETH.SackPSN))
		a.failed = !s.lost()
	}
}

func (a *answers) ready() transport.Ready {
	if _, ok := a.send.hole(); ok {
		return transport.Resend
	}
	if a.send.nxt < a.end && a.send.open() {
		return transport.Reply
	}
	return transport.Idle
}

// next makes p the response to be sent next, from memory.
func (a *answers) next(now transport.Time, p *transport.Packet, qp *transport.QP) {
	q, again := a.send.hole()
	if !again {
		q = a.send.nxt
	}
	v := a.of(q)
	i := int(q - v.first)
	op := codec.Op(codec.IRN, transport.Response(i, int(v.end-v.first)))
	*p = transport.Packet{Packet: codec.Packet{Headers: op.Headers()}}
	p.BTH = codec.BTH{Opcode: op, PKey: qp.PKey, DestQP: qp.SrcQP, PSN: q.PSN()}
	p.AETH = codec.AETH{Syndrome: codec.SyndromeACK, MSN: v.msn}
	off := i * qp.MTU
	qp.Load(p, v.read.VA+uint64(off), min(qp.MTU, int(v.read.DMALen)-off))
	a.send.sent(now, q)
}

// of is the READ that an rPSN belongs to. There is one.
func (a *answers) of(q psn.Seq) *answer {
	lo, hi := 0, a.reads.Len()-1
	for lo < hi {
		mid := (lo + hi) / 2
		if a.reads.At(mid).end <= q {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return a.reads.At(lo)
}
