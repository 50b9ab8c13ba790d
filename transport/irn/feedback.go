package irn

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// report is an acknowledgement of any kind that waits to be sent.
type report struct {
	op       codec.Opcode
	at       psn.PSN
	sack     psn.PSN
	syndrome codec.Syndrome
	msn      uint32
	found    uint64 // by an atomic
}

// feedback is what a receiver has to say and has not said yet, in the order in
// which it came about. It is bounded: when most are waiting the newest gives
// way, as if the network had lost it.
type feedback struct {
	queue transport.Ring[report]
	most  int
}

func newFeedback(qp *transport.QP, c *Config) feedback {
	return feedback{most: 2*c.Cap + qp.MaxReads()}
}

// push appends a report. An acknowledgement takes the place of one that waits
// right before it, since it says more.
func (f *feedback) push(r report) {
	n := f.queue.Len()
	positive := r.syndrome.Kind() == codec.KindACK && r.op.Verb() == codec.VerbAck
	if n > 0 {
		last := f.queue.At(n - 1)
		if n >= f.most || positive && last.op == r.op && last.syndrome == r.syndrome {
			*last = r
			return
		}
	}
	f.queue.Push(r)
}

// next makes p the oldest report, for a queue pair of the peer.
func (f *feedback) next(p *transport.Packet, pkey uint16, to uint32) {
	r := f.queue.Pop()
	*p = transport.Packet{Packet: codec.Packet{Headers: r.op.Headers()}}
	p.BTH = codec.BTH{Opcode: r.op, PKey: pkey, DestQP: to, PSN: r.at}
	p.AETH = codec.AETH{Syndrome: r.syndrome, MSN: r.msn}
	p.SackETH.SackPSN = r.sack
	p.AtomicAckETH.OrigRemDt = r.found
}
