package twopoint

import "slices"

// aligner knows the distance of two clocks well enough to read two captures in
// step. The distance that is reported is worked out at the end (fitClock).
type aligner struct {
	known  bool
	first  []int64 // distances while nothing is known
	offset int64   // time at point 1 less time at point 0, delays included
	spread int64   // how far the last distances were from it at most
	slack  int64   // how much further than a sight both captures must be read to settle it
}

const (
	// enough is how many distances make the clocks known.
	enough = 16
	// leastSlack is for jitter and for the clocks' drift.
	leastSlack = 10_000_000
)

// learn takes a distance.
func (a *aligner) learn(p point) {
	if !a.known {
		a.first = append(a.first, p.apart)
		if len(a.first) >= enough {
			a.settle()
		}
		return
	}
	off := p.apart - a.offset
	a.offset += off / 16
	a.spread = max(a.spread-a.spread/64, off, -off)
	a.slack = min(leastSlack+2*a.spread, 1e9)
}

// settle makes do with the distances there are.
func (a *aligner) settle() {
	if a.known || len(a.first) == 0 {
		return
	}
	slices.Sort(a.first)
	a.offset = a.first[len(a.first)/2]
	a.known, a.slack = true, leastSlack
	for _, d := range a.first {
		a.spread = max(a.spread, d-a.offset, a.offset-d)
	}
	a.slack += 2 * min(a.spread, 1e9)
	a.first = nil
}
