package replay

import (
	"container/heap"
	"math"
	"slices"
	"time"

	"github.com/rdmadump/rdmadump/dissect"
)

// held are frames that are held back, a heap by the time when they are let go.
type held struct {
	all    []waiting
	number int64
	bytes  int
}

type waiting struct {
	frame  dissect.Frame // its Data is a copy
	number int64         // those of one time stay in order
	flight *flight
}

// maxHeld bounds the bytes that are held back.
const maxHeld = 256 << 20

// waitingWeight is about what a frame takes beside its bytes.
const waitingWeight = 256

// Len is for package heap.
func (h *held) Len() int { return len(h.all) }

// Less is for package heap.
func (h *held) Less(i, k int) bool {
	a, b := &h.all[i], &h.all[k]
	return a.frame.Time < b.frame.Time || a.frame.Time == b.frame.Time && a.number < b.number
}

// Swap is for package heap.
func (h *held) Swap(i, k int) { h.all[i], h.all[k] = h.all[k], h.all[i] }

// Push is for package heap.
func (h *held) Push(v any) { h.all = append(h.all, v.(waiting)) }

// Pop is for package heap.
func (h *held) Pop() any {
	last := h.all[len(h.all)-1]
	h.all[len(h.all)-1] = waiting{}
	h.all = h.all[:len(h.all)-1]
	return last
}

// hold keeps a frame for a time.
func (r *Replayer) hold(f *dissect.Frame, c *flight, by time.Duration) error {
	w := waiting{frame: *f, number: r.held.number, flight: c}
	w.frame.Data = slices.Clone(f.Data)
	w.frame.Time = f.Time + min(int64(by), math.MaxInt64-max(f.Time, 0))
	r.held.number++
	if r.held.bytes += len(f.Data) + waitingWeight; r.held.bytes > maxHeld {
		return tooMuch()
	}
	heap.Push(&r.held, w)
	return nil
}

// release lets go what is due before a time.
func (r *Replayer) release(before int64) error {
	for len(r.held.all) > 0 && r.held.all[0].frame.Time < before {
		if err := r.next(); err != nil {
			return err
		}
	}
	return nil
}

// next lets the first one go.
func (r *Replayer) next() error {
	w := heap.Pop(&r.held).(waiting)
	r.held.bytes -= len(w.frame.Data) + waitingWeight
	return r.arrive(&w.frame, w.flight)
}
