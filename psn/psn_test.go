package psn

import (
	"testing"

	"pgregory.net/rapid"
)

const modulus = 1 << 24

// psns draws PSNs, often near the wrap and near the half way point.
func psns() *rapid.Generator[PSN] {
	return rapid.Custom(func(t *rapid.T) PSN {
		base := rapid.SampledFrom([]int{0, modulus / 2, modulus, rapid.IntRange(0, modulus-1).Draw(t, "anywhere")}).Draw(t, "base")
		return PSN((base + rapid.IntRange(-3, 3).Draw(t, "near") + modulus) % modulus)
	})
}

// floorMod is n modulo 2^24 in plain integers, never negative.
func floorMod(n int64) PSN { return PSN(((n % modulus) + modulus) % modulus) }

func TestNewTakesAnyNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		if got := New(n); got != floorMod(n) {
			t.Fatalf("New(%d) = %d, want %d", n, got, floorMod(n))
		}
		u := rapid.Uint32().Draw(t, "u")
		if got := New(u); got != floorMod(int64(u)) {
			t.Fatalf("New(%d) = %d, want %d", u, got, floorMod(int64(u)))
		}
	})
}

func TestAddIsAdditionModulo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, n := psns().Draw(t, "p"), rapid.Int().Draw(t, "n")
		if got, want := p.Add(n), floorMod(int64(p)+int64(n)%modulus); got != want {
			t.Fatalf("%d.Add(%d) = %d, want %d", p, n, got, want)
		}
	})
}

// The distance is the one number in [-2^23, 2^23) that leads back.
func TestSubIsTheShortWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := psns().Draw(t, "p"), psns().Draw(t, "q")
		want := int(p) - int(q)
		for want >= modulus/2 {
			want -= modulus
		}
		for want < -modulus/2 {
			want += modulus
		}
		if got := p.Sub(q); got != want {
			t.Fatalf("%d.Sub(%d) = %d, want %d", p, q, got, want)
		}
		if q.Add(p.Sub(q)) != p {
			t.Fatalf("%d + (%d - %d) is not %d", q, p, q, p)
		}
		if p.Before(q) != (want < 0) {
			t.Fatalf("%d.Before(%d) = %v at distance %d", p, q, p.Before(q), want)
		}
	})
}

func TestSerialOrder(t *testing.T) {
	for _, tc := range []struct {
		p, q PSN
		sub  int
	}{
		{0, 0, 0},
		{1, 0, 1},
		{0, 0xffffff, 1},
		{0xffffff, 0, -1},
		{0x7fffff, 0, 1<<23 - 1},
		{0x800000, 0, -1 << 23}, // half way round counts as behind
		{0, 0x800000, -1 << 23},
		{5, 0xfffffa, 11},
	} {
		if got := tc.p.Sub(tc.q); got != tc.sub {
			t.Errorf("%#x - %#x = %d, want %d", tc.p, tc.q, got, tc.sub)
		}
	}
	if got := PSN(16777215).String(); got != "16777215" {
		t.Errorf("String gives %q", got)
	}
}
