package dissect

import (
	"math/bits"
	"slices"
)

// samples sums up durations: exact up to exactSamples of them, then in bins of
// which each spans 1/32 of an octave, so that a median or p99 is off by at most
// 1.6 %. Minimum, maximum and count stay exact. Memory is bounded by the octaves
// that occur.
type samples struct {
	n        int64
	min, max int64
	*spread  // nil while the two ends tell all
}

// spread is what lies between the ends.
type spread struct {
	exact   []int64
	octaves []octave // sorted; empty while all are exact
}

type octave struct {
	exponent int
	bins     *[binsPerOctave]uint32
}

const (
	exactSamples  = 32
	binsPerOctave = 32
)

// add takes a duration in nanoseconds. One that would be negative, since clocks
// run backwards in captures, is left out.
func (s *samples) add(d int64) {
	if d < 0 {
		return
	}
	ends := [2]int64{s.min, s.max}
	if s.n == 0 || d < s.min {
		s.min = d
	}
	s.max = max(s.max, d)
	s.n++
	if s.n <= 2 {
		return
	}
	if s.spread == nil {
		s.spread = &spread{exact: append(make([]int64, 0, 4), ends[:]...)}
	}
	if s.octaves == nil {
		if len(s.exact) < exactSamples {
			s.exact = append(s.exact, d)
			return
		}
		for _, e := range s.exact {
			s.bin(e)
		}
		s.exact = nil
	}
	s.bin(d)
}

func (s *spread) bin(d int64) {
	d = max(d, 1)
	exponent := bits.Len64(uint64(d)) - 1
	i, found := slices.BinarySearchFunc(s.octaves, exponent, func(o octave, e int) int { return o.exponent - e })
	if !found {
		s.octaves = slices.Insert(s.octaves, i, octave{exponent, new([binsPerOctave]uint32)})
	}
	s.octaves[i].bins[fraction(d, exponent)]++
}

// fraction is the bin of d within its octave.
func fraction(d int64, exponent int) int {
	const log = 5 // of binsPerOctave
	if exponent >= log {
		return int(d>>(exponent-log)) & (binsPerOctave - 1)
	}
	return int(d<<(log-exponent)) & (binsPerOctave - 1)
}

// at is the sample with rank k, counted from 0.
func (s *samples) at(k int64) int64 {
	if s.spread == nil {
		return [2]int64{s.min, s.max}[k]
	}
	if s.octaves == nil {
		sorted := slices.Clone(s.exact)
		slices.Sort(sorted)
		return sorted[k]
	}
	for _, o := range s.octaves {
		for i, n := range o.bins {
			if k -= int64(n); k < 0 {
				low := float64(uint64(1) << o.exponent)
				middle := low * (1 + (float64(i)+0.5)/binsPerOctave)
				return min(max(int64(middle), s.min), s.max)
			}
		}
	}
	return s.max
}

// span is the samples in the form of the report, nil if there are none.
func (s *samples) span() *Span {
	if s == nil || s.n == 0 {
		return nil
	}
	return &Span{Count: s.n, Min: s.min, Median: s.at((s.n - 1) / 2), P99: s.at((s.n*99+99)/100 - 1), Max: s.max}
}
