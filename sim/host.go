package sim

import (
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// host is one of the two ends: a port that all of its machines share.
type host struct {
	*Host
	end   int // 0 sender, 1 receiver
	peer  *host
	shown dissect.Address
	taps  []*tap

	watched bool // capture points lie on the way from here, or at its end

	id    uint16      // identification of the next packet, IPv4
	psn   psn.PSN     // of the next management datagram
	until picoseconds // until when the port sends
	pace  pace

	urgent  queue[order]                         // management and congestion notifications
	waiting [transport.Reply + 1]queue[*machine] // by what they had to send
	queued  int
	freeing bool // an event is on its way for when the port is free
}

// order is a packet that no machine sends.
type order struct {
	mad  *mad  // nil for a congestion notification
	pair *pair // of that
}

// machine is one side of a direction of a queue pair, at a port.
type machine struct {
	transport.Machine
	host   *host
	pair   *pair
	number int // to tell machines apart for good

	waits [transport.Reply + 1]bool // in which queues of the port it stands
	timer transport.Time
	place int // among the timers, -1 when it is not there
}

// touch asks a machine what it wants, after anything that may have changed that.
func (r *run) touch(m *machine) {
	ready := m.Ready(r.now)
	if ready != transport.Idle {
		m.wait(r.class(ready))
	}
	wake := m.Wake()
	if wake <= r.now {
		if ready != transport.Idle {
			return
		}
		wake = r.now + 1 // time must go on
	}
	r.timers.set(m, wake)
}

// class is the queue for what a machine has ready.
func (r *run) class(ready transport.Ready) transport.Ready {
	if r.s.Arbitration == Fair {
		return transport.Fresh
	}
	return ready
}

// wait has a machine stand in a queue, unless it does.
func (m *machine) wait(class transport.Ready) {
	if !m.waits[class] {
		m.waits[class] = true
		m.host.waiting[class].push(m)
		m.host.queued++
	}
}

// serve has a port send what it can at the moment.
func (r *run) serve(h *host) {
	for !h.freeing && (h.urgent.n > 0 || h.queued > 0) {
		if h.until > exact(r.now) {
			h.freeing = true
			r.schedule(h.until.time(), free, h.end)
			return
		}
		if h.urgent.n > 0 {
			r.sendOrder(h, h.urgent.pop())
		} else {
			r.next(h)
		}
	}
}

// next has the machine whose turn it is send a packet, if it still has one.
func (r *run) next(h *host) {
	class := transport.Reply
	for h.waiting[class].n == 0 {
		class--
	}
	m := h.waiting[class].pop()
	h.queued--
	m.waits[class] = false
	switch now := m.Ready(r.now); {
	case now == transport.Idle:
		r.touch(m)
	case r.class(now) != class:
		m.wait(r.class(now))
	default:
		f := r.take()
		m.Next(r.now, &f.packet)
		f.pair, f.mad = m.pair, nil
		r.send(h, f)
		m.wait(class) // and is asked when its turn comes
	}
}

// draw makes the frame of a packet, if somebody looks at it.
func (r *run) draw(h *host, f *flight) {
	f.frame = f.frame[:0]
	switch {
	case h.watched:
	case len(h.taps) > 0:
		f.frame, r.scratch = r.scratch[:0], f.frame
	default:
		return
	}
	var err error
	if f.frame, err = r.framers[h.end].Append(f.frame, &f.packet.Packet, r.vary(f), r.snap); err != nil {
		r.fail(err)
	}
}

// send puts a packet on the wire.
func (r *run) send(h *host, f *flight) {
	r.result.Time = r.now
	f.from = h
	r.count(f)
	f.wire = r.framers[h.end].Len(&f.packet.Packet)
	r.weigh(f)
	path := r.path(f)
	r.draw(h, f)
	h.id++
	r.launch(f)
	if f.pair != nil {
		f.fate.ordinal = f.pair.seen[h.end][f.kind].sent
	}
	f.lanes = path.there
	if h.end == 1 {
		f.lanes = path.back
	}
	for _, t := range h.taps {
		r.capture(t, f, r.now)
	}
	if !h.watched && len(h.taps) > 0 { // nobody looks at the frame any more
		r.scratch, f.frame = f.frame, r.scratch[:0]
	}
	if h.until+999 < exact(r.now) { // else it has just become free, and no part of a nanosecond is wasted
		h.until = exact(r.now)
	}
	h.until += h.pace.taken(f.wire, h.Rate)
	at := h.until.time()
	if first := f.lanes[0]; len(first.before) == 0 {
		r.enter(first, f, at)
	} else {
		r.schedule(at, enter, r.hold(f))
	}
}
