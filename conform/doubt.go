package conform

import (
	"slices"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// doubt is a rule that seems to be broken, which only something later can decide.
type doubt struct {
	Violation
	rule   ruleID
	kind   doubtKind
	other  bool    // it was found by the terms of another transport than go-back-N
	at     psn.Seq // unlessMissed: what feedback says of it cannot be
	beyond bool    // it was acknowledged before it was sent; else it was skipped
	time   int64   // of the feedback
	read   psn.Seq // ifInRead: how far into the READ the request stands
	size   uint32  // ifInRead: DMALen
}

type doubtKind uint8

const (
	ifBySender       doubtKind = iota // it is a violation next to the requester, nothing elsewhere
	ifSurelySender                    // the same, where the times or the losses show that the tap is there
	ifByReceiver                      // next to the responder
	ifByReceiverOnce                  // the same, where the network repeats no requests
	ifOnce                            // where the network repeats no requests
	elseNote                          // next to the responder, elsewhere a note
	ifCounts                          // next to the responder, or where that counts up its identifications
	ifCountsElseNote                  // the same, elsewhere a note
	ifGapless                         // next to the responder, or where its identifications show that all it sent passed here
	elseNoteThere                     // next to the requester if that is stated, elsewhere a note
	elseNoteBack                      // next to the responder if that is stated, elsewhere a note
	ifSo                              // if that is how the connection recovers: the others show only later
	ifInRead                          // if the path MTU is shown and says so at the end
	ifNoPaths                         // if this is not MP-RDMA
	unlessMissed                      // unless it turns out that the capture missed packets
)

// place reports whether where the capture point is decides.
func (k doubtKind) place() bool {
	switch k {
	case ifOnce, ifByReceiverOnce, ifCounts, ifCountsElseNote, ifGapless, ifSo, ifInRead, ifNoPaths, unlessMissed:
		return false
	}
	return true
}

// doubts are the doubts of a flow.
type doubts struct {
	waiting []doubt
	listed  int  // place among Checker.doubts, from 1; 0 for none
	holes   int  // PSNs of new data that passed over here
	behind  bool // the responder misses what has passed here
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
	d := doubt{Violation: c.violation(w, r, Violates, text, frames), rule: r, kind: kind, other: w.handle.Transport() != "go-back-n"}
	if c.config.Tap != "" && kind.place() && !(r.paired() && w.handle.Rivals()) && (kind != ifBySender || w.handle.Selective()) {
		c.decide(w, &d)
		return
	}
	c.hold(w, d)
}

// hold lets a doubt wait for the end, or decides it now if there is no room.
func (c *Checker) hold(w *flow, d doubt) {
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
	if beyond && w.stale.about(at.PSN()) {
		return
	}
	if c.config.Rules.has(r) && len(w.waiting) < maxDoubts && c.nDoubt < maxTotalDoubts {
		c.wait(w, doubt{Violation: c.violation(w, r, Violates, text, frames), rule: r, kind: unlessMissed, at: at, beyond: beyond, time: c.f.Packet.Time})
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
	c.lateRest(w)
	for i := range w.waiting {
		c.decide(w, &w.waiting[i])
	}
	c.nDoubt -= len(w.waiting)
	w.waiting = nil
}

// decide reports what is a violation after all.
func (c *Checker) decide(w *flow, d *doubt) {
	stated, v := c.config.Tap != "", &d.Violation
	alien := w.handle.Rivals() && !w.handle.Sure() // who answers may belong to others
	if d.rule.goBackN() && !d.other && (!w.plain || w.handle.Transport() != "go-back-n") || alien && d.rule.paired() {
		return
	}
	if d.rule == nakNamesFirstMissing && w.handle.Twice() {
		return // what is missing may have come with the second one
	}
	switch d.kind {
	case ifBySender:
		if w.handle.Selective() || !c.by(w, dissect.TapSender) && !(w.behind && w.handle.Tap() == "" && !stated && c.passes(w, dissect.TapSender)) {
			return
		}
	case ifSurelySender:
		if !c.by(w, dissect.TapSender) {
			return
		}
	case ifByReceiver:
		if !c.by(w, dissect.TapReceiver) {
			return
		}
	case ifByReceiverOnce:
		if !c.by(w, dissect.TapReceiver) || w.handle.Twice() {
			return
		}
	case ifOnce:
		if w.handle.Twice() {
			return
		}
	case elseNote:
		if !c.by(w, dissect.TapReceiver) {
			v.Severity = Notes
		}
	case ifCounts:
		if !w.order.counts() && !c.by(w, dissect.TapReceiver) {
			return
		}
	case ifCountsElseNote:
		if !w.order.counts() && !c.by(w, dissect.TapReceiver) {
			v.Severity = Notes
		}
	case ifGapless:
		if !w.order.gapless(fewGapless) && !c.by(w, dissect.TapReceiver) {
			return
		}
	case elseNoteThere:
		if !stated || alien || w.handle.Tap() != dissect.TapSender {
			v.Severity = Notes
		}
	case elseNoteBack:
		if !stated || alien || w.handle.Tap() != dissect.TapReceiver {
			v.Severity = Notes
		}
	case ifInRead:
		if n, ok := w.handle.Packets(d.size); !ok || !w.handle.MTUShown() || d.read >= psn.Seq(n) {
			return
		}
	case ifNoPaths:
		switch {
		case w.handle.Transport() == "mp-rdma":
			return
		case w.handle.Transport() == "go-back-n" && !w.plain && w.handle.Service() == codec.RC:
			v.Severity = Notes // nobody has answered, so that it may be
		}
	}
	c.config.Found(v)
}

// fewGapless is of how many packets the identifications must have no gap.
const fewGapless = 8

// by reports whether the capture point is next to an end of the requests: if that
// is stated, or if the times and the losses of both directions agree on it.
func (c *Checker) by(w *flow, end dissect.Tap) bool {
	if w.handle.Tap() == "" && c.config.Tap == "" && end == dissect.TapReceiver && w.near >= fewNear {
		return true
	}
	if w.handle.Tap() != end {
		return false
	}
	return c.config.Tap != "" || c.passes(w, end)
}

// passes reports whether nothing seen speaks against a capture point next to an
// end of the requests.
func (c *Checker) passes(w *flow, end dissect.Tap) bool {
	if end == dissect.TapSender && w.holes > 0 { // new data comes so through a network alone
		return false
	}
	other := w.handle.Reverse()
	return !other.Valid() || other.Tap() != end
}

// sends decides the doubts about feedback that a request decides: fresh says that
// it goes beyond all before.
func (c *Checker) sends(w *flow, s psn.Seq, fresh bool) {
	if len(w.waiting) == 0 || fresh && c.f.BTH.ReTx {
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
	var so []doubt
	before := len(w.waiting)
	w.waiting = slices.DeleteFunc(w.waiting, func(d doubt) bool {
		done, broken := about(&d)
		if broken {
			d.kind = ifSo
			if !w.handle.Rivals() {
				c.decide(w, &d)
				return true
			}
			so = append(so, d)
		}
		return done
	})
	w.waiting = append(w.waiting, so...) // no more than were taken out
	c.nDoubt -= before - len(w.waiting)
}
