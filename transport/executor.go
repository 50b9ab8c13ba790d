package transport

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// Executor is the part of a responder that executes requests, each once and in
// the order of their PSNs. Which PSN that is, and what to do with others, is
// left to the transport.
type Executor struct {
	// MSN counts the messages completed, modulo 2^24: SENDs and WRITEs with
	// their last packet, READs when the request is accepted (IBA C9-148).
	MSN uint32

	qp     *QP
	within codec.Verb // the verb of the message that is begun and not ended
	blind  bool       // its beginning was not seen: no place, no length
	next   uint64     // where its next packet goes
	left   uint32     // of a WRITE: bytes that are still to come

	atomics []atomicResult // the newest, a ring
	oldest  int
}

// atomicResult is what an atomic found, kept to be told again.
type atomicResult struct {
	at    psn.PSN
	found uint64
}

// NewExecutor makes the executor of a responder.
func NewExecutor(qp *QP) Executor {
	return Executor{MSN: qp.StartMSN & psn.Mask, qp: qp, atomics: make([]atomicResult, 0, qp.MaxReads())}
}

// Execute executes the request packet that is next in order. It answers
// SyndromeACK when that is done, or the syndrome of the NAK that refuses it;
// then nothing has changed, and the same packet may come again.
//
// It takes standard packets and IRN's, whose WRITEs say in each packet where
// that packet goes. The result of an atomic is then the newest that Found has.
func (e *Executor) Execute(p *Packet) codec.Syndrome {
	op := p.BTH.Opcode
	verb := op.Verb()
	blind := e.blind || e.qp.Joined && e.MSN == e.qp.StartMSN&psn.Mask && e.within == codec.VerbNone
	switch {
	case op.Response() || verb == codec.VerbNone || verb == codec.VerbResync:
		return codec.SyndromeInvalidRequest
	case op.Starts():
		if e.within != codec.VerbNone {
			return codec.SyndromeInvalidRequest
		}
		blind = false
	case verb != e.within && !(blind && e.within == codec.VerbNone):
		return codec.SyndromeInvalidRequest
	}
	if int(p.BTH.PadCnt) != -p.PayloadLen&3 {
		return codec.SyndromeInvalidRequest
	}
	var s codec.Syndrome
	switch verb {
	case codec.VerbSend:
		s = e.send(p, blind)
	case codec.VerbWrite:
		s = e.write(p, blind)
	case codec.VerbAtomic:
		s = e.atomic(p)
	default:
		s = e.remote(p)
	}
	if s != codec.SyndromeACK {
		return s
	}
	e.within, e.blind = verb, blind
	if op.Ends() {
		e.within, e.blind = codec.VerbNone, false
		e.MSN = (e.MSN + 1) & psn.Mask
	}
	return s
}

// fits checks a payload's length against its place in the message: whole
// packets but for the last (IBA 9.7.4.1.6).
func (e *Executor) fits(p *Packet) bool {
	n, op := p.PayloadLen, p.BTH.Opcode
	switch {
	case !op.Ends():
		return n == e.qp.MTU
	case !op.Starts():
		return 0 < n && n <= e.qp.MTU
	}
	return n <= e.qp.MTU
}

// send places a packet of a SEND in the receive that its message takes.
func (e *Executor) send(p *Packet, blind bool) codec.Syndrome {
	if !e.fits(p) {
		return codec.SyndromeInvalidRequest
	}
	if p.BTH.Opcode.Starts() {
		va, posted := e.receive()
		if !posted {
			return codec.RNRNAK(e.qp.RNRTimer)
		}
		e.next = va
	}
	e.place(p, blind)
	return codec.SyndromeACK
}

// write places a packet of a WRITE where its RETH began.
func (e *Executor) write(p *Packet, blind bool) codec.Syndrome {
	if !e.fits(p) {
		return codec.SyndromeInvalidRequest
	}
	op, n := p.BTH.Opcode, uint32(p.PayloadLen)
	next, left := e.next, e.left
	each := op.Service() == codec.IRN // a RETH that speaks of this packet alone
	if p.Has(codec.HeaderRETH) {
		h := &p.RETH
		switch {
		case h.DMALen > MaxLength:
			return codec.SyndromeInvalidRequest
		case !e.Allows(h):
			return codec.SyndromeRemoteAccess
		}
		next, left = h.VA, h.DMALen
		if each {
			blind = false
		}
	}
	last := op.Ends() || each
	if !blind && (left < n || last != (left == n)) {
		return codec.SyndromeInvalidRequest
	}
	if p.Has(codec.HeaderImmDt) {
		if _, posted := e.receive(); !posted {
			return codec.RNRNAK(e.qp.RNRTimer)
		}
	}
	e.next, e.left = next, left-n
	e.place(p, blind)
	return codec.SyndromeACK
}

// place stores a packet's payload behind that of the one before.
func (e *Executor) place(p *Packet, blind bool) {
	if !blind {
		e.qp.Store(e.next, p.Payload)
	}
	e.next += uint64(p.PayloadLen)
}

// atomic executes CmpSwap or FetchAdd and keeps what it found.
func (e *Executor) atomic(p *Packet) codec.Syndrome {
	h := &p.AtomicETH
	switch {
	case h.VA&7 != 0:
		return codec.SyndromeInvalidRequest
	case !e.allows(h.RKey, h.VA, 8):
		return codec.SyndromeRemoteAccess
	}
	var found uint64
	switch m := e.qp.Memory; {
	case m == nil:
	case p.BTH.Opcode.Operation() == codec.CmpSwap:
		found = m.CmpSwap(h.VA, h.CmpDt, h.SwapDt)
	default:
		found = m.FetchAdd(h.VA, h.SwapDt)
	}
	r := atomicResult{p.BTH.PSN, found}
	if len(e.atomics) < cap(e.atomics) {
		e.atomics = append(e.atomics, r)
	} else {
		e.atomics[e.oldest] = r
		e.oldest = (e.oldest + 1) % len(e.atomics)
	}
	return codec.SyndromeACK
}

// remote checks a READ, FLUSH or ATOMIC WRITE, and executes the last.
func (e *Executor) remote(p *Packet) codec.Syndrome {
	h := &p.RETH
	verb := p.BTH.Opcode.Verb()
	switch {
	case h.DMALen > MaxLength:
		return codec.SyndromeInvalidRequest
	case verb == codec.VerbAtomicWrite && (p.PayloadLen != 8 || h.DMALen != 8 || h.VA&7 != 0):
		return codec.SyndromeInvalidRequest
	case !e.Allows(h):
		return codec.SyndromeRemoteAccess
	}
	if verb == codec.VerbAtomicWrite {
		e.qp.Store(h.VA, p.Payload)
	}
	return codec.SyndromeACK
}

// Found is the saved result of the atomic that was executed at a PSN; ok is
// false when it is not one of the last QP.ReadLimit atomics.
func (e *Executor) Found(at psn.PSN) (found uint64, ok bool) {
	for i := range e.atomics {
		if e.atomics[i].at == at {
			found, ok = e.atomics[i].found, true
		}
	}
	return found, ok
}

// Allows reports whether the peer may reach what a RETH names; nothing it may
// always (IBA 9.7.4.1.5).
func (e *Executor) Allows(h *codec.RETH) bool {
	return h.DMALen == 0 || e.allows(h.RKey, h.VA, int(h.DMALen))
}

func (e *Executor) allows(rkey uint32, va uint64, n int) bool {
	return e.qp.Memory == nil || e.qp.Memory.Allows(rkey, va, n)
}

func (e *Executor) receive() (va uint64, posted bool) {
	if e.qp.Memory == nil {
		return 0, true
	}
	return e.qp.Memory.Receive()
}

// Span is how many PSNs a request packet takes: those of its responses if it
// is a READ, else one.
func Span(p *Packet, mtu int) int {
	if p.BTH.Opcode.Verb() != codec.VerbRead {
		return 1
	}
	return max(1, (int(p.RETH.DMALen)+mtu-1)/mtu)
}
