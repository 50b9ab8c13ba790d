package conform

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// message is the message that the requests are in.
type message struct {
	known  bool // whether one is open
	verb   codec.Verb
	open   bool
	whole  bool // every packet of it was seen
	frame  int  // of its first packet
	first  int  // payload of its First or Middle packets, 0 if none came
	bytes  int64
	dmaLen uint32
	sized  bool // dmaLen is known
}

// messages judges the request s by what its place in its message asks for. Only
// packets whose PSNs follow each other tell.
func (c *Checker) messages(w *flow, s psn.Seq) {
	p, m := &c.packet, &w.message
	op := c.f.BTH.Opcode
	follows := w.previous.known && w.previous.sized && s == w.previous.next
	if w.previous.known && !follows {
		c.inRead(w, s)
		m.known = false
	}
	if follows && m.known {
		c.grammar(w)
	}
	irnWrite := op.Service() == codec.IRN && op.Verb() == codec.VerbWrite
	switch {
	case op.Starts():
		*m = message{known: true, verb: op.Verb(), open: true, whole: true, frame: c.f.Packet.Number}
		if op.Verb() == codec.VerbWrite && !irnWrite && p.Has(codec.HeaderRETH) {
			m.dmaLen, m.sized = p.RETH.DMALen, true
		}
	case !m.known || !m.open || m.verb != op.Verb():
		*m = message{known: true, verb: op.Verb(), open: true, frame: c.f.Packet.Number}
	}
	if irnWrite && p.Has(codec.HeaderRETH) && int(p.RETH.DMALen) != p.PayloadLen {
		c.found(w, irnDMALenOfEachPacket, Violates, say("DMALen is %d, the payload %s", p.RETH.DMALen, byteCount(p.PayloadLen)))
	}
	m.bytes += int64(p.PayloadLen)
	c.fills(w)
	if op.Ends() {
		if m.whole && m.sized && m.bytes != int64(m.dmaLen) {
			c.found(w, dmaLenEqualsPayload, Violates, say("DMALen is %d, the payload of the message adds up to %d", m.dmaLen, m.bytes), m.frame)
		}
		m.open = false
	}
}

// grammar judges the order of the packets of messages.
func (c *Checker) grammar(w *flow) {
	m, op := &w.message, c.f.BTH.Opcode
	switch {
	case op.Starts() && m.open:
		c.found(w, middleLastFollowFirst, Violates, say("%s before the message that began with %s has ended", op, w.previous.op), w.previous.frame)
	case !op.Starts() && !m.open, !op.Starts() && op.Verb() != m.verb:
		c.found(w, middleLastFollowFirst, Violates, say("%s follows %s", op, w.previous.op), w.previous.frame)
	}
}

// fills judges how much payload a packet has for its place in the message.
func (c *Checker) fills(w *flow) {
	n, op, m := c.packet.PayloadLen, c.f.BTH.Opcode, &w.message
	if op.Starts() && op.Ends() || !op.Payload() {
		if mtu := w.mtuShown(); op.Payload() && mtu > 0 && n > mtu {
			c.found(w, payloadFillsMTU, Violates, say("%s with %s, the path MTU is %d", op, byteCount(n), mtu))
		}
		return
	}
	mtu := m.first
	if mtu == 0 {
		mtu = w.mtuShown()
	}
	switch {
	case !op.Ends() && (n&(n-1) != 0 || n < 256 || n > 4096):
		c.found(w, payloadFillsMTU, Violates, say("%s with %s, which is no path MTU", op, byteCount(n)))
	case !op.Ends() && mtu != 0 && n != mtu:
		c.found(w, payloadFillsMTU, Violates, say("%s with %s, the path MTU is %d", op, byteCount(n), mtu))
	case !op.Ends():
		m.first = n
	case n == 0:
		c.found(w, payloadFillsMTU, Violates, say("%s without payload", op))
	case mtu != 0 && n > mtu:
		c.found(w, payloadFillsMTU, Violates, say("%s with %s, the path MTU is %d", op, byteCount(n), mtu))
	}
}

// mtuShown is the path MTU, 0 while it is not certain.
func (w *flow) mtuShown() int {
	if !w.handle.MTUShown() {
		return 0
	}
	return w.handle.MTU()
}

// inRead judges a request that comes right behind a READ, at a PSN that the READ
// takes for its responses. Only the rest of that READ may stand there.
func (c *Checker) inRead(w *flow, s psn.Seq) {
	r := &w.previous
	if r.op.Verb() != codec.VerbRead || !r.sized || s <= r.seq || s >= r.next {
		return
	}
	p := &c.packet
	if c.f.BTH.Opcode.Verb() == codec.VerbRead && p.Has(codec.HeaderRETH) {
		if off := p.RETH.VA - r.reth.VA; off < uint64(r.reth.DMALen) && p.RETH.RKey == r.reth.RKey {
			return
		}
	}
	if !c.config.Rules.has(readConsumption) {
		return
	}
	text := say("%s at %s, the READ before it takes %s", c.f.BTH.Opcode, s.PSN(), span(psn.Span{First: r.seq, Last: r.next - 1}))
	d := doubt{Violation: c.violation(w, readConsumption, Violates, text, []int{r.frame}), rule: readConsumption, kind: ifInRead, read: s - r.seq, size: r.reth.DMALen}
	c.hold(w, d)
}

func byteCount(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return say("%d bytes", n)
}
