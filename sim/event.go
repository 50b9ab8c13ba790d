package sim

import "github.com/rdmadump/rdmadump/transport"

// event is something that happens at its time. Events of one time happen in the
// order in which they were made. It holds no pointers, so that moving one costs
// little.
type event struct {
	at     transport.Time
	number uint64
	kind   eventKind
	id     uint32 // of what it happens to, by its index in the run
}

type eventKind uint8

const (
	leave eventKind = iota // the oldest packet of a lane gets to its end
	late                   // a packet that was held back does
	enter                  // a packet gets to the beginning of its first lane
	free                   // a port has sent its packet
	begin                  // a queue pair begins
	post                   // work of a pair falls due
)

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.number < o.number
}

// events is a heap of events, each node with four below it.
type events []event

func (h *events) push(e event) {
	*h = append(*h, e)
	all := *h
	i := len(all) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&all[up]) {
			break
		}
		all[i] = all[up]
		i = up
	}
	all[i] = e
}

// pop takes out the first event.
func (h *events) pop() {
	all := *h
	last := all[len(all)-1]
	*h = all[:len(all)-1]
	if len(*h) > 0 {
		h.replace(last)
	}
}

// replace puts e in place of the first event.
func (h *events) replace(e event) {
	all := *h
	i := 0
	for {
		least := 4*i + 1
		if least >= len(all) {
			break
		}
		for k := least + 1; k < min(least+4, len(all)); k++ {
			if all[k].before(&all[least]) {
				least = k
			}
		}
		if !all[least].before(&e) {
			break
		}
		all[i] = all[least]
		i = least
	}
	all[i] = e
}

// schedule has something happen.
func (r *run) schedule(at transport.Time, kind eventKind, id int) {
	r.events.push(r.event(at, kind, id))
}

func (r *run) event(at transport.Time, kind eventKind, id int) event {
	r.number++
	return event{at, r.number, kind, uint32(id)}
}

// happen has the first event happen.
func (r *run) happen() {
	e := r.events[0]
	id := int(e.id)
	if e.kind == leave {
		n := r.lanes[id]
		f := n.under.pop().flight
		if n.under.n > 0 {
			r.events.replace(r.event(n.under.first().at, leave, id))
		} else {
			r.events.pop()
		}
		r.through(n, f)
		return
	}
	r.events.pop()
	switch e.kind {
	case late:
		f := r.release(id)
		r.through(f.lanes[f.hop], f)
	case enter:
		f := r.release(id)
		r.enter(f.lanes[f.hop], f, r.now)
	case free:
		r.hosts[id].freeing = false
	case begin:
		r.begin(r.pairs[id])
	case post:
		for _, f := range r.pairs[id].flows {
			f.wake()
		}
	}
}

// hold keeps a packet for an event and gives the number for it.
func (r *run) hold(f *flight) int {
	if n := len(r.holes); n > 0 {
		id := r.holes[n-1]
		r.holes = r.holes[:n-1]
		r.held[id] = f
		return id
	}
	r.held = append(r.held, f)
	return len(r.held) - 1
}

func (r *run) release(id int) *flight {
	f := r.held[id]
	r.held[id] = nil
	r.holes = append(r.holes, id)
	return f
}
