package psn

import (
	"testing"

	"pgregory.net/rapid"
)

func TestRangeAgainstWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, n := psns().Draw(t, "first"), rapid.IntRange(1, 40).Draw(t, "n")
		in := map[PSN]bool{}
		last := first
		for i := range n {
			last = PSN((int(first) + i) % modulus)
			in[last] = true
		}
		r := Range{first, last}
		if r.Len() != n {
			t.Fatalf("%v.Len() = %d, want %d", r, r.Len(), n)
		}
		for d := -3; d < n+3; d++ {
			p := floorMod(int64(first) + int64(d))
			if r.Contains(p) != in[p] {
				t.Fatalf("%v.Contains(%d) = %v", r, p, r.Contains(p))
			}
		}
	})
}

func TestRangeText(t *testing.T) {
	for want, r := range map[string]Range{
		"102":        {102, 102},
		"102-103":    {102, 103},
		"16777214-1": {0xfffffe, 1},
	} {
		if got := r.String(); got != want {
			t.Errorf("%#v is %q, want %q", r, got, want)
		}
		if text, err := r.MarshalText(); string(text) != want || err != nil {
			t.Errorf("%#v marshals to %q, %v, want %q", r, text, err, want)
		}
	}
	if all := (Range{5, 4}); all.Len() != modulus || !all.Contains(4) || !all.Contains(5) || !all.Contains(0x800000) {
		t.Errorf("%v is not all PSNs", all)
	}
}
