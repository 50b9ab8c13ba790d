package capture

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exact computes nanoseconds with rationals, rounding down and saturating.
func exact(resolution byte, offset int64, units uint64) int64 {
	base, n := int64(10), int64(resolution&0x7f)
	if resolution&0x80 != 0 {
		base = 2
	}
	num := new(big.Int).Mul(new(big.Int).SetUint64(units), big.NewInt(1e9))
	ns := num.Div(num, new(big.Int).Exp(big.NewInt(base), big.NewInt(n), nil))
	ns.Add(ns, new(big.Int).Mul(big.NewInt(offset), big.NewInt(1e9)))
	switch {
	case ns.IsInt64():
		return ns.Int64()
	case ns.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

func TestClock(t *testing.T) {
	units := []uint64{0, 1, 999, 1e6, 1700000000123456, 1700000000123456789, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64}
	offsets := []int64{0, 1, -1, 1699999000, -1699999000, 9223372036, 9223372037, -9223372036, -9223372037, math.MaxInt64, math.MinInt64}
	for range 50 {
		units = append(units, rand.Uint64()>>rand.UintN(64))
		offsets = append(offsets, rand.Int64()>>rand.UintN(64))
	}
	for resolution := range 256 {
		c := newClock(byte(resolution))
		for _, c.offset = range offsets {
			for _, u := range units {
				if got, want := c.nanoseconds(u), exact(byte(resolution), c.offset, u); got != want {
					t.Fatalf("if_tsresol %#x, if_tsoffset %d, units %d: %d ns, want %d", resolution, c.offset, u, got, want)
				}
			}
		}
	}
}
