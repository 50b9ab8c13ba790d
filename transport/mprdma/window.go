package mprdma

import (
	"math"

	"github.com/rdmadump/rdmadump/transport"
)

// window is the congestion window of all paths together, in packets.
type window struct {
	cwnd    float64
	inflate int // acknowledgements of packets that the cumulative point has not passed, less those that owe
	owe     owe // packets that it has passed, and whose own acknowledgements have not come
}

// owe counts acknowledgements that may be under way still, or are lost.
type owe struct {
	recent, before int            // in this while, and in the one before it
	since          transport.Time // when this one began
}

// while is how many round-trip times an acknowledgement is waited for that others
// have overtaken: it may come over a path that is slower than the rest.
const while = 2

// ack takes an acknowledgement: ece says that its packet was marked.
func (w *window) ack(ece bool) {
	if ece {
		w.cwnd -= 0.5
	} else {
		w.cwnd += 1 / w.cwnd
	}
	w.cwnd = max(w.cwnd, 1)
}

// late counts the acknowledgement of a packet that the cumulative point passed
// before, if one was missing: one that comes twice lets nothing leave.
func (w *window) late() {
	switch {
	case w.owe.before > 0:
		w.owe.before--
	case w.owe.recent > 0:
		w.owe.recent--
	default:
		return
	}
	w.inflate++
}

// shrink takes one packet off, for a path that is too slow or a window that is
// not used.
func (w *window) shrink() { w.cwnd = max(w.cwnd-1, 1) }

// moved takes so many packets that the cumulative point has passed, some of them
// unheard: their own acknowledgements have not come.
func (w *window) moved(distance, unheard, inFlight int) {
	w.inflate -= distance
	w.owe.recent += unheard
	if inFlight == 0 {
		w.inflate, w.owe.recent, w.owe.before = 0, 0, 0
	}
}

// aged gives up acknowledgements that have been missing for a while.
func (w *window) aged(now, rtt transport.Time) {
	if now-w.owe.since >= while*rtt {
		w.inflate += w.owe.before
		w.owe = owe{before: w.owe.recent, since: now}
	}
}

// ages is when aged may give something up.
func (w *window) ages(rtt transport.Time) transport.Time { return w.owe.since + while*rtt }

// missing counts the acknowledgements that may be given up in time.
func (w *window) missing() int { return w.owe.recent + w.owe.before }

// awnd is how many packets may leave: cwnd + inflate - (snd_nxt - snd_una), in
// whole packets.
func (w *window) awnd(inFlight int) int {
	return int(math.Floor(w.cwnd)) + w.inflate - inFlight
}
