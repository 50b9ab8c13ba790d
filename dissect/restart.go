package dissect

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// A queue pair that is set up anew may begin near its old PSNs, or with the very
// same ones. Its first packets then look like a resend, or like a gap. What tells
// them apart is the MSN: the responder counts the messages of each life from
// zero (IBA 9.7.7.1), while it answers a resend with the count that it had. So
// where, after a silence, a message begins elsewhere than a sender would resume,
// the packets of the connection wait in limbo until an AETH speaks, and are then
// followed in order: as a new epoch, or as what they seemed to be.

const (
	// restartPause is how long a sender is silent at least, in nanoseconds, before
	// it begins anew: a queue pair passes through reset on the way.
	restartPause = 1_000_000
	// longestTimer is more than any retry timer in use waits, in nanoseconds; where
	// the timer is known, slowestTimer times that is.
	longestTimer = 20_000_000_000
	slowestTimer = 8
	// latest is more than a network keeps a packet, and than software is late, in
	// nanoseconds.
	latest = 1_000_000_000

	maxLimbo      = 256     // packets of a connection that wait
	maxLimboTotal = 1 << 14 // packets of all connections
)

// limbo is the packets of a connection of which nobody knows yet whether they
// begin a new life.
type limbo struct {
	owner       *half // whose requests may begin anew
	first, next psn.PSN
	reads       bool // READs are among them
	long        bool // the silence before them was longer than a timer's
	packets     []heldPacket
}

type heldPacket struct {
	half *half
	arrival
}

// restarts reports whether a request that does not continue new data begins a
// new life: for certain, or perhaps.
func (h *half) restarts(in *arrival) (yes, perhaps bool) {
	s := &h.req
	silence := in.time - s.lastHeard()
	if silence < restartPause || in.reTx || !forms[in.op].starts && !h.ended {
		return false, false
	}
	seq := psn.Unwrap(s.top, in.psn)
	switch p := h.partner; {
	case h.ended, p != nil && p.life > h.life, s.gaveUp(silence):
		return true, false
	case silence >= latest && !s.countsMSN && seq > s.top+forwardStep:
		return true, false // all too much to be lost in a pause
	case h.service == codec.UC:
		return seq < s.top && silence >= latest, false
	case seq < s.acked || !s.heard && seq < s.top:
		if h.outlasts(silence) {
			return true, false
		}
	case seq <= s.top:
		return false, false // resumes where the receiver waits
	}
	return false, s.countsMSN && h.partner != nil
}

// gaveUp reports whether a silence is longer than a sender waits for a receiver
// that was not ready.
func (s *stream) gaveUp(silence int64) bool {
	return s.d != nil && s.d.rnr.pending && silence > max(latest, 100*s.d.rnrWait)
}

// outlasts reports whether a silence is longer than the timer can be that would
// end it with a resend.
func (h *half) outlasts(silence int64) bool {
	if timer := h.timer(); timer > 0 {
		return silence > slowestTimer*timer
	}
	return silence > longestTimer
}

// lastHeard is when a packet of the stream passed last, or an answer to one.
func (s *stream) lastHeard() int64 {
	last := s.lastActivity()
	if r := s.responses(); r != nil {
		last = max(last, r.lastTime)
	}
	return last
}

// doubt begins a limbo with the packet.
func (h *half) doubt(in *arrival) {
	l := &limbo{owner: h, first: in.psn, next: in.psn, long: h.outlasts(in.time - h.req.lastHeard())}
	h.limbo, h.partner.limbo = l, l
	h.hold(in)
}

// hold keeps a packet of a connection in limbo, and settles what it can.
func (h *half) hold(in *arrival) {
	l := h.limbo
	a := h.req.a
	renewed, known := l.judge(h, in)
	l.packets = append(l.packets, heldPacket{h, *in})
	a.inLimbo++
	switch {
	case known:
		l.settle(renewed)
	case len(l.packets) == maxLimbo || a.inLimbo > maxLimboTotal:
		l.settle(l.long && l.repeats())
	}
}

// repeats reports whether the packets lie below what the receiver acknowledged.
func (l *limbo) repeats() bool {
	s := &l.owner.req
	return psn.Unwrap(s.top, l.first) < s.acked
}

// judge asks a packet what it says of the others.
func (l *limbo) judge(h *half, in *arrival) (renewed, known bool) {
	s := &l.owner.req
	f := &forms[in.op]
	if h == l.owner {
		if f.response || in.damaged {
			return false, false
		}
		if far := in.psn.Sub(l.next); in.psn == s.top.PSN() && far != 0 || far > togetherPSNs || far < -togetherPSNs {
			return false, true // they were astray
		}
		n := 1
		if l.reads = l.reads || f.fetches; f.verb == codec.VerbRead && in.has.Has(reth) {
			n = int(min(packets(in.reth.DMALen, 0), togetherPSNs))
		}
		if end := in.psn.Add(n); end.Sub(l.next) > 0 {
			l.next = end
		}
		return false, false
	}
	if !f.response || in.damaged || !in.has.Has(codec.HeaderAETH) || in.op == codec.OpcodeIRNReadAck || in.op == codec.OpcodeIRNReadNack {
		return false, false
	}
	grown := psn.PSN(in.aeth.MSN).Sub(s.msn)
	size := l.next.Sub(l.first)
	if at := in.psn.Sub(l.first); at < 0 || at >= size {
		// About what came before; or the first packets were lost.
		before := at < 0 && at >= -backwardReach && in.aeth.MSN == 0 && in.aeth.Syndrome.IsSequenceNAK()
		return before && grown < 0, grown >= 0 || before
	}
	within := int(in.aeth.MSN) <= size
	switch {
	case grown == 0:
		return l.long && l.repeats() && within, true
	case grown < 0:
		return within, within
	}
	// It completed messages, though all it had been sent was acknowledged. Some
	// responders count a READ again that they serve again.
	return within && !l.reads && s.acked == s.top && psn.Unwrap(s.top, in.psn) < s.top, true
}

// settle follows what waited, as a new life or not.
func (l *limbo) settle(renewed bool) {
	h := l.owner
	a := h.req.a
	a.inLimbo -= len(l.packets)
	h.limbo = nil
	if h.partner != nil {
		h.partner.limbo = nil
	}
	if renewed {
		h.req.moved = nil
		h.req.newEpoch(&l.packets[0].arrival)
	}
	for i := range l.packets {
		switch p := &l.packets[i]; {
		case p.half.limbo != nil: // the other direction is in one now
			p.half.hold(&p.arrival)
		case p.half == h && !forms[p.op].response && !p.damaged:
			h.send(&p.arrival)
		default:
			p.half.follow(&p.arrival)
		}
	}
}

// release ends the limbo that a half is in, as far as what is known tells.
func (h *half) release() {
	if l := h.limbo; l != nil {
		l.settle(l.long && l.repeats())
	}
}

// counts takes the number of messages that the responder completed.
func (s *stream) counts(in *arrival) {
	if !in.has.Has(codec.HeaderAETH) {
		return
	}
	if msn := psn.PSN(in.aeth.MSN); !s.countsMSN || msn.Sub(s.msn) > 0 {
		s.msn, s.countsMSN = msn, true
	}
}

// live begins a life of the half, the first or the next.
func (h *half) live(first bool) {
	p := h.partner
	if !first {
		h.life++
		h.ended = false
		if !h.agreed && (p == nil || p.life < h.life) {
			h.mtu, h.mtuShown = anyMTU, false
			if p != nil {
				p.mtu, p.mtuShown = anyMTU, false
			}
		}
	}
	if p != nil {
		h.life = max(h.life, p.life)
	}
}

// end notes that the connection of a half is over: it failed, or was closed. What
// comes on the same queue pairs belongs to another.
func (h *half) end() {
	h.ended = true
	if p := h.partner; p != nil {
		p.ended = true
	}
}
