package twopoint

import "slices"

// aligner knows the distance of two clocks well enough to read two captures in
// step. The distance that is reported is worked out at the end (fitClock).
//
// Where the IP identification tells copies apart, a few distances are enough.
// Elsewhere a sight may be of another copy than the one it is compared with: a
// capture that begins amid retransmissions shows many that are wrong by the same
// amount. The right distance is the one that most sights agree on.
type aligner struct {
	known  bool
	exact  []int64 // distances of copies that cannot be mistaken
	likely []int64 // other distances
	tried  int     // of them, when they were last looked at
	offset int64   // time at point 1 less time at point 0, delays included
	spread int64   // how far the last distances were from it at most
	slack  int64   // how much further than a sight both captures must be read to settle it
}

const (
	// enough distances of either kind make the clocks known.
	enoughExact  = 16
	enoughLikely = 512
	fewLikely    = 64
	mostLikely   = 1 << 16
	// agreement is how close distances are that agree, nanoseconds.
	agreement = 50_000
	// leastSlack is for jitter and for the clocks' drift.
	leastSlack = 10_000_000
)

// learn takes the distance of two sights of one copy.
func (a *aligner) learn(p point) {
	if !a.known {
		a.exact = append(a.exact, p.apart)
		if len(a.exact) >= enoughExact {
			a.know(a.exact)
		}
		return
	}
	off := p.apart - a.offset
	a.offset += off / 16
	a.spread = max(a.spread-a.spread/64, off, -off)
	a.slack = min(leastSlack+2*a.spread, 1e9)
}

// guess takes the distance of two sights that may show one copy.
func (a *aligner) guess(p point) {
	if len(a.likely) >= mostLikely {
		return
	}
	a.likely = append(a.likely, p.apart)
	if len(a.likely) >= 2*a.tried+enoughLikely {
		a.tried = len(a.likely)
		a.settle(enoughLikely)
	}
}

// settle makes do with the distances there are, if so many likely ones agree or
// any is exact.
func (a *aligner) settle(fewest int) {
	if a.known {
		return
	}
	if len(a.exact) > 0 {
		a.know(a.exact)
		return
	}
	slices.Sort(a.likely)
	var most []int64
	for i, k := 0, 0; k < len(a.likely); k++ {
		for a.likely[k]-a.likely[i] > agreement {
			i++
		}
		if k+1-i > len(most) {
			most = a.likely[i : k+1]
		}
	}
	if len(most) > 0 && len(most) >= fewest {
		a.know(most)
	}
}

// know takes distances that agree.
func (a *aligner) know(distances []int64) {
	slices.Sort(distances)
	a.offset = distances[len(distances)/2]
	for i, d := range distances {
		distances[i] = max(d-a.offset, a.offset-d)
	}
	slices.Sort(distances)
	a.spread = 2 * distances[len(distances)/2]
	a.slack = leastSlack + 2*min(a.spread, 1e9)
	a.known, a.exact, a.likely = true, nil, nil
}
