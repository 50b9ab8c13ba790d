package transport

import (
	"encoding/binary"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// Answer places what a response brings: the data of a READ, from the i-th of
// its packets, or what an atomic found, little-endian as hosts keep it. It
// reports whether the response fits the request. Placing one twice does no
// harm.
func (q *SendQueue) Answer(m *Message, i int, p *Packet) bool {
	switch {
	case m.Verb == Read && p.BTH.Opcode.Verb() == codec.VerbReadResponse:
		off := i * q.qp.MTU
		if p.PayloadLen != min(q.qp.MTU, int(m.Length)-off) {
			return false
		}
		q.qp.Store(m.Local+uint64(off), p.Payload)
		return true
	case m.Verb.Answered() && m.Verb != Read && p.BTH.Opcode.Verb() == codec.VerbAtomicAck:
		binary.LittleEndian.PutUint64(q.result[:], p.AtomicAckETH.OrigRemDt)
		q.qp.Store(m.Local, q.result[:])
		return true
	}
	return false
}

// Unwrap is the PSN of a response, nearest to the oldest unacknowledged.
func (q *SendQueue) Unwrap(p psn.PSN) psn.Seq { return psn.Unwrap(q.Una, p) }

// Store places b, which a capture may have cut short, in memory, if there is any.
func (q *QP) Store(va uint64, b []byte) {
	if len(b) > 0 && q.Memory != nil {
		q.Memory.Store(va, b)
	}
}
