package mprdma

import "math"

// window is the congestion window of all paths together, in packets.
type window struct {
	cwnd    float64
	inflate int // acknowledgements of packets that the cumulative point has not passed
}

// ack takes an acknowledgement: ece says that its packet was marked.
func (w *window) ack(ece bool) {
	w.inflate++
	if ece {
		w.cwnd -= 0.5
	} else {
		w.cwnd += 1 / w.cwnd
	}
	w.cwnd = max(w.cwnd, 1)
}

// shrink takes one packet off, for a path that is too slow or a window that is
// not used.
func (w *window) shrink() { w.cwnd = max(w.cwnd-1, 1) }

// moved takes so many packets that the cumulative point has passed, and bounds
// inflate by the packets still in flight.
func (w *window) moved(distance, inFlight int) {
	w.inflate -= distance
	w.bound(inFlight)
}

// bound keeps acknowledgements that came twice, or never, from adding up.
func (w *window) bound(inFlight int) {
	w.inflate = min(w.inflate, inFlight)
	if inFlight == 0 {
		w.inflate = 0
	}
}

// awnd is how many packets may leave: cwnd + inflate - (snd_nxt - snd_una), in
// whole packets.
func (w *window) awnd(inFlight int) int {
	return int(math.Floor(w.cwnd)) + w.inflate - inFlight
}
