package report

import (
	"fmt"
	"strconv"
)

// grouped writes n with commas between groups of three digits: "1,234,567".
func grouped[N int | int64 | uint64](n N) string {
	digits := fmt.Sprint(n)
	from := 0
	if digits[0] == '-' {
		from = 1
	}
	for i := len(digits) - 3; i > from; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// counted writes a number with its noun: "1 packet", "2,048 packets".
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}

// percent writes part of whole, "0.5 %", and "" when there is no whole.
func percent(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	p := 100 * float64(part) / float64(whole)
	switch {
	case part == 0:
		return "0 %"
	case p < 0.01:
		return "< 0.01 %"
	case p < 10:
		return strconv.FormatFloat(p, 'g', 2, 64) + " %"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + " %"
}

// span writes nanoseconds with three digits that count: "2 us", "12.3 ms",
// "1.50 s", and from two days on whole days.
func span(ns int64) string { return between(0, ns) }

// between writes the span from one time to another, which is negative where the
// second comes first. It may be longer than an int64 of nanoseconds holds.
func between(from, to int64) string {
	if to < from {
		return "-" + magnitude(uint64(from)-uint64(to))
	}
	return magnitude(uint64(to) - uint64(from))
}

func magnitude(ns uint64) string {
	const second, day = 1e9, 24 * 3600 * 1e9
	if ns >= 2*day {
		return grouped((ns-day/2)/day+1) + " days"
	}
	// Rounding comes before the choice of the unit: 999.9 us are 1.00 ms.
	step := uint64(1)
	for ns/step >= 1000 && step < second {
		step *= 10
	}
	ns = (ns + step/2) / step * step
	for _, u := range [...]struct {
		unit uint64
		name string
	}{{second, "s"}, {second / 1e3, "ms"}, {second / 1e6, "us"}} {
		v := float64(ns) / float64(u.unit)
		switch {
		case ns < u.unit:
			continue
		case v >= 100:
			return grouped(ns/u.unit) + " " + u.name
		case v >= 10:
			return fmt.Sprintf("%.1f %s", v, u.name)
		}
		return fmt.Sprintf("%.2f %s", v, u.name)
	}
	return fmt.Sprintf("%d ns", ns)
}
