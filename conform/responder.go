package conform

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// responder is what is kept of the feedback.
type responder struct {
	heard    bool
	near     int     // times that it followed so soon that the capture point is next to it
	plain    bool    // an acknowledgement came as go-back-N has them
	acked    psn.Seq // one past the highest PSN known to have arrived, by anything that was said
	cum      psn.Seq // the same by acknowledgements and NAKs alone
	cumAt    sight
	cumMSN   psn.PSN
	points   points
	answers  int  // READ responses and ATOMIC acknowledges
	asked    bool // feedback asked for a resend, from
	askedFor psn.Seq

	said     said
	refusal  refusal // the last one, until what it names was accepted
	notReady bool    // and it was an RNR NAK
	order    idOrder
	model
}

// refusal is a NAK.
type refusal struct {
	seq   psn.Seq
	frame int // 0 for none
}

// acknowledges judges an acknowledgement.
func (c *Checker) acknowledges(w *flow) {
	p, op := &c.packet, c.f.BTH.Opcode
	if w.handle.Transport() != "go-back-n" || op.Service() != codec.RC && op.Service() != codec.XRC {
		return
	}
	if !p.Has(codec.HeaderAETH) || p.Has(codec.HeaderTCAETH) || w.ended || !w.on {
		return
	}
	w.plain = w.plain || op.Verb() == codec.VerbAck
	s, at := c.f.Seq, c.here()
	older := c.sent
	if op.Verb() == codec.VerbAtomicAck {
		w.answers++
		w.heardOf(s+1, at)
		return
	}
	switch kind := p.AETH.Syndrome.Kind(); {
	case kind == codec.KindACK:
		c.ack(w, s, older)
	case kind == codec.KindRNRNAK:
		c.nak(w, s, older)
	case p.AETH.Syndrome.IsSequenceNAK():
		c.nak(w, s, older)
	case kind == codec.KindNAK:
		if s == w.first && !w.firstOp.Starts() && p.AETH.Syndrome == codec.SyndromeInvalidRequest {
			// Else the capture may have begun within a message.
			c.found(w, middleLastFollowFirst, Violates, say("%s comes first, and the responder calls it an invalid request", w.firstOp), w.firstAt)
		}
		w.ended = true
		w.heardOf(s, at)
		w.leaveModel()
	}
}

// soon is less time than a packet needs to another host and an answer back, in
// nanoseconds: adapters alone take longer.
const soon = 500

// fewNear is how often feedback must follow so soon.
const fewNear = 2

// comes notes how soon feedback follows what it is about.
func (c *Checker) comes(w *flow) {
	if q := &w.previous; q.known && q.fresh && q.seq == c.f.Seq && q.seq > w.first {
		if waited := c.f.Packet.Time - q.time; waited >= 0 && waited < soon {
			w.near++
		}
	}
}

// heardOf notes that everything before s has arrived.
func (w *flow) heardOf(s psn.Seq, at sight) {
	if !w.heard || s > w.acked {
		w.acked, w.moved = s, at.time
	}
	w.heard = true
	w.points.add(s, at)
}

// ack judges a positive acknowledgement of s.
func (c *Checker) ack(w *flow, s psn.Seq, older order) {
	at, msn := c.here(), c.packet.AETH.MSN
	switch {
	case s >= w.top:
		c.doubtFeedback(w, ackWithinWindow, s, true, say("ACK of %s, the last PSN sent is %s", s.PSN(), (w.top-1).PSN()), w.previous.frame)
		w.leaveModel()
		return
	case w.heard && s+1 < w.cum:
		c.regress(w, s, older, say("ACK of %s after %s had been acknowledged", s.PSN(), (w.cum-1).PSN()))
		return
	}
	c.covers(w, s+1)
	c.count(w, s, msn)
	w.cum, w.cumAt, w.cumMSN = s+1, at, psn.PSN(msn)
	w.heardOf(s+1, at)
	if w.refusal.frame > 0 && s >= w.refusal.seq {
		w.refusal, w.notReady = refusal{}, false
	}
}

// regress judges an acknowledgement that goes back. A network may have held it
// up; where its sender numbers its packets that shows.
func (c *Checker) regress(w *flow, s psn.Seq, older order, text string) {
	switch {
	case older == sentBefore:
	case older == sentAfter, w.counts && psn.PSN(c.packet.AETH.MSN).Sub(w.cumMSN) >= 0 && w.counted(s) != w.counted(w.cum-1):
		c.found(w, ackRegression, Violates, text, w.cumAt.frame)
	case older == after:
		c.doubt(w, ifCountsElseNote, ackRegression, text, w.cumAt.frame)
	default:
		c.doubt(w, elseNote, ackRegression, text, w.cumAt.frame)
	}
}

// nak judges a sequence NAK, or an RNR NAK, that names s.
func (c *Checker) nak(w *flow, s psn.Seq, older order) {
	at, rnr := c.here(), c.packet.AETH.Syndrome.Kind() == codec.KindRNRNAK
	before := w.refusal
	switch {
	case w.heard && s < w.cum:
		c.regress(w, s, older, say("NAK of %s after %s had been acknowledged", s.PSN(), (w.cum-1).PSN()))
		return
	case s > w.top || s == w.top && rnr:
		c.doubtFeedback(w, ackWithinWindow, s, true, say("NAK of %s, the last PSN sent is %s", s.PSN(), (w.top-1).PSN()), w.previous.frame)
		w.leaveModel()
		return
	case rnr:
	case before.frame > 0 && before.seq == s && !w.handle.Selective():
		text := say("a second NAK of %s, which did not arrive in between", s.PSN())
		if w.notReady {
			text = say("NAK of %s behind the RNR NAK that refused it", s.PSN())
		}
		c.found(w, oneNAK, Violates, text, before.frame)
	default:
		c.names(w, s)
	}
	c.count(w, s-1, c.packet.AETH.MSN)
	w.cum, w.cumAt, w.cumMSN = s, at, psn.PSN(c.packet.AETH.MSN)
	w.heardOf(s, at)
	w.refusal, w.notReady = refusal{s, at.frame}, rnr
	w.asked, w.askedFor = true, s
	c.refused(w, s)
}

// readResponse judges a READ response.
func (c *Checker) readResponse(w *flow) {
	if w.handle.Transport() == "irn" {
		if w.irn != nil && w.irn.read > 0 {
			w.irn.takes(w.irn.read, c.f.Packet.Number)
		}
		return
	}
	if !w.on {
		return
	}
	w.answers++
	at := c.here()
	w.points.add(c.f.Seq, at)
	w.heardOf(c.f.Seq+1, at)
	w.asked, w.askedFor = true, c.f.Seq
}
