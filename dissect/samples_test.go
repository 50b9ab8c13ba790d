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
