package psn

import (
	"testing"

	"pgregory.net/rapid"
)

// Unwrap finds the one Seq within half a turn of ref whose low 24 bits are p.
func TestUnwrapIsNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ref, p := Seq(rapid.Int64Range(-1<<50, 1<<50).Draw(t, "ref")), psns().Draw(t, "p")
		got := Unwrap(ref, p)
		if floorMod(int64(got)) != p || got.PSN() != p {
			t.Fatalf("Unwrap(%d, %d) = %d, which is PSN %d", ref, p, got, got.PSN())
		}
		if d := int64(got - ref); d < -modulus/2 || d >= modulus/2 {
			t.Fatalf("Unwrap(%d, %d) = %d, %d away", ref, p, got, d)
		}
	})
}

// A stream that is followed step by step never loses its place, forwards or
// backwards, over many turns.
func TestUnwrapFollowsAStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		truth := rapid.Int64Range(-modulus, modulus).Draw(t, "start")
		at := Seq(truth)
		for _, step := range rapid.SliceOfN(rapid.Int64Range(-modulus/2, modulus/2-1), 1, 50).Draw(t, "steps") {
			truth += step
			at = Unwrap(at, floorMod(truth))
			if int64(at) != truth {
				t.Fatalf("at %d, want %d", at, truth)
			}
		}
	})
}

func TestSpanAgainstWalk(t *testing.T) {
	spans := rapid.Custom(func(t *rapid.T) Span {
		return Span{Seq(rapid.Int64Range(-20, 20).Draw(t, "first")), Seq(rapid.Int64Range(-20, 20).Draw(t, "last"))}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := spans.Draw(t, "a"), spans.Draw(t, "b")
		var n, both int64
		for q := Seq(-25); q <= 25; q++ {
			inA, inB := a.First <= q && q <= a.Last, b.First <= q && q <= b.Last
			if a.Contains(q) != inA {
				t.Fatalf("%v.Contains(%d) = %v", a, q, a.Contains(q))
			}
			if inA {
				n++
			}
			if inA && inB {
				both++
			}
			if a.Intersect(b).Contains(q) != (inA && inB) {
				t.Fatalf("%v and %v: %d in common is %v", a, b, q, a.Intersect(b).Contains(q))
			}
		}
		if a.Len() != n || a.Intersect(b).Len() != both {
			t.Fatalf("lengths %d and %d, want %d and %d", a.Len(), a.Intersect(b).Len(), n, both)
		}
	})
}

func TestSpanRangeWraps(t *testing.T) {
	if got := (Span{-2, 1}).Range(); got != (Range{0xfffffe, 1}) || got.Len() != 4 {
		t.Errorf("got %v, want 16777214-1", got)
	}
}
