package conform

import (
	"slices"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// doubt is a rule that seems to be broken, which only something later can decide.
type doubt struct {
	Violation
	kind   doubtKind
	at     psn.Seq // unlessMissed: what feedback says of it cannot be
	beyond bool    // it was acknowledged before it was sent; else it was skipped
	time   int64   // of the feedback
}

type doubtKind uint8

const (
	ifBySender     doubtKind = iota // it is a violation next to the requester, nothing elsewhere
	ifSurelySender                  // the same, where the times or the losses show that the tap is there
	ifByReceiver                    // next to the responder
	elseNote                        // next to the responder, elsewhere a note
	elseNoteThere                   // next to the requester, elsewhere a note
	ifNoPaths                       // if this is not MP-RDMA
	unlessMissed                    // unless it turns out that the capture missed packets
)

// doubts are the doubts of a flow.
type doubts struct {
	waiting []doubt
	listed  int // place among Checker.doubts, from 1; 0 for none
	holes   int // PSNs of new data that passed over here
}

// Bounds of what waits.
const (
	maxDoubts      = 64      // of a flow
	maxTotalDoubts = 1 << 16 // of all
	maxListed      = 1 << 15 // flows with something to settle at the end
	maxPathFlows   = 1 << 12 // flows of MP-RDMA of which packets are kept
)

// doubt notes that a rule seems to be broken.
func (c *Checker) doubt(w *flow, kind doubtKind, r ruleID, text string, frames ...int) {
	if !c.config.Rules.has(r) {
		return
	}
	d := doubt{Violation: c.violation(w, r, Violates, text, frames), kind: kind}
	if c.config.Tap != "" && kind != unlessMissed && kind != ifNoPaths && (kind != ifBySender || w.handle.Selective()) {
		c.decide(w, &d)
		return
	}
	if len(w.waiting) == maxDoubts || c.nDoubt == maxTotalDoubts {
		c.decide(w, &d)
		return
	}
	c.wait(w, d)
}

// doubtFeedback notes that feedback speaks of at as it cannot: as acknowledged
// before it was sent, where it lies beyond everything, else as received though it
// was not seen. The capture may have missed it.
func (c *Checker) doubtFeedback(w *flow, r ruleID, at psn.Seq, beyond bool, text string, frames ...int) {
	if c.config.Rules.has(r) && len(w.waiting) < maxDoubts && c.nDoubt < maxTotalDoubts {
		c.wait(w, doubt{c.violation(w, r, Violates, text, frames), unlessMissed, at, beyond, c.f.Packet.Time})
	}
}

func (c *Checker) wait(w *flow, d doubt) {
	if !c.list(w) {
		c.decide(w, &d)
		return
	}
	w.waiting = append(w.waiting, d)
	c.nDoubt++
}

// list lets End settle a flow, if there is room.
func (c *Checker) list(w *flow) bool {
	if w.listed == 0 {
		if len(c.doubts) == maxListed {
			return false
		}
		c.doubts = append(c.doubts, w)
		w.listed = len(c.doubts)
	}
	return true
}

// unlist takes a flow off the list.
func (c *Checker) unlist(w *flow) {
	if w.listed == 0 {
		return
	}
	last := c.doubts[len(c.doubts)-1]
	c.doubts[w.listed-1], last.listed = last, w.listed
	c.doubts[len(c.doubts)-1] = nil
	c.doubts, w.listed = c.doubts[:len(c.doubts)-1], 0
}

// settle decides what a flow leaves open.
func (c *Checker) settle(w *flow) {
	c.mpRest(w)
	for i := range w.waiting {
		c.decide(w, &w.waiting[i])
	}
	c.nDoubt -= len(w.waiting)
	w.waiting = nil
}

// decide reports what is a violation after all.
func (c *Checker) decide(w *flow, d *doubt) {
	tap := w.handle.Tap()
	v := &d.Violation
	switch d.kind {
	case ifBySender:
		// Where new data comes with holes it has passed through a network.
		stated := c.config.Tap != ""
		if w.handle.Selective() || tap == dissect.TapReceiver || stated && tap == "" || !stated && w.holes > 0 {
			return
		}
	case ifSurelySender:
		if tap != dissect.TapSender || c.config.Tap == "" && w.holes > 0 {
			return
		}
	case ifByReceiver:
		if tap != dissect.TapReceiver {
			return
		}
	case elseNote:
		if tap != dissect.TapReceiver {
			v.Severity = Notes
		}
	case elseNoteThere:
		if tap != dissect.TapSender {
			v.Severity = Notes
		}
	case ifNoPaths:
		if w.handle.Transport() == "mp-rdma" {
			return
		}
	}
	c.config.Found(v)
}

// sends decides the doubts about feedback that a request decides: fresh says that
// it goes beyond all before.
func (c *Checker) sends(w *flow, s psn.Seq, fresh bool) {
	if len(w.waiting) == 0 {
		return
	}
	c.resolve(w, func(d *doubt) (done, broken bool) {
		switch {
		case d.kind != unlessMissed || d.beyond != fresh:
			return false, false
		case fresh: // the capture may have them in the wrong order
			return true, s <= d.at && c.f.Packet.Time > d.time
		}
		return s <= d.at, s <= d.at
	})
}

// covers decides the doubts that an acknowledgement of everything before s decides.
func (c *Checker) covers(w *flow, s psn.Seq) {
	if len(w.waiting) == 0 {
		return
	}
	c.resolve(w, func(d *doubt) (done, broken bool) {
		return d.kind == unlessMissed && !d.beyond && s > d.at, false
	})
}

// resolve ends the doubts that are done and reports those that are violations.
func (c *Checker) resolve(w *flow, about func(*doubt) (done, broken bool)) {
	before := len(w.waiting)
	w.waiting = slices.DeleteFunc(w.waiting, func(d doubt) bool {
		done, broken := about(&d)
		if broken {
			c.config.Found(&d.Violation)
		}
		return done
	})
	c.nDoubt -= before - len(w.waiting)
}
