package conform

import (
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// flow is what is kept of the requests of one end, and of what is said of them.
type flow struct {
	handle dissect.Flow
	c      *Checker
	epoch  int
	ended  bool // refused for good
	mute   int  // frame of the last feedback from this end that nobody could place
	stale  stale

	requester
	responder
	doubts
	batches   batches
	confirmed confirmed
	arrivals  *arrivals
	irn       *irn
	mp        *mpRDMA
}

// sight is a packet that is referred to again.
type sight struct {
	frame int
	time  int64
}

// here is the packet at hand.
func (c *Checker) here() sight { return sight{c.f.Packet.Number, c.f.Packet.Time} }

// stale is up to where the epoch before had been sent. Where a sender goes back
// very far an epoch may begin that is none, and feedback on that may be in flight
// in any case.
type stale struct {
	known bool
	top   psn.PSN
}

// about reports whether feedback on q may be about the epoch before.
func (s stale) about(q psn.PSN) bool { return s.known && q.Sub(s.top) <= 0 }

// begin forgets what was before a new epoch.
func (w *flow) begin(epoch int) {
	w.stale = stale{w.on, w.top.PSN()}
	if w.epoch != 0 {
		w.c.settle(w)
	}
	w.leaveModel()
	if w.mp != nil {
		w.c.nPaths--
	}
	if w.arrivals != nil {
		w.c.nArrivals--
	}
	w.epoch, w.ended, w.irn, w.mp, w.arrivals = epoch, false, nil, nil, nil
	w.batches, w.confirmed = batches{}, confirmed{}
	w.requester, w.responder = requester{}, responder{}
}

// rejoin forgets what needs every packet: one may have passed unseen.
func (w *flow) rejoin() {
	w.leaveModel()
	w.previous.known, w.message.known, w.running = false, false, false
	if w.mp != nil {
		w.mp.blind = w.c.f.Packet.Number
	}
	if w.arrivals != nil {
		*w.arrivals = arrivals{}
	}
}

// unheard forgets what feedback asks for: there was some that nobody could place.
func (w *flow) unheard() {
	w.points, w.confirmed = points{}, confirmed{}
	if w.irn != nil {
		w.irn.points = points{}
	}
}

// points are the last PSNs at which the requester may have gone back: those that
// feedback had acknowledged up to. A requester resends from the oldest PSN that is
// not acknowledged as far as it knows, and all it knows has passed here.
type points struct {
	at    [32]psn.Seq
	n     int
	where sight // of the newest
}

func (p *points) add(q psn.Seq, at sight) {
	p.where = at
	if p.n > 0 && p.at[(p.n-1)%len(p.at)] == q {
		return
	}
	p.at[p.n%len(p.at)] = q
	p.n++
}

// allows reports whether a resend may begin at q, as far as the points go back.
func (p *points) allows(q psn.Seq) bool {
	n := min(p.n, len(p.at))
	low := psn.Seq(1 << 62)
	for _, at := range p.at[:n] {
		if at == q {
			return true
		}
		low = min(low, at)
	}
	return q < low
}
