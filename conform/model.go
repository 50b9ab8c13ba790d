package conform

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/gobackn"
)

// model is a responder that is given what passes here, and what it says. The real
// one may not get everything that passes, so that the model is ahead of it; where
// the real one refuses, the model goes back to that.
type model struct {
	expected  *gobackn.Responder // nil while it is not known where it stands
	mtu       int                // that it was told
	from      psn.Seq            // where it began: of what came before it knows nothing
	agreed    bool               // since then the real one has said that it stands there too
	missing   bool               // it waits for a PSN that was passed over
	reveals   int                // the frame that passed over it
	ends      []ending           // of messages, from the last one acknowledged on
	counts    bool               // offset is known
	offset    uint32             // of the real MSN from the model's
	strange   uint32             // another offset, which the last MSN spoke for
	countedAt int                // the frame that said so last
	naks      [8]psn.Seq         // that it sent last: the real ones may be in flight
	nNAKs     int
	passed    psn.Seq // what had passed here below this when the model began may arrive yet
}

// hasSaid reports whether the model has sent a NAK of s lately.
func (m *model) hasSaid(s psn.Seq) bool {
	for _, q := range m.naks[:min(m.nNAKs, len(m.naks))] {
		if q == s {
			return true
		}
	}
	return false
}

// ending is a PSN that ends a message, and the model's MSN then.
type ending struct {
	seq psn.Seq
	msn uint32
}

// Bounds of models.
const (
	maxModels = 1 << 14 // that run at a time
	maxEnds   = 1 << 12 // messages not acknowledged of a flow
)

// leaveModel stops the model: it is not known what the responder expects.
func (w *flow) leaveModel() {
	if w.expected != nil {
		w.c.models--
	}
	w.model = model{ends: w.ends[:0]}
}

// join starts the model where it expects s, and says whether there is room.
func (w *flow) join(s psn.Seq, msn uint32) bool {
	if w.expected == nil {
		if w.c.models == maxModels {
			return false
		}
		w.c.models++
	}
	mtu := w.handle.MTU()
	if mtu == 0 {
		mtu = 4096
	}
	w.mtu, w.from = mtu, s
	w.expected = gobackn.NewResponder(transport.QP{MTU: mtu, StartPSN: s.PSN(), StartMSN: msn, Joined: true}, 1)
	w.expected.Expected = s
	w.missing, w.agreed = false, false
	if s < w.top {
		w.passed = max(w.passed, w.top)
	}
	return true
}

// arrive gives the model a request that takes n PSNs, if that is known.
func (c *Checker) arrive(w *flow, n int, sized bool) {
	s, p := c.f.Seq, &c.packet
	if w.ended {
		return
	}
	if !sized {
		w.leaveModel()
		return
	}
	if w.expected == nil {
		if !w.join(s, 0) {
			return
		}
		w.ends = append(w.ends[:0], ending{s - 1, 0})
	}
	if mtu := w.handle.MTU(); mtu > 0 && mtu != w.mtu && s == w.expected.Expected { // known only now
		from := w.from
		w.join(s, w.ends[len(w.ends)-1].msn)
		w.from = from
	}
	m := w.expected
	inOrder := s == m.Expected
	dmaLen := p.RETH.DMALen
	if n > 1 { // one response will do
		p.RETH.DMALen = 1
	}
	m.Receive(transport.Time(0), p)
	p.RETH.DMALen = dmaLen
	for m.Ready(0) != transport.Idle {
		m.Next(0, &c.reply)
		c.wouldSay(w, s)
	}
	switch {
	case inOrder && m.Expected == s+1:
		m.Expected, w.missing = s+psn.Seq(n), false
	case inOrder: // refused: what is wrong with it is another rule's business
		w.leaveModel()
	case s > m.Expected && !w.missing:
		w.missing, w.reveals = true, c.f.Packet.Number
	}
}

// wouldSay notes what the model says to the request s.
func (c *Checker) wouldSay(w *flow, s psn.Seq) {
	r := &c.reply
	if r.AETH.Syndrome.IsSequenceNAK() {
		w.naks[w.nNAKs%len(w.naks)] = w.expected.Expected
		w.nNAKs++
		return
	}
	if r.AETH.Syndrome.Kind() != codec.KindACK || psn.Unwrap(s, r.BTH.PSN) != s {
		return
	}
	if n := len(w.ends); n == 0 || s > w.ends[n-1].seq && r.AETH.MSN != w.ends[n-1].msn {
		if n == maxEnds {
			w.ends = w.ends[:copy(w.ends, w.ends[n/2:])]
		}
		w.ends = append(w.ends, ending{s, r.AETH.MSN})
	}
}

// counted is the model's MSN once s has arrived.
func (w *flow) counted(s psn.Seq) uint32 {
	for i := len(w.ends) - 1; i >= 0; i-- {
		if w.ends[i].seq <= s {
			return w.ends[i].msn
		}
	}
	return 0
}

// count judges the MSN of an acknowledgement of everything up to s.
func (c *Checker) count(w *flow, s psn.Seq, msn uint32) {
	m := &w.model
	m.agreed = m.agreed || m.expected != nil && s+1 == m.expected.Expected
	if m.expected == nil || s >= m.expected.Expected || len(m.ends) == 0 || s < m.ends[0].seq {
		// The capture missed something, or the model joined behind this.
		if m.expected == nil || s >= m.expected.Expected {
			w.leaveModel()
			if w.join(s+1, msn) {
				w.ends = append(w.ends[:0], ending{s, msn})
				w.counts, w.offset, w.countedAt, w.agreed = true, 0, c.f.Packet.Number, true
			}
		}
		return
	}
	i := len(m.ends) - 1
	for m.ends[i].seq > s {
		i--
	}
	want := (m.ends[i].msn + m.offset) & psn.Mask
	if m.counts && msn != want {
		c.found(w, msnGrows, Violates, say("MSN %d with PSN %s, %d follows from the messages completed since", msn, s.PSN(), want), m.countedAt)
		if off := (msn - m.ends[i].msn) & psn.Mask; off != m.strange { // one wrong MSN does not make the next one wrong
			m.strange = off
			return
		}
	}
	m.counts, m.offset, m.countedAt = true, (msn-m.ends[i].msn)&psn.Mask, c.f.Packet.Number
	m.ends = m.ends[:copy(m.ends, m.ends[i:])]
}

// names judges which PSN a sequence NAK names.
func (c *Checker) names(w *flow, s psn.Seq) {
	m := &w.model
	if m.expected == nil {
		return
	}
	switch e := m.expected.Expected; {
	case s > e && m.missing && e >= m.passed:
		c.doubtFeedback(w, nakNamesFirstMissing, e, false, say("NAK names %s, the first missing PSN is %s", s.PSN(), e.PSN()), m.reveals)
	case s == e && !m.missing && s == w.top:
		c.doubtFeedback(w, nakNamesFirstMissing, s, true, say("NAK names %s, and nothing behind it had been sent", s.PSN()), w.previous.frame)
	case s < e && s >= m.from && m.agreed && w.holes > 0 && !m.hasSaid(s):
		c.doubt(w, ifByReceiver, nakNamesFirstMissing, say("NAK names %s, which had arrived: the first missing PSN is %s", s.PSN(), e.PSN()), m.reveals)
	}
}

// refused takes the model back to what the responder has just refused.
func (c *Checker) refused(w *flow, s psn.Seq) {
	m := &w.model
	if m.expected == nil || s == m.expected.Expected || s < m.expected.Expected && m.hasSaid(s) {
		return
	}
	w.behind = w.behind || s < m.expected.Expected && s >= m.from // else it may have been lost before
	if s > m.expected.Expected || len(m.ends) == 0 || m.ends[0].seq >= s {
		w.leaveModel()
		if w.join(s, c.packet.AETH.MSN) {
			w.ends = append(w.ends[:0], ending{s - 1, c.packet.AETH.MSN})
			w.counts, w.countedAt, w.agreed = true, c.f.Packet.Number, true
		}
		return
	}
	for len(m.ends) > 1 && m.ends[len(m.ends)-1].seq >= s {
		m.ends = m.ends[:len(m.ends)-1]
	}
	w.agreed = w.join(s, m.ends[len(m.ends)-1].msn)
}
