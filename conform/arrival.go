package conform

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// arrivals follow in which order requests come that may come in any, as IRN and
// MP-RDMA have them, and what their responder says of each. That is judged when it
// says that everything up to a packet has come. If one copy had passed here until
// then, that was taken: a responder may have no room for a packet, or no receive
// posted, but then it needs another copy.
type arrivals struct {
	on       bool
	expected psn.Seq // the lowest PSN that has not come
	above    psn.Set // what has come above it
	cum      psn.Seq // everything before has come, as feedback says
	blind    int     // frame up to which packets may have come unseen
	recent   [256]arrival
}

// arrival is what is kept of a PSN.
type arrival struct {
	seq     psn.Seq
	known   bool
	copies  int
	frame   int     // of the first one
	missing psn.Seq // the lowest PSN that had not come before it
	told    bool    // a NACK says that it came out of order
	accused int     // frame of feedback that misses it, though it came before the packet that this is about; 0 for none
	taken   bool    // the responder has it from its only copy
}

// at is the place of a PSN.
func (a *arrivals) at(s psn.Seq) *arrival { return &a.recent[uint64(s)%uint64(len(a.recent))] }

// find is what is kept of a PSN that came in sight, nil if that is nothing.
func (a *arrivals) find(s psn.Seq) *arrival {
	if e := a.at(s); e.known && e.seq == s && e.frame > a.blind {
		return e
	}
	return nil
}

// maxAbove is how many runs of PSNs may come above one that is missing.
const maxAbove = 1 << 12

// arrives notes a request that takes n PSNs, if that is known.
func (c *Checker) arrives(w *flow, s psn.Seq, n int, sized bool) {
	if w.arrivals == nil {
		if c.nArrivals == maxPathFlows || !c.list(w) {
			return
		}
		c.nArrivals++
		w.arrivals = &arrivals{}
	}
	a := w.arrivals
	if !sized {
		*a = arrivals{}
		return
	}
	if !a.on {
		a.on, a.expected, a.blind = true, s, c.f.Packet.Number-1
	}
	e := a.at(s)
	if !e.known || e.seq != s {
		*e = arrival{seq: s, known: true, frame: c.f.Packet.Number, missing: a.expected}
	}
	e.copies++
	if s >= a.expected {
		a.above.Insert(psn.Span{First: s, Last: s + psn.Seq(n) - 1})
		a.advance()
	}
	if len(a.above.Spans()) > maxAbove {
		*a = arrivals{}
	}
}

// advance moves expected over what has come.
func (a *arrivals) advance() {
	for {
		spans := a.above.Spans()
		if len(spans) == 0 || spans[0].First > a.expected {
			return
		}
		a.expected = max(a.expected, spans[0].Last+1)
		a.above.Remove(spans[0])
	}
}

// hasAll notes that the responder says that everything before s has come. What was
// not seen of it, the capture has missed.
func (c *Checker) hasAll(w *flow, s psn.Seq) {
	a := w.arrivals
	if a == nil || !a.on || s > w.top {
		return
	}
	if s > a.expected {
		a.expected, a.blind = s, c.f.Packet.Number
		a.advance()
	}
	for q := max(a.cum, s-psn.Seq(len(a.recent))); q < s; q++ {
		if e := a.find(q); e != nil && e.copies == 1 {
			e.taken = true
			c.taken(w, e)
		}
	}
	a.cum = max(a.cum, s)
}

// misses notes that feedback on s says that e has not come.
func (c *Checker) misses(w *flow, s, e psn.Seq) {
	a := w.arrivals
	if a == nil || !a.on || e >= s {
		return
	}
	about, lost := a.find(s), a.find(e)
	if about == nil || lost == nil || lost.frame > about.frame || lost.accused > 0 {
		return
	}
	lost.accused = c.f.Packet.Number
	if lost.taken {
		c.taken(w, lost)
	}
}

// outOfOrder notes that a NACK says that s has come out of order.
func (w *flow) outOfOrder(s psn.Seq) {
	if a := w.arrivals; a != nil {
		if e := a.at(s); e.known && e.seq == s {
			e.told = true
		}
	}
}

// taken judges what was said of a packet whose only copy was taken: it had come from
// then on, and if it came out of order IRN says so.
func (c *Checker) taken(w *flow, e *arrival) {
	transport := w.handle.Transport()
	switch rule := irnNACKNamesFirstMissing; {
	case e.accused > 0:
		if transport == "mp-rdma" {
			rule = mpAACK
		}
		c.past(w, rule, say("feedback says that %s has not come, of a packet that came behind it", e.seq.PSN()), e.frame, e.accused)
	case transport == "irn" && e.seq > e.missing && !e.told && w.heardAll(e.frame):
		c.past(w, irnNACKEachArrival, say("no NACK says that %s came, which came out of order: %s was missing", e.seq.PSN(), e.missing.PSN()), e.frame)
	}
}

// past notes that a rule about what a responder says was broken by frames before.
func (c *Checker) past(w *flow, r ruleID, text string, frames ...int) {
	if c.config.Rules.has(r) {
		v := c.violation(w, r, Violates, text, nil)
		v.Frames = frames
		c.hold(w, doubt{Violation: v, rule: r, kind: ifByReceiverOnce, other: true})
	}
}

// irnHas is up to where an IRN responder says that all has come; ok is false if it
// does not say so.
func (c *Checker) irnHas() (s psn.Seq, ok bool) {
	switch op := c.f.BTH.Opcode; {
	case op.Verb() == codec.VerbAtomicAck:
		return c.f.Seq + 1, true
	case op.Verb() != codec.VerbAck || !c.packet.Has(codec.HeaderAETH):
		return 0, false
	case op != codec.OpcodeIRNNack && c.packet.AETH.Syndrome.Kind() == codec.KindACK:
		return c.f.Seq + 1, true
	}
	return c.f.Seq, true
}
