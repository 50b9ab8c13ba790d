package twopoint

import "github.com/rdmadump/rdmadump/dissect"

// path is what goes between two addresses, both ways. What goes one way passes
// the two points in the opposite order of what goes the other way. Way 0 is from
// the lower address to the higher.
//
// A ballot is positive where way 0 passes point 0 first.
type path struct {
	hops, marks, times ballot
	last               [2]point // newest distance of either way
	has                [2]bool
	trips              timeline[trip] // the smallest round trip between the points over time
	apart              [2]envelope    // of either way
	streams            int            // that have it
	ids                [2][2]ids      // by way and point
}

// ids tells whether the IP identifications of packets differ.
type ids struct {
	last   uint16
	differ bool
}

type ballot struct{ sum, votes int64 }

// clear reports whether nearly all votes say the same, and which point way 0
// passes first.
func (b ballot) clear() (first uint8, ok bool) {
	if b.sum < 0 {
		return 1, -b.sum*4 >= b.votes*3
	}
	return 0, b.sum > 0 && b.sum*4 >= b.votes*3
}

// favour notes that a packet going the way passed the point first.
func (p *path) favour(way, point uint8, b *ballot) {
	b.votes++
	if way == point {
		b.sum++
	} else {
		b.sum--
	}
}

// trip is a packet either way, close in time: how far apart the clocks are if
// both took equally long, and how long both took.
type trip struct {
	middle point
	score  int64 // round trip between the points, and more the further apart in time the packets were
	any    bool
}

const (
	pathCells = 64
	// steady is how much clocks may drift against each other: 1 in steady.
	steady = 1000
)

// note takes the distance of two mates that went the way.
//
// The distance is the clock offset plus the delay for one way, and the offset
// less the delay for the other. Delays are not negative, so the way with the
// larger distance is the one that passes point 0 first, whatever the clocks say.
func (p *path) note(way uint8, at point) {
	p.apart[way].add(at, pathCells)
	p.last[way], p.has[way] = at, true
	other := p.last[1-way]
	if !p.has[1-way] {
		return
	}
	age := max(at.time-other.time, other.time-at.time)
	trips := p.last[0].apart - p.last[1].apart
	slip := age / steady
	if trips > slip {
		p.favour(0, 0, &p.times)
	} else if -trips > slip {
		p.favour(0, 1, &p.times)
	}
	c := p.trips.cell(at.time, pathCells, joinTrips)
	t := trip{point{other.time + (at.time-other.time)/2, other.apart + (at.apart-other.apart)/2}, max(trips, -trips) + slip, true}
	joinTrips(c, &t)
}

func joinTrips(into, from *trip) {
	if from.any && (!into.any || from.score < into.score) {
		*into = *from
	}
}

// pathKey is two addresses, the lower first.
type pathKey struct{ low, high dissect.Address }

func pathOf(k *streamKey) (pathKey, uint8) {
	if k.dst.Compare(k.src) < 0 {
		return pathKey{k.dst, k.src}, 1
	}
	return pathKey{k.src, k.dst}, 0
}
