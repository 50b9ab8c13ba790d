package twopoint

// point is how far apart the clocks of two capture points were when a copy
// passed: its time at the second less its time at the first, the delay included.
type point struct {
	time  int64 // by the clock of the first point
	apart int64
}

// envelope is the smallest and the largest distance over time.
type envelope struct {
	timeline[extremes]
}

type extremes struct {
	low, high point
	any       bool
}

func (e *envelope) add(p point, most int) {
	c := e.cell(p.time, most, joinExtremes)
	if !c.any {
		*c = extremes{p, p, true}
		return
	}
	if p.apart < c.low.apart {
		c.low = p
	}
	if p.apart > c.high.apart {
		c.high = p
	}
}

func joinExtremes(into, from *extremes) {
	switch {
	case !from.any:
	case !into.any:
		*into = *from
	default:
		if from.low.apart < into.low.apart {
			into.low = from.low
		}
		if from.high.apart > into.high.apart {
			into.high = from.high
		}
	}
}

// sample is a bounded random choice of points, every one as likely as any other.
type sample struct {
	points []point
	seen   uint64
}

func (s *sample) add(p point, most int) {
	s.seen++
	if len(s.points) < most {
		s.points = append(s.points, p)
		return
	}
	// The choice must be the same in every run over the same captures.
	if i := scramble(s.seen) % s.seen; i < uint64(len(s.points)) {
		s.points[i] = p
	}
}
