package conform

import (
	"errors"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// extensionSays judges feedback in the form of the extensions.
func (c *Checker) extensionSays(w *flow) {
	p := &c.packet
	if w.handle.Transport() != "go-back-n" && p.Has(codec.HeaderAETH) && c.f.BTH.Opcode.Verb() == codec.VerbAck {
		c.countsOn(w)
	}
	switch op := c.f.BTH.Opcode; {
	case p.Has(codec.HeaderTCAETH):
		c.windowlessReport(w)
	case w.handle.Transport() == "irn":
		c.irnSays(w)
	case op == codec.OpcodeMPRDMAAck && p.Has(codec.HeaderMPETH):
		c.mpACK(w)
	case op == codec.OpcodeMPRDMANack && p.Has(codec.HeaderMPETH):
		c.mpNACK(w)
	default:
		c.tcSays(w)
	}
}

// windowlessReport judges a T/C AETH.
func (c *Checker) windowlessReport(w *flow) {
	h := &c.packet.TCAETH
	if c.f.BTH.Opcode.Verb() == codec.VerbAck {
		c.inTime(w)
	}
	switch err := h.Validate(); {
	case errors.Is(err, codec.ErrSegmentNum):
		c.found(w, tcSegmentNum, Violates, say("SegmentNum is %d", h.SegmentNum))
		return
	case err != nil:
		c.found(w, tcSegmentOrder, Violates, err.Error())
		return
	}
	if c.f.BTH.Opcode.Verb() == codec.VerbAck && c.f.BTH.PSN != h.LastFinishedPSN {
		c.found(w, tcPSN, Violates, say("the PSN is %s, LastFinishedPSN is %s", c.f.BTH.PSN, h.LastFinishedPSN))
	}
	if c.f.BTH.Opcode.Verb() == codec.VerbAck {
		c.confirms(w)
	}
	segments, n := h.Segments()
	for i, s := range segments[n:] {
		if s != (psn.Range{}) {
			c.found(w, reservedBits, Violates, say("Seg%d is %s, SegmentNum says that it is not there", n+i+1, s))
			return
		}
	}
}

// said is what feedback in the form of the extensions said last.
type said struct {
	heard bool
	msn   psn.PSN
	frame int
	up    bool    // IRN: it said up to where all has come
	cum   psn.Seq // the next one
	upAt  int     // frame
}

// countsOn judges the MSN of feedback: that never goes back.
func (c *Checker) countsOn(w *flow) {
	if c.sent == sentBefore {
		return
	}
	msn, last := psn.PSN(c.packet.AETH.MSN), w.said
	w.said.heard, w.said.msn, w.said.frame = true, msn, c.f.Packet.Number
	if last.heard && msn.Sub(last.msn) < 0 {
		c.later(w, msnGrows, say("MSN %d after MSN %d", msn, last.msn), last.frame)
	}
}

// later reports what is a violation if the feedback at hand was sent after that
// before.
func (c *Checker) later(w *flow, r ruleID, text string, frame int) {
	kind := ifByReceiver
	if c.sent == after || c.sent == sentAfter {
		kind = ifCounts
	}
	c.doubt(w, kind, r, text, frame)
}

// expects judges up to where an IRN responder says that all has come: that never
// goes back.
func (c *Checker) expects(w *flow, s psn.Seq) {
	if c.sent == sentBefore {
		return
	}
	last := w.said
	w.said.up, w.said.cum, w.said.upAt = true, s, c.f.Packet.Number
	if last.up && s < last.cum {
		c.later(w, ackRegression, say("all before %s has come, after all before %s had", s.PSN(), last.cum.PSN()), last.upAt)
	}
}

// irn is what is kept of an IRN flow.
type irn struct {
	points points
	sacked psn.Seq // highest PSN acknowledged selectively
	any    bool

	heard   bool
	heardAt int     // frame that was heard last
	cum     psn.Seq // one past the highest PSN acknowledged cumulatively
	read    psn.Seq // one past the newest READ, whose responses acknowledge it, 0 for none
}

// irnSays judges an acknowledgement of an IRN responder.
func (c *Checker) irnSays(w *flow) {
	if w.irn == nil {
		w.irn = &irn{}
	}
	p, s, at := &c.packet, c.f.Seq, c.here()
	upto, ok := c.irnHas()
	if ok {
		if c.f.BTH.Opcode.Verb() == codec.VerbAck {
			c.expects(w, upto)
		}
		w.irn.takes(upto, at.frame)
		w.irn.points.add(upto, at)
		c.hasAll(w, upto)
	}
	if c.f.BTH.Opcode != codec.OpcodeIRNNack || !p.Has(codec.HeaderSackETH) {
		return
	}
	sack := psn.Unwrap(s, p.SackETH.SackPSN)
	if sack <= s {
		c.found(w, irnNACKNamesFirstMissing, Violates, say("NACK expects %s and names %s as what came above it", s.PSN(), sack.PSN()))
		return
	}
	if sack >= w.top && w.on {
		c.doubtFeedback(w, irnNACKNamesFirstMissing, sack, true, say("NACK says that %s has come, the last PSN sent is %s", sack.PSN(), (w.top-1).PSN()), w.previous.frame)
		return
	}
	w.outOfOrder(sack)
	c.misses(w, sack, s)
	if !w.irn.any || sack > w.irn.sacked {
		w.irn.sacked, w.irn.any = sack, true
	}
}

// irnRequest judges a packet that IRN resends.
func (c *Checker) irnRequest(w *flow, s psn.Seq, fresh bool) {
	if answered(c.f.BTH.Opcode) {
		return // its answer may be lost, however much is acknowledged
	}
	if fresh || w.irn == nil || w.irn.points.n == 0 || s < w.first || w.irn.any && s < w.irn.sacked || w.irn.points.allows(s) {
		return
	}
	c.doubt(w, ifSurelySender, irnResendOnlyHoles, say("%s resent, which no feedback asks for: nothing above it was acknowledged", s.PSN()), w.irn.points.where.frame)
}

// mpRDMA is the last packets of an MP-RDMA flow.
type mpRDMA struct {
	packets [256]mpPacket
	served  int // frame of the newest packet that was acknowledged
	blind   int // frame before which copies may have passed unseen
	aack    psn.Seq
	heard   bool
	slots   psn.Seq // that the responder has at least: it took a packet that far behind AACK
}

// mpPacket is what is kept of a PSN.
type mpPacket struct {
	seq          psn.Seq
	known        bool
	copies, acks int
	partial      bool // copies of it may have passed before
	began        int  // frame of the first copy
	frame        int
	path         uint16 // of the newest copy
	moved        bool   // copies took several paths
	ce, clear    bool   // copies with and without a CE mark
	first, again bool   // copies with and without ReTx
	ordered      bool   // copies are synchronise packets
}

// mpRequest notes a packet, which is to be acknowledged.
func (c *Checker) mpRequest(w *flow, s psn.Seq, fresh bool) {
	if w.mp == nil {
		if c.nPaths == maxPathFlows || !c.list(w) {
			return
		}
		c.nPaths++
		w.mp = &mpRDMA{}
	}
	e := &w.mp.packets[uint64(s)%uint64(len(w.mp.packets))]
	if !e.known || e.seq != s {
		c.mpMissing(w, e)
		*e = mpPacket{seq: s, known: true, partial: !fresh || c.packet.BTH.ReTx, began: c.f.Packet.Number}
	}
	p := &c.packet
	e.moved = e.moved || e.copies > 0 && p.Path != e.path
	e.path, e.frame = p.Path, c.f.Packet.Number
	e.copies++
	e.ordered = e.ordered || p.BTH.Synchronise
	e.ce, e.clear = e.ce || p.CE, e.clear || !p.CE
	e.again, e.first = e.again || p.BTH.ReTx, e.first || !p.BTH.ReTx
}

// mpMissing judges a packet that goes out of sight: one that was received drew an
// acknowledgement.
func (c *Checker) mpMissing(w *flow, e *mpPacket) {
	if e.known && e.acks == 0 && w.mp.heard && e.seq <= w.mp.aack && e.frame < w.mp.served && w.heardAll(e.frame) {
		v := c.violation(w, mpOneACKPerPacket, Violates, say("no acknowledgement of %s, though a later AACK says that it was received", e.seq.PSN()), nil)
		v.Frames[0] = e.frame
		if c.config.Rules.has(mpOneACKPerPacket) {
			c.decide(w, &doubt{Violation: v, rule: mpOneACKPerPacket, kind: ifGapless})
		}
	}
}

// mpACK judges an acknowledgement of one packet.
func (c *Checker) mpACK(w *flow) {
	if w.mp == nil || !w.on {
		return
	}
	p, s := &c.packet, c.f.Seq
	aack := psn.Unwrap(s, p.MPETH.AACK)
	switch {
	case aack == s-1:
		c.found(w, mpAACK, Violates, say("ACK of %s with AACK %s: all before it has come, so that it is in order itself", s.PSN(), aack.PSN()))
	case aack >= w.top:
		c.doubtFeedback(w, mpAACK, aack, true, say("AACK is %s, the last PSN sent is %s", aack.PSN(), (w.top-1).PSN()), w.previous.frame)
	case !w.mp.heard || aack > w.mp.aack:
		w.mp.aack, w.mp.heard = aack, true
	}
	w.mp.slots = max(w.mp.slots, s-aack)
	c.hasAll(w, aack+1)
	c.misses(w, s, aack+1)
	e := &w.mp.packets[uint64(s)%uint64(len(w.mp.packets))]
	if !e.known || e.seq != s {
		return
	}
	e.acks++
	if e.copies == 1 {
		w.mp.served = max(w.mp.served, e.frame)
	}
	if e.partial || e.began <= w.mp.blind {
		return
	}
	if e.acks > e.copies {
		c.doubt(w, ifByReceiverOnce, mpOneACKPerPacket, say("%s acknowledged %d times, it was sent %d times", s.PSN(), e.acks, e.copies), e.frame)
	}
	if !e.moved && p.Path != e.path {
		c.found(w, mpACKOnOwnPath, Violates, say("ACK of %s on path %d, it was sent on path %d", s.PSN(), p.Path, e.path), e.frame)
	}
	h := &p.MPETH
	if h.ReTxEcho && !e.again || !h.ReTxEcho && !e.first {
		c.found(w, mpEchoes, Violates, say("ReTxEcho of %s is %t, its ReTx was not", s.PSN(), h.ReTxEcho), e.frame)
	}
	if !h.ECE && !e.clear {
		c.doubt(w, ifOnce, mpEchoes, say("ACK of %s without ECE, it carried a CE mark", s.PSN()), e.frame)
	}
	if h.ECE && !e.ce {
		c.doubt(w, ifByReceiverOnce, mpEchoes, say("ACK of %s with ECE, it carried no CE mark", s.PSN()), e.frame)
	}
}

// mpRest judges the packets in sight when a flow ends.
func (c *Checker) mpRest(w *flow) {
	if w.mp != nil {
		for i := range w.mp.packets {
			c.mpMissing(w, &w.mp.packets[i])
		}
	}
}
