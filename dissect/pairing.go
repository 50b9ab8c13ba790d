package dissect

import (
	"slices"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// The BTH names no source queue pair, so that feedback does not say which
// stream it is about. It is found out from PSNs: feedback fits the outstanding
// window of a stream that came the other way between the same two addresses.
// Where it fits one stream only, that is the one. Where it fits several, as
// with jobs that start every queue pair at PSN 0, the feedback waits until the
// others are ruled out; in the end the one wins whose packets asked for just
// these acknowledgements.

// pairing is what a pair of halves rests on.
type pairing uint8

const (
	unpaired pairing = iota
	byFeedback
	byCM
	byUser
)

var pairingNames = [...]string{"none", "feedback", "cm", "user"}

// suitor is a half whose requests the waiting feedback of another may be about.
type suitor struct {
	half  *half
	score int // acknowledgements that its packets asked for
}

// courtship is the search for the partner of a half.
type courtship struct {
	waiting   []arrival // feedback of which the stream is not known yet
	suitors   []suitor
	courtedBy []*half // whose suitors it is among
}

// court gives the half a courtship of its own.
func (h *half) court() {
	if h.courtship == &h.req.a.uncourted {
		h.courtship = &courtship{}
	}
}

// maxWaiting bounds the feedback that waits for its stream.
const maxWaiting = 64

// fate is what becomes of feedback on which stream nobody knew.
type fate uint8

const (
	alone  fate = iota // it fits no stream
	waits              // for its stream
	paired             // the half has a partner now
)

// pairByFeedback seeks the partner of a half whose feedback, or READ response,
// the packet is.
func (a *Analyzer) pairByFeedback(h *half, in *arrival) fate {
	if h.service == codec.UC || h.service == codec.RD {
		return alone
	}
	if h.promised != nil {
		h.wait(in)
		return waits
	}
	if !a.mayLook() {
		if h.hearsay != nil {
			return alone
		}
		h.wait(in)
		return waits
	}
	if len(h.suitors) == 0 {
		if f := a.court(h, in); f != paired {
			return f
		}
	}
	a.looks += int64(len(h.suitors))
	kept := h.suitors[:0]
	for _, c := range h.suitors {
		if c.half.partner == nil && !c.half.gone && c.half.req.fits(in) {
			if c.half.req.askedFor(in) {
				c.score++
			}
			kept = append(kept, c)
		}
	}
	h.suitors = kept
	switch {
	case len(kept) == 1:
		a.pair(h, kept[0].half, byFeedback)
		return paired
	case len(kept) == 0:
		// Nothing fits, neither this nor what waited.
		h.goAlone()
		return alone
	}
	if len(h.waiting) == maxWaiting {
		if best := h.bestSuitor(); best != nil {
			a.pair(h, best, byFeedback)
			return paired
		}
	}
	h.wait(in)
	return waits
}

// court looks for halves whose requests the packet may be about. Where that are
// too many the packet waits, and the search begins again after twice as many.
func (a *Analyzer) court(h *half, in *arrival) fate {
	if len(h.waiting) == 0 {
		a.acknowledgedEmbryo(h, in)
	}
	near := a.between[h.reverse()]
	if near == nil {
		return alone
	}
	if n := len(h.waiting); n&(n-1) != 0 {
		h.wait(in)
		return waits
	}
	h.court()
	var ok bool
	if h.suitors, ok = near.suiting(h.suitors[:0], h, in); !ok {
		h.wait(in)
		return waits
	}
	for _, c := range h.suitors {
		c.half.courted(h)
	}
	return paired
}

// maxCourtedBy bounds how many are known to seek the same partner.
const maxCourtedBy = 1024

// courted notes that a half is among the suitors of another.
func (h *half) courted(by *half) {
	h.court()
	if len(h.courtedBy) == maxCourtedBy {
		h.req.a.looks += maxCourtedBy
		h.courtedBy = slices.DeleteFunc(h.courtedBy, func(c *half) bool {
			return c == by || c.partner != nil || c.gone || len(c.suitors) == 0
		})
	}
	if len(h.courtedBy) < maxCourtedBy {
		h.courtedBy = append(h.courtedBy, by)
	}
}

// wait keeps feedback until its stream is known; the oldest goes first.
func (h *half) wait(in *arrival) {
	h.court()
	if len(h.waiting) == maxWaiting {
		oldest := h.waiting[0]
		h.waiting = append(h.waiting[:0], h.waiting[1:]...)
		h.followAlone(&oldest)
	}
	h.waiting = append(h.waiting, *in)
}

// goAlone follows what waited without a partner, since nothing fits.
func (h *half) goAlone() {
	for i := range h.waiting {
		h.followAlone(&h.waiting[i])
	}
	h.waiting = h.waiting[:0]
}

func (h *half) followAlone(in *arrival) {
	if forms[in.op].verb == codec.VerbReadResponse {
		h.response(in)
	}
}

// bestSuitor is the half whose score is above all others', nil if there is none.
func (h *half) bestSuitor() *half {
	best, tie := -1, false
	for i, c := range h.suitors {
		switch {
		case c.half.partner != nil || c.half.gone:
		case best < 0 || c.score > h.suitors[best].score:
			best, tie = i, false
		case c.score == h.suitors[best].score:
			tie = true
		}
	}
	if best < 0 || tie {
		return nil
	}
	return h.suitors[best].half
}

// fits reports whether the packet can be feedback on these requests.
func (s *stream) fits(in *arrival) bool {
	if !s.on {
		return false
	}
	if s.watch && s.vouches(in) {
		return true
	}
	seq := psn.Unwrap(s.top, in.psn)
	if s.watch && s.tail.waiting && seq >= s.tail.seq && int64(seq-s.tail.seq) < s.tail.most() {
		return true
	}
	if in.op.Service() == codec.IRN && forms[in.op].verb == codec.VerbReadResponse {
		return true // its PSNs are of another space: exclusion must do
	}
	if forms[in.op].verb == codec.VerbReadResponse {
		_, ok := s.readAt(seq)
		return ok
	}
	if in.has.Has(codec.HeaderAETH) && in.aeth.Syndrome.Kind() != codec.KindACK {
		return seq < s.top && (seq >= s.first || s.startsBefore(seq, in))
	}
	if in.has.Has(codec.HeaderTCAETH) && in.tc.LastFinishedPSN != in.psn {
		seq = psn.Unwrap(s.top, in.tc.LastFinishedPSN)
	}
	if _, ok := s.reportsBefore(in); ok {
		return true
	}
	return seq >= s.first-1 && seq < s.top
}

// askedFor reports whether a packet with this PSN asked for an acknowledgement.
func (s *stream) askedFor(in *arrival) bool {
	for i := range s.marks {
		if s.marks[i].time > 0 && s.marks[i].seq.PSN() == in.psn {
			return true
		}
	}
	return false
}

// pairByResend finds the partner of a half whose resend answers a NAK that
// waits for its stream.
func (a *Analyzer) pairByResend(s *stream, seq psn.Seq) {
	if s.response || s.half.partner != nil || s.half.promised != nil || !a.mayLook() {
		return
	}
	p := seq.PSN()
	var found *half
	for _, h := range s.half.courtedBy {
		a.looks++
		if h.partner != nil || h.gone || !h.courts(s.half) {
			continue
		}
		a.looks += int64(len(h.suitors) + len(h.waiting))
		for i := range h.waiting {
			in := &h.waiting[i]
			if in.psn == p && in.has.Has(codec.HeaderAETH) && in.aeth.Syndrome.Kind() != codec.KindACK {
				if found != nil && found != h {
					return
				}
				found = h
			}
		}
	}
	if found != nil {
		a.pair(found, s.half, byFeedback)
	}
}

func (h *half) courts(c *half) bool {
	for _, s := range h.suitors {
		if s.half == c {
			return true
		}
	}
	return false
}

// pair joins two halves, and lets the feedback that waited reach its stream.
func (a *Analyzer) pair(h, c *half, by pairing) {
	h.partner, c.partner = c, h
	h.unlist()
	c.unlist()
	h.pairedBy, c.pairedBy = by, by
	a.join(h, c)
	switch m := h.mtu & c.mtu; {
	case m != 0:
		h.setMTUs(m)
	case h.mtuShown && !c.mtuShown: // the other one is a guess
		h.setMTUs(h.mtu)
	case c.mtuShown && !h.mtuShown:
		h.setMTUs(c.mtu)
	}
	h.transport = max(h.transport, c.transport)
	c.transport = h.transport
	for _, side := range [2]*half{h, c} {
		waiting := side.waiting
		if len(waiting) > 0 || len(side.suitors) > 0 {
			side.waiting, side.suitors = nil, nil
		}
		for i := range waiting {
			in := &waiting[i]
			if forms[in.op].verb == codec.VerbReadResponse {
				side.response(in)
			} else {
				side.partner.req.acknowledged(in)
			}
		}
	}
	for _, side := range [2]*half{h, c} {
		rivals := side.courtedBy
		side.courtship = &a.uncourted
		a.settle(rivals)
	}
}

// settle pairs whoever has one suitor left, now that another was given away.
func (a *Analyzer) settle(rivals []*half) {
	for _, h := range rivals {
		if h.partner != nil || h.gone || len(h.waiting) == 0 {
			continue
		}
		kept := h.suitors[:0]
		for _, c := range h.suitors {
			if c.half.partner == nil && !c.half.gone {
				kept = append(kept, c)
			}
		}
		h.suitors = kept
		if len(kept) == 1 {
			a.pair(h, kept[0].half, byFeedback)
		}
	}
}

// pairAtLast pairs what still waits at the end, if one suitor is the best.
func (a *Analyzer) pairAtLast() {
	for _, h := range a.halves {
		h.release()
		if h.partner == nil && len(h.waiting) > 0 {
			if best := h.bestSuitor(); best != nil {
				a.pair(h, best, byFeedback)
			} else {
				h.goAlone()
			}
		}
	}
}
