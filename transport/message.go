package transport

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// MaxLength is the longest message in bytes (IBA 9.7.1).
const MaxLength = 1 << 31

// Message is a work request with its place in the stream of PSNs.
type Message struct {
	WorkRequest
	First   psn.Seq // its first PSN
	Packets int     // how many PSNs it takes

	// Owed keeps the message from completing though all its PSNs are
	// acknowledged: its answer is not counted in PSNs and still missing. IRN
	// sets it for READs and atomics.
	Owed bool

	// WQESN counts the messages before it that consume a receive, if it does,
	// or the READs and atomics before it, if it is one; Answers is the PSN of
	// a READ's first response where responses are counted apart. IRN sets both.
	WQESN   uint32
	Answers psn.Seq
}

// End is the PSN after the message's last.
func (m *Message) End() psn.Seq { return m.First + psn.Seq(m.Packets) }

// parts are the operations of a message's packets by their place in it.
type parts struct{ first, middle, last, only codec.Operation }

var operations = [...]parts{
	Send:     {codec.SendFirst, codec.SendMiddle, codec.SendLast, codec.SendOnly},
	SendImm:  {codec.SendFirst, codec.SendMiddle, codec.SendLastImm, codec.SendOnlyImm},
	SendInv:  {codec.SendFirst, codec.SendMiddle, codec.SendLastInv, codec.SendOnlyInv},
	Write:    {codec.WriteFirst, codec.WriteMiddle, codec.WriteLast, codec.WriteOnly},
	WriteImm: {codec.WriteFirst, codec.WriteMiddle, codec.WriteLastImm, codec.WriteOnlyImm},
	Read:     {codec.ReadRequest, codec.ReadRequest, codec.ReadRequest, codec.ReadRequest},
	CmpSwap:  {only: codec.CmpSwap},
	FetchAdd: {only: codec.FetchAdd},
}

// responses are the operations of READ responses.
var responses = parts{codec.ReadResponseFirst, codec.ReadResponseMiddle, codec.ReadResponseLast, codec.ReadResponseOnly}

// Response is the operation of the i-th of n READ responses.
func Response(i, n int) codec.Operation { return responses.at(i, n) }

// at is the operation of packet i of n.
func (o *parts) at(i, n int) codec.Operation {
	switch {
	case n == 1:
		return o.only
	case i == 0:
		return o.first
	case i == n-1:
		return o.last
	}
	return o.middle
}

// Fill makes p the message's i-th packet in the form that IBA gives it, the
// payload an alias of what Memory.Load returns. AckReq is left to the
// transport. Of a READ it is the request for all responses from the i-th on:
// VA and length move, the PSN is that of the first response.
func (m *Message) Fill(p *Packet, qp *QP, i int) {
	op := codec.Op(codec.RC, operations[m.Verb].at(i, m.Packets))
	*p = Packet{}
	p.Headers = op.Headers()
	p.BTH = codec.BTH{Opcode: op, PKey: qp.PKey, DestQP: qp.DestQP, PSN: (m.First + psn.Seq(i)).PSN()}
	off := uint32(i * qp.MTU)
	switch op.Verb() {
	case codec.VerbRead:
		p.RETH = codec.RETH{VA: m.Remote + uint64(off), RKey: m.RKey, DMALen: m.Length - off}
		return
	case codec.VerbAtomic:
		p.AtomicETH = codec.AtomicETH{VA: m.Remote, RKey: m.RKey, SwapDt: m.Swap, CmpDt: m.Compare}
		return
	}
	if op.Headers().Has(codec.HeaderRETH) {
		p.RETH = codec.RETH{VA: m.Remote, RKey: m.RKey, DMALen: m.Length}
	}
	p.ImmDt.ImmediateData, p.IETH.RKey = m.Imm, m.Imm
	qp.Load(p, m.Local+uint64(off), min(qp.MTU, int(m.Length-off)))
}

// Load gives p its payload, n bytes of memory from va on, and its PadCnt.
func (q *QP) Load(p *Packet, va uint64, n int) {
	p.PayloadLen, p.BTH.PadCnt = n, uint8(-n&3)
	if n > 0 && q.Memory != nil {
		p.Payload = q.Memory.Load(va, n)
	}
}
