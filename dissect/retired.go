package dissect

import "slices"

// maxKeptGaps bounds the closed gaps of all streams together. Where there are
// more each stream keeps fewer of its worst.
const maxKeptGaps = 1 << 17

// retire adds what an evicted half counted to the totals.
func (a *Analyzer) retire(h *half) {
	a.forget(h)
	for _, s := range [2]*stream{&h.req, h.resp} {
		if s == nil || s.d == nil {
			continue
		}
		s.refute()
		d := s.d
		if !a.leftOut(h) {
			a.retired.Lost += d.lost + d.spoilt.Len()
			a.retired.Retransmitted += d.resent.packets
			a.retired.NotCaptured += d.notCaptured
		}
		a.evicted.Gaps += int64(len(d.done) + len(d.gaps))
	}
	a.letGo(h)
}

// forget counts a half out of what the bounds bound.
func (a *Analyzer) forget(h *half) {
	a.weight -= h.weight
	for _, s := range [2]*stream{&h.req, h.resp} {
		if s != nil && s.d != nil {
			a.gapsKept -= len(s.d.done)
			a.gapsOpen -= s.d.openKnown
		}
	}
}

// keepWorst leaves a stream the worst of its closed gaps.
func (a *Analyzer) keepWorst(d *recovery, limit int) {
	if len(d.done) <= limit {
		return
	}
	d.worst = true
	a.gapsKept -= len(d.done) - limit
	a.room.gaps = a.room.worst(d.done, limit)
	if cap(d.done) > 4*limit+64 {
		d.done = slices.Clone(a.room.gaps) // more were kept before
	} else {
		rest := d.done[copy(d.done, a.room.gaps):]
		clear(rest)
		d.done = d.done[:limit]
	}
	clear(a.room.gaps)
}

// boundKept halves what each stream may keep where all keep too much.
func (a *Analyzer) boundKept() {
	for a.gapsKept > max(maxKeptGaps, 2*a.config.MaxGaps) && a.gapLimit > 1 {
		a.gapLimit = max(1, a.gapLimit/2)
		before := a.gapsKept
		for _, h := range a.halves {
			for _, s := range [2]*stream{&h.req, h.resp} {
				if s != nil && s.d != nil {
					a.keepWorst(s.d, a.gapLimit)
				}
			}
		}
		a.evicted.Gaps += int64(before - a.gapsKept)
	}
}
