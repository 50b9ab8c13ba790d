package twopoint

import (
	"math"
	"slices"
)

// line is the offset of two clocks over time.
type line struct {
	start  int64 // by the clock of point 0
	offset int64 // time at point 1 less time at point 0, at start
	slope  float64
	basis  Basis
	wild   bool // the points show a drift that no clock has; slope is 0
}

// Basis is what the distance of two clocks was worked out from.
type Basis string

// The bases.
const (
	// BothWays: packets went both ways, and both ways are taken to be equally
	// long. The offset is wrong by half of the difference.
	BothWays Basis = "both-directions"
	// OneWay: packets went one way. The fastest is taken to have needed no time,
	// so that delays are those in excess of it.
	OneWay Basis = "one-direction"
	// NoBasis: no packet was seen at both points for certain.
	NoBasis Basis = "none"
)

// at is the offset when the clock of point 0 shows t.
func (l *line) at(t int64) int64 { return l.offset + int64(l.slope*float64(t-l.start)) }

// ppb is the drift: how many nanoseconds the clock of point 1 gains in a second.
func (l *line) ppb() int64 { return int64(math.Round(l.slope * 1e9)) }

// fitClock works out the offset from round trips between the points: the
// shortest are the least disturbed. False when nothing went both ways.
func (p *pair) fitClock() (line, bool) {
	var trips []trip
	for _, pa := range p.paths {
		for _, t := range pa.trips.cells {
			if t.any {
				trips = append(trips, t)
			}
		}
	}
	if len(trips) == 0 {
		return line{basis: NoBasis}, false
	}
	slices.SortFunc(trips, compareTrips)
	usual := trips[len(trips)/2].score
	trips = slices.DeleteFunc(trips, func(t trip) bool { return t.score > 3*usual })
	points := make([]point, 0, mostPoints)
	for _, t := range trips[:min(len(trips), mostPoints)] {
		points = append(points, t.middle)
	}
	l := fit(points, usual)
	l.basis = BothWays
	return l, true
}

func compareTrips(a, b trip) int {
	switch {
	case a.score != b.score:
		return sign(a.score, b.score)
	case a.middle.time != b.middle.time:
		return sign(a.middle.time, b.middle.time)
	}
	return sign(a.middle.apart, b.middle.apart)
}

func sign(a, b int64) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

// mostPoints bounds the points that a line goes through.
const mostPoints = 256

// steepest is the largest drift that two clocks can have: crystals are good to
// 100 ppm each (IEEE 802.3), and poor ones to a few hundred.
const steepest = 500e-6

// fit lays a line through points: the median slope between any two of them
// (Theil-Sen), which a quarter of wild ones does not bend. A drift that does not
// exceed what the points are uncertain by is taken to be none, and so is one that
// exceeds what clocks can have.
func fit(points []point, uncertain int64) line {
	l := line{start: points[0].time}
	end := l.start
	for _, p := range points {
		l.start, end = min(l.start, p.time), max(end, p.time)
	}
	var slopes []float64
	for i, a := range points {
		for _, b := range points[:i] {
			// Points close together say little of a slope.
			if apart := a.time - b.time; apart > (end-l.start)/8 || -apart > (end-l.start)/8 {
				slopes = append(slopes, float64(a.apart-b.apart)/float64(apart))
			}
		}
	}
	if len(slopes) > 0 {
		slices.Sort(slopes)
		slope := slopes[len(slopes)/2]
		switch {
		case math.Abs(slope)*float64(end-l.start) <= float64(uncertain):
		case math.Abs(slope) > steepest:
			l.wild = true // delays that grow or shrink, or copies that were mistaken
		default:
			l.slope = slope
		}
	}
	offsets := make([]int64, len(points))
	for i, p := range points {
		offsets[i] = p.apart - int64(l.slope*float64(p.time-l.start))
	}
	slices.Sort(offsets)
	l.offset = offsets[len(offsets)/2]
	return l
}

// fitOneWay works out the offset from the fastest packets of paths that carry
// packets one way only, and whose order is known.
func (p *pair) fitOneWay(orders map[*path]order) line {
	var fastest [2][]point // of what passes point 0 first, and point 1
	var spread []int64
	for _, pa := range p.paths {
		for way := range pa.apart {
			first := orders[pa].first(uint8(way))
			for _, c := range pa.apart[way].cells {
				if !c.any {
					continue
				}
				at := c.low
				if first == 1 {
					at = c.high
				}
				fastest[first] = append(fastest[first], at)
				spread = append(spread, c.high.apart-c.low.apart)
			}
		}
	}
	if len(spread) == 0 {
		return line{basis: NoBasis}
	}
	slices.Sort(spread)
	most := fastest[0]
	if len(fastest[1]) > len(most) {
		most = fastest[1]
	}
	slices.SortFunc(most, func(a, b point) int { return sign(a.time, b.time) })
	l := fit(most[:min(len(most), mostPoints)], spread[len(spread)/2])
	l.basis = OneWay
	var bounds []int64
	for first, points := range fastest {
		if len(points) == 0 {
			continue
		}
		bound := l.over(points[0])
		for _, at := range points {
			if over := l.over(at); (over < bound) == (first == 0) {
				bound = over
			}
		}
		bounds = append(bounds, bound)
	}
	l.offset += bounds[0]
	if len(bounds) == 2 {
		l.offset += (bounds[1] - bounds[0]) / 2
		l.basis = BothWays
	}
	return l
}

// over is how much further apart a point is than the line says.
func (l *line) over(p point) int64 { return p.apart - l.at(p.time) }
