package dissect

import "github.com/rdmadump/rdmadump/codec"

// Snapshot is a connection as it stands while packets still come: what is proved
// so far, not what a Report would judge at the end. It costs something only when
// it is asked for.
type Snapshot struct {
	ID        int    // of the connection, as in events and the report; 0 while it has none
	Key       uint32 // tells connections apart also while ID is 0; of a joined one, the older
	Service   string // "RC", "UC", "RD" or "XRC"
	Transport string // as Connection.Transport
	A, B      SnapshotEnd
	First     Time // of a packet; of requests or READ responses, their present epoch
	Last      Time // of the newest packet, either way

	// Directions are what A sends to B and what B sends to A.
	Directions [2]Direction
}

// SnapshotEnd is one end of a connection.
type SnapshotEnd struct {
	Address Address
	QPN     QPN
	Known   bool // the capture told the QPN; else it is 0
}

// Direction is what one end of a connection sends to the other, and what the
// other says of it.
type Direction struct {
	Src, Dst Address
	Counts
	LastRTT Time // the newest round trip, nanoseconds; 0 where none can be trusted here

	half *half // nil while only feedback tells of the direction
	tale *half // that gives the feedback, nil while none came
}

// Counts are what a direction, or several, came to so far.
type Counts struct {
	Packets       int64 // of requests and READ responses, retransmitted ones included
	PayloadBytes  int64
	Feedback      int64 // acknowledgements of them, all kinds
	Acks          int64
	Naks          int64 // all NAK codes but RNR
	RNRNaks       int64
	Timeouts      int64 // of the sender
	Lost          int64 // copies that the network lost, as far as proved; may shrink where one was only late
	Undecided     int64 // PSNs of which nobody can tell, or not yet
	NotCaptured   int64 // PSNs that the capture lost, not the network
	Retransmitted int64 // packets whose PSN had been sent before
	Reordered     int64
	Damaged       int64 // packets with a bad ICRC
	CEMarked      int64 // packets with a CE mark, feedback that goes the same way included
	CNPs          int64 // that ask its sender to slow down
}

// Add adds o.
func (c *Counts) Add(o *Counts) {
	c.Packets += o.Packets
	c.PayloadBytes += o.PayloadBytes
	c.Feedback += o.Feedback
	c.Acks += o.Acks
	c.Naks += o.Naks
	c.RNRNaks += o.RNRNaks
	c.Timeouts += o.Timeouts
	c.Lost += o.Lost
	c.Undecided += o.Undecided
	c.NotCaptured += o.NotCaptured
	c.Retransmitted += o.Retransmitted
	c.Reordered += o.Reordered
	c.Damaged += o.Damaged
	c.CEMarked += o.CEMarked
	c.CNPs += o.CNPs
}

// Live gives the connections that are followed now, until yield returns false,
// in no order that can be relied on. What it gives is valid until yield returns;
// a copy keeps all but Gaps and RTT. It allocates nothing for a connection, and
// changes nothing of what is followed. Before yield returns packets may be
// followed, so that nobody waits for many connections to be looked at: one that is
// let go meanwhile may have another one be missed, or come twice.
func (a *Analyzer) Live(yield func(*Snapshot) bool) {
	dropped := a.dropped()
	s := Snapshot{}
	for i := 0; i < len(a.halves); i++ { // which yield may change
		h := a.halves[i]
		if p := h.partner; p != nil && p.id < h.id || a.leftOut(h) {
			continue
		}
		h.asking().snapshot(&s, dropped)
		if !yield(&s) {
			return
		}
	}
}

// Retired is what connections came to that are followed no longer: those that
// were idle, and those that made room for others. Together with what Live gives
// it is everything so far.
func (a *Analyzer) Retired() Counts { return a.gone }

// snapshot fills s from the half of a connection that asks.
func (h *half) snapshot(s *Snapshot, dropped bool) {
	p := h.partner
	*s = Snapshot{ID: Flow{h}.Connection(), Key: h.id, Service: h.service.String(), Transport: h.transportName(),
		A: SnapshotEnd{Address: h.key.src}, B: SnapshotEnd{h.key.dst, QPN(h.key.qpn), true}, Last: Time(h.lastTime)}
	leaky := h.mayLeak(dropped)
	s.Directions[0].fill(h, p, dropped, leaky)
	s.Directions[1].fill(p, h, dropped, leaky)
	s.Directions[1].Src, s.Directions[1].Dst = h.key.dst, h.key.src
	s.First = h.firstTime()
	switch {
	case p != nil:
		s.A = SnapshotEnd{p.key.dst, QPN(p.key.qpn), true}
		s.Key, s.Last = min(s.Key, p.id), max(s.Last, Time(p.lastTime))
		if first := p.firstTime(); s.First == 0 || first != 0 && first < s.First {
			s.First = first
		}
	case h.promised != nil:
		s.A = SnapshotEnd{h.promised.dst, QPN(h.promised.qpn), true}
	}
	if p == nil && !h.req.on && h.service != codec.RD { // it answers, and A is its receiver
		s.A, s.B = s.B, s.A
		s.Directions[0], s.Directions[1] = s.Directions[1], s.Directions[0]
	}
}

// firstTime is when the present epoch of the half began, 0 while it has none.
func (h *half) firstTime() Time {
	if h.req.on {
		return Time(h.req.beganAt)
	}
	if h.resp != nil && h.resp.on {
		return Time(h.resp.beganAt)
	}
	return 0
}

// fill fills in the direction of a half, on which tale is the feedback.
func (d *Direction) fill(h, tale *half, dropped, leaky bool) {
	d.half, d.tale = h, tale
	if h != nil {
		d.Src, d.Dst = h.key.src, h.key.dst
		h.sent(&d.Counts, dropped, leaky)
		if h.req.side() != receiverSide {
			d.LastRTT = Time(h.req.rttLast)
		}
	}
	if tale != nil {
		tale.told(&d.Counts)
	}
}

// sent adds what the half sent. Of UC nobody repairs what is missing, so that it
// is lost, as in the report.
func (h *half) sent(c *Counts, dropped, leaky bool) {
	c.CEMarked += h.marked
	for _, s := range [2]*stream{&h.req, h.resp} {
		if s == nil {
			continue
		}
		c.Packets += s.packets
		c.PayloadBytes += s.bytes
		if s.moved != nil {
			c.Packets++
		}
		d := s.d
		if d == nil {
			continue
		}
		lost := d.lost
		open := d.doubtful + d.abandoned + max(0, d.holes.Len()-d.counted.Len())
		if leaky {
			open += lost - d.vouched
			lost = d.vouched
		}
		if s.service() == codec.UC && !dropped {
			lost, open = lost+open, 0
		}
		c.Lost += lost + d.spoilt.Len()
		c.Undecided += open
		c.NotCaptured += d.notCaptured
		c.Retransmitted += d.resent.packets
		c.Reordered += d.reordered
		c.Damaged += d.damaged
		c.Timeouts += d.times.timeout.n
	}
}

// told adds what the half said of what it received.
func (h *half) told(c *Counts) {
	c.CNPs += h.cnps
	for _, f := range [2]*feedback{&h.fb, h.readFB} {
		if f == nil {
			continue
		}
		c.Feedback += f.packets
		c.Acks += f.acks
		if f.seldom != nil {
			c.Naks += f.naks
			c.RNRNaks += f.rnrs
		}
	}
	if y := h.hearsay; y != nil && h.partner == nil {
		c.Lost += y.named
	}
}

// RTT sums up the round trips of the direction, nil where there are none or this
// capture point cannot be trusted with them.
func (d *Direction) RTT() *Span {
	if d.half == nil || d.half.req.side() == receiverSide {
		return nil
	}
	return d.half.req.rtts.span()
}

// Gaps are the n gaps that opened last, as far as they are kept, the newest
// first.
func (d *Direction) Gaps(n int) []Gap {
	h := d.half
	if h == nil || n <= 0 {
		return nil
	}
	newest := newestGaps{most: n}
	for _, s := range [2]*stream{&h.req, h.resp} {
		if s == nil || s.d == nil {
			continue
		}
		for i := range s.d.done {
			newest.take(s, &s.d.done[i])
		}
		for i := range s.d.gaps {
			if g := &s.d.gaps[i]; !(g.suspect && g.left > 0) {
				newest.take(s, g)
			}
		}
	}
	out := make([]Gap, 0, len(newest.gaps))
	for _, g := range newest.gaps {
		out = append(out, g.of.gap(g.gap))
	}
	return out
}

// newestGaps are the gaps that opened last, the newest first.
type newestGaps struct {
	most int
	gaps []placedGap
}

// placedGap is a gap and its stream.
type placedGap struct {
	of *stream
	*gap
}

func (n *newestGaps) take(s *stream, g *gap) {
	at := len(n.gaps)
	for at > 0 && n.gaps[at-1].opened.time <= g.opened.time {
		at--
	}
	if at == n.most {
		return
	}
	if len(n.gaps) < n.most {
		n.gaps = append(n.gaps, placedGap{})
	}
	copy(n.gaps[at+1:], n.gaps[at:])
	n.gaps[at] = placedGap{s, g}
}

// letGo keeps what a half came to that is dropped before its time.
func (a *Analyzer) letGo(h *half) {
	if a.leftOut(h) {
		return
	}
	a.retired.add(h)
	dropped := a.dropped()
	h.sent(&a.gone, dropped, h.mayLeak(dropped))
	h.told(&a.gone)
}

// letGoWhole keeps what a connection came to that is over and was judged.
func (a *Analyzer) letGoWhole(h *half, c *Connection) {
	if a.leftOut(h) {
		return
	}
	all := Counts{}
	for _, side := range [2]*half{h, h.partner} {
		if side != nil {
			a.retired.add(side)
			side.sent(&all, false, false)
			side.told(&all)
		}
	}
	all.Lost, all.Undecided, all.NotCaptured, all.Retransmitted = 0, 0, 0, 0
	for i := range c.Streams {
		s := &c.Streams[i]
		all.Lost += s.Lost
		all.Undecided += s.Undecided
		all.NotCaptured += s.NotCaptured
		all.Retransmitted += s.Retransmitted.Packets
	}
	a.gone.Add(&all)
	a.retired.Lost += all.Lost
	a.retired.Retransmitted += all.Retransmitted
	a.retired.NotCaptured += all.NotCaptured
}

// add counts the packets of a half that is followed no longer.
func (t *Totals) add(h *half) {
	t.Packets += h.packets
	t.CEMarked += h.marked
}
