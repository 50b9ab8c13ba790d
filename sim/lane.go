package sim

import (
	"fmt"

	"github.com/rdmadump/rdmadump/transport"
)

// lane is one direction of a link of one path.
type lane struct {
	*Link
	id   int         // among the lanes of the run
	busy picoseconds // until when its transmitter is
	pace pace

	loss, damage, duplicate, mark []picker
	reorder                       []picker
	by                            []transport.Time // how long each of reorder holds a packet back

	under  queue[arriving] // packets on it, in the order in which they leave
	before []*tap          // capture points at its beginning
	behind []*tap          // and at its end
}

// arriving is a packet on its way to the end of a lane.
type arriving struct {
	at     transport.Time
	flight *flight
}

func newLane(s *Scenario, l *Link, d *Direction, path int, way string) *lane {
	purpose := func(effect string) string { return fmt.Sprintf("%s %s %d %s ", l.Name, way, path, effect) }
	n := &lane{
		Link:      l,
		loss:      pickers(s, d.Loss, purpose("loss")),
		damage:    pickers(s, d.Damage, purpose("damage")),
		duplicate: pickers(s, d.Duplicate, purpose("duplicate")),
		mark:      pickers(s, d.Mark, purpose("mark")),
	}
	picks := make([]Pick, len(d.Reorder))
	for i := range d.Reorder {
		picks[i] = d.Reorder[i].Pick
		n.by = append(n.by, d.Reorder[i].By)
	}
	n.reorder = pickers(s, picks, purpose("reorder"))
	return n
}

// picoseconds count time where nanoseconds are too coarse: a packet takes few of
// them on a fast link.
type picoseconds int64

// exact is a moment as picoseconds.
func exact(t transport.Time) picoseconds { return picoseconds(t) * 1000 }

// time is the first nanosecond that does not come before.
func (p picoseconds) time() transport.Time { return transport.Time((p + 999) / 1000) }

// taken is how long so many bytes take at a rate.
func taken(bytes int, r Rate) picoseconds { return picoseconds(float64(bytes) * 8e12 / float64(r)) }

// pace remembers how long the newest packet took, as most are as long as the one
// before.
type pace struct {
	bytes int
	takes picoseconds
}

// taken is how long so many bytes take at a rate, which is always the same.
func (p *pace) taken(bytes int, r Rate) picoseconds {
	if bytes != p.bytes {
		p.bytes, p.takes = bytes, taken(bytes, r)
	}
	return p.takes
}

// enter takes a packet at a moment, which is not before that of the packet taken
// last.
func (r *run) enter(n *lane, f *flight, at transport.Time) {
	for _, t := range n.before {
		r.capture(t, f, at)
	}
	if f.kind == management {
		r.queue(n, f, n.occupy(f, at)+n.Delay)
		return
	}
	marked := anyOf(n.mark, f, at)
	if n.Rate > 0 {
		waiting := int64(float64(max(n.busy-exact(at), 0)) * float64(n.Rate) / 8e12)
		if n.Queue.Max > 0 && waiting+int64(f.wire) > n.Queue.Max {
			r.lose(f, n.Name)
			return
		}
		marked = marked || n.Mark.Max > 0 && waiting > n.Mark.Max
	}
	if marked {
		r.congested(f)
	}
	lost, damaged, twice := anyOf(n.loss, f, at), anyOf(n.damage, f, at), anyOf(n.duplicate, f, at)
	by := n.heldBack(f, at)
	leaves := n.occupy(f, at) + n.Delay
	switch {
	case lost:
		r.lose(f, n.Name)
		return
	case damaged:
		r.damage(f)
	}
	if twice {
		r.queue(n, r.twin(f), leaves)
	}
	if by > 0 {
		r.schedule(leaves+by, late, r.hold(f))
	} else {
		r.queue(n, f, leaves)
	}
}

// heldBack is how much longer a packet takes than its turn.
func (n *lane) heldBack(f *flight, at transport.Time) (by transport.Time) {
	for i := range n.reorder {
		if n.reorder[i].chosen(f, at) {
			by = max(by, n.by[i])
		}
	}
	return by
}

// occupy has the transmitter send a packet and returns when it is through.
func (n *lane) occupy(f *flight, at transport.Time) transport.Time {
	if n.Rate == 0 {
		return at
	}
	n.busy = max(n.busy, exact(at)) + n.pace.taken(f.wire, n.Rate)
	return n.busy.time()
}

// queue puts a packet behind those that are on the lane. Only the first of them
// is an event.
func (r *run) queue(n *lane, f *flight, leaves transport.Time) {
	n.under.push(arriving{leaves, f})
	if n.under.n == 1 {
		r.schedule(leaves, leave, n.id)
	}
}

// through brings a packet from the end of a lane to the next one, or to its
// host.
func (r *run) through(n *lane, f *flight) {
	for _, t := range n.behind {
		r.capture(t, f, r.now)
	}
	f.hop++
	if f.hop < len(f.lanes) {
		r.enter(f.lanes[f.hop], f, r.now)
		return
	}
	r.arrive(f)
}
