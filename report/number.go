package report

import (
	"fmt"
	"strconv"
	"time"
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
// "1.50 s".
func span(ns int64) string {
	d := time.Duration(ns)
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	for _, u := range [...]struct {
		unit time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "us"}} {
		if d >= u.unit {
			v := float64(d) / float64(u.unit)
			switch {
			case v >= 100:
				return fmt.Sprintf("%s%.0f %s", sign, v, u.name)
			case v >= 10:
				return fmt.Sprintf("%s%.1f %s", sign, v, u.name)
			}
			return fmt.Sprintf("%s%.2f %s", sign, v, u.name)
		}
	}
	return fmt.Sprintf("%s%d ns", sign, d)
}
