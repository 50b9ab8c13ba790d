package dissect

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Counts and ends are exact, and quantiles within the error that is stated.
func TestSamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Int64Range(0, 1<<40), 1, 300).Draw(t, "samples")
		var s samples
		for _, d := range all {
			s.add(d)
		}
		s.add(-5)
		slices.Sort(all)
		n := len(all)
		got := s.span()
		if got.Count != int64(n) || got.Min != all[0] || got.Max != all[n-1] {
			t.Fatalf("%+v, want %d from %d to %d", got, n, all[0], all[n-1])
		}
		limit := 0.016
		if n <= exactSamples {
			limit = 0
		}
		for _, q := range []struct {
			name string
			got  int64
			want int64
		}{{"median", got.Median, all[(n-1)/2]}, {"p99", got.P99, all[int(math.Ceil(float64(n)*0.99))-1]}} {
			if d := math.Abs(float64(q.got - q.want)); d > limit*float64(q.want)+1 {
				t.Fatalf("%s of %d is %d, want %d", q.name, n, q.got, q.want)
			}
		}
	})
	if (*samples)(nil).span() != nil || new(samples).span() != nil {
		t.Error("a span of nothing")
	}
}

// At the edges of every bin of some octaves the median is within the stated
// error, 1/64.
func TestSamplesAtTheEdgesOfBins(t *testing.T) {
	for octave := 10; octave < 40; octave += 7 {
		width := int64(1) << octave / binsPerOctave
		for bin := range int64(binsPerOctave) {
			for _, d := range []int64{1<<octave + bin*width, 1<<octave + (bin+1)*width - 1} {
				s := samples{}
				s.add(1) // what lies at the ends is exact
				s.add(1 << 50)
				for range 3 * exactSamples {
					s.add(d)
				}
				if got := s.span().Median; math.Abs(float64(got-d)) > float64(d)/64+1 {
					t.Errorf("median of %d is %d", d, got)
				}
			}
		}
	}
}
