package capture

import (
	"math"
	"math/bits"
)

// clock turns the timestamps of a pcapng interface into nanoseconds, exactly and
// rounding down: (units*mul >> shift) / div + offset.
type clock struct {
	mul    uint64
	shift  uint
	div    uint64 // 1 unless mul is 1
	offset int64  // seconds
}

// microseconds is the resolution where if_tsresol is missing.
var microseconds = newClock(6)

// newClock takes if_tsresol: the resolution is 10^-n s, or 2^-n s with the most
// significant bit set and the others as n (pcapng, section 4.2, option 9).
func newClock(resolution byte) clock {
	n := uint(resolution &^ 0x80)
	switch {
	case resolution&0x80 != 0:
		return clock{mul: 1e9, shift: n, div: 1}
	case n <= 9:
		return clock{mul: pow10(9 - n), div: 1}
	case n <= 28:
		return clock{mul: 1, div: pow10(n - 9)}
	}
	return clock{mul: 0, div: 1} // not even 2^64 units make a nanosecond
}

func pow10(n uint) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}

// nanoseconds since 1970, or the nearest that an int64 can hold.
func (c *clock) nanoseconds(units uint64) int64 {
	hi, lo := bits.Mul64(units, c.mul)
	if c.shift != 0 {
		hi, lo = shiftRight(hi, lo, c.shift)
	}
	if c.div != 1 {
		lo /= c.div // hi is 0, since mul is 1
	}
	if hi == 0 && lo <= math.MaxInt64 && c.offset == 0 {
		return int64(lo)
	}
	return addSeconds(hi, lo, c.offset)
}

func shiftRight(hi, lo uint64, n uint) (uint64, uint64) {
	if n >= 64 {
		return 0, hi >> (n - 64)
	}
	return hi >> n, lo>>n | hi<<(64-n)
}

// addSeconds adds seconds to the nanoseconds hi, lo, as signed 128-bit numbers
// whose range neither can leave, and saturates the sum.
func addSeconds(hi, lo uint64, seconds int64) int64 {
	offHi, offLo := bits.Mul64(uint64(max(seconds, -seconds)), 1e9) // right for the smallest int64 too
	var carry uint64
	if seconds < 0 {
		lo, carry = bits.Sub64(lo, offLo, 0)
		hi, _ = bits.Sub64(hi, offHi, carry)
	} else {
		lo, carry = bits.Add64(lo, offLo, 0)
		hi, _ = bits.Add64(hi, offHi, carry)
	}
	switch negative := int64(hi) < 0; {
	case negative && (hi != math.MaxUint64 || int64(lo) >= 0):
		return math.MinInt64
	case !negative && (hi != 0 || int64(lo) < 0):
		return math.MaxInt64
	}
	return int64(lo)
}
