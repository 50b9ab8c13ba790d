package dissect

import "slices"

// RetireIdle ends connections of which nothing came since a time, in nanoseconds
// since 1970, and lets go what was kept of them: an analysis without end, of a
// running network, stays bounded so. They are judged and told as at the end of a
// capture; their losses stay in the totals.
func (a *Analyzer) RetireIdle(since int64) {
	found := false
	for _, h := range a.halves {
		if !h.gone && h.lastTime < since && (h.partner == nil || h.partner.lastTime < since) {
			a.retireIdle(h)
			found = true
		}
	}
	if found {
		a.halves = slices.DeleteFunc(a.halves, func(h *half) bool { return h.gone })
	}
}

// retireIdle ends the connection of a half.
func (a *Analyzer) retireIdle(h *half) {
	sides := [2]*half{h, h.partner}
	for _, side := range sides {
		if side != nil {
			side.release()
			a.leave(side)
		}
	}
	for _, side := range sides {
		if side != nil && a.config.Events != nil {
			side.tellOpen()
		}
	}
	a.closeConnection(h, Silent, a.here)
	c := a.connection(h, a.dropped())
	a.letGoWhole(h, &c)
	a.evicted.Idle++
	for _, side := range sides {
		if side != nil {
			a.drop(side)
			a.forget(side)
		}
	}
}

// dropped reports whether a capture lost frames.
func (a *Analyzer) dropped() bool {
	for i := range a.captures {
		if a.captures[i].CaptureDrops > 0 {
			return true
		}
	}
	return false
}

// AddDrops says that n more frames were lost by the i-th capture, which is read
// still.
func (a *Analyzer) AddDrops(i int, n uint64) { a.input(i).CaptureDrops += n }

// SoFar is the totals at this moment, without ending what is open: losses count
// once they are proved. With queue pairs or packets selected the connections that
// are chosen so far count, and packets beside them that name one.
func (a *Analyzer) SoFar() Totals {
	t := a.totals
	t.Lost, t.Retransmitted, t.NotCaptured = a.retired.Lost, a.retired.Retransmitted, a.retired.NotCaptured
	kept := tally{packets: a.retired.Packets, marked: a.retired.CEMarked}
	for _, h := range a.halves {
		if a.leftOut(h) {
			continue
		}
		if h.partner == nil || h.id < h.partner.id {
			t.Connections++
		}
		kept.add(tally{packets: h.packets, marked: h.marked})
		for _, s := range [2]*stream{&h.req, h.resp} {
			if s != nil && s.d != nil {
				t.Lost += s.d.lost + s.d.spoilt.Len()
				t.Retransmitted += s.d.resent.packets
				t.NotCaptured += s.d.notCaptured
			}
		}
	}
	if a.narrows() {
		kept.add(a.asides.named)
		kept.total(&t)
	}
	t.PauseFrames, t.PFC = a.pauses.frames, a.pauses.priorities
	return t
}

// Input sums up the i-th capture as far as it was read.
func (a *Analyzer) Input(i int) Capture { return a.input(i).Capture }
