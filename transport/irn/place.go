package irn

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// place puts data where it belongs, whatever the order in which it comes: a
// WRITE says where in each packet, a SEND which receive it takes and how far
// into it.
type place struct {
	qp       *transport.QP
	exec     *transport.Executor
	limit    uint32                 // receives that may be held: the cap
	next     uint32                 // the recv_WQE_SN of the oldest message that is not complete
	receives transport.Ring[uint64] // the addresses of the receives from next on, as far as they were taken
}

// send places a packet of a SEND; reach is how many receives it and the packets
// before it can consume.
func (l *place) send(p *transport.Packet, reach uint32) codec.Syndrome {
	h := &p.IRNETH
	mtu := uint32(l.qp.MTU)
	switch {
	case !l.fits(p), h.Offset%mtu != 0, p.BTH.Opcode.Starts() != (h.Offset == 0), h.Offset >= transport.MaxLength:
		return codec.SyndromeInvalidRequest
	}
	va, s := l.receive(h.WQESN, reach)
	if s == codec.SyndromeACK && va != nil {
		l.qp.Store(*va+uint64(h.Offset), p.Payload)
	}
	return s
}

// write places a packet of a WRITE, and takes the receive that its immediate
// data consumes.
func (l *place) write(p *transport.Packet, reach uint32) codec.Syndrome {
	switch {
	case !l.fits(p), int(p.RETH.DMALen) != p.PayloadLen:
		return codec.SyndromeInvalidRequest
	case !l.exec.Allows(&p.RETH):
		return codec.SyndromeRemoteAccess
	}
	if p.Has(codec.HeaderImmDt) {
		if _, s := l.receive(p.IRNETH.WQESN, reach); s != codec.SyndromeACK {
			return s
		}
	}
	l.qp.Store(p.RETH.VA, p.Payload)
	return codec.SyndromeACK
}

// fits checks a payload's length against its place in the message: whole
// packets but for the last (IBA 9.7.4.1.6).
func (l *place) fits(p *transport.Packet) bool {
	n, op := p.PayloadLen, p.BTH.Opcode
	switch {
	case int(p.BTH.PadCnt) != -n&3:
		return false
	case !op.Ends():
		return n == l.qp.MTU
	case !op.Starts():
		return 0 < n && n <= l.qp.MTU
	}
	return n <= l.qp.MTU
}

// receive is the address of the receive with a recv_WQE_SN; those before it are
// taken with it. There is none, and nothing to refuse, without memory, and in a
// flow that was joined in its middle, where nobody knows which receive is next.
func (l *place) receive(sn, reach uint32) (*uint64, codec.Syndrome) {
	if l.qp.Memory == nil || l.qp.Joined {
		return nil, codec.SyndromeACK
	}
	i := (sn - l.next) & psn.Mask
	if i >= min(reach, l.limit) {
		return nil, codec.SyndromeInvalidRequest
	}
	for l.receives.Len() <= int(i) {
		va, posted := l.qp.Memory.Receive()
		if !posted {
			return nil, codec.RNRNAK(l.qp.RNRTimer)
		}
		l.receives.Push(va)
	}
	return l.receives.At(int(i)), codec.SyndromeACK
}

// completed drops the receive of a message that is complete.
func (l *place) completed() {
	l.next = (l.next + 1) & psn.Mask
	if l.receives.Len() > 0 {
		l.receives.Pop()
	}
}

// parked are READs and atomics that wait for their turn, by read_WQE_SN. There
// are never more than QP.MaxReads from a requester that keeps to the limit.
type parked struct {
	slots []transport.Packet // one is empty when it has no headers
	n     int
}

// park keeps a request until its turn, if there is place for it.
func (k *parked) park(p *transport.Packet) bool {
	slot := &k.slots[int(p.IRNETH.WQESN)%len(k.slots)]
	if slot.Headers != 0 || p.BTH.PadCnt != 0 {
		return false
	}
	*slot = *p
	k.n++
	return true
}

// take is the request with a PSN, nil if none is parked. It stays valid until
// the next park.
func (k *parked) take(s psn.Seq) *transport.Packet {
	for i := 0; k.n > 0 && i < len(k.slots); i++ {
		if p := &k.slots[i]; p.Headers != 0 && p.BTH.PSN == s.PSN() {
			p.Headers = 0
			k.n--
			return p
		}
	}
	return nil
}
