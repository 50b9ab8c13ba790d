package dissect

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Moment is a point in time as people name it, which may count from the first or
// the last frame of a capture. The zero Moment is none.
type Moment struct {
	kind momentKind
	ns   int64 // since 1970, since midnight, or since the frame that it counts from
}

type momentKind uint8

const (
	noMoment momentKind = iota
	absolute
	clockTime // of the day of the first frame, UTC
	fromFirst
	fromLast
)

// ParseMoment reads
//
//	2026-11-30T15:51:06.44Z     RFC 3339; UTC where the zone is left out
//	1796053866.440000000        seconds since 1970
//	15:51:06.44                 a time of day, UTC
//	+1.5s, +200ms, +1m30s, +90  after the first frame; a bare number is seconds
//	-5s                         before the last frame
func ParseMoment(s string) (Moment, error) {
	if s == "" {
		return Moment{}, errMoment
	}
	switch s[0] {
	case '+', '-':
		ns, ok := duration(s[1:])
		switch {
		case !ok:
			return Moment{}, errMoment
		case s[0] == '-':
			return Moment{fromLast, -ns}, nil
		}
		return Moment{fromFirst, ns}, nil
	}
	if ns, ok := seconds(s); ok {
		return Moment{absolute, ns}, nil
	}
	for _, layout := range []string{time.TimeOnly, "15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return Moment{clockTime, t.Sub(t.Truncate(day)).Nanoseconds()}, nil
		}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", time.DateTime} {
		if t, err := time.Parse(layout, s); err == nil {
			if t.Year() < 1678 || t.Year() > 2261 {
				return Moment{}, errors.New("want a year from 1678 to 2261")
			}
			return Moment{absolute, t.UnixNano()}, nil
		}
	}
	return Moment{}, errMoment
}

var errMoment = errors.New("want a date and time (2026-11-30T15:51:06.44Z), a time of the capture's first day in UTC (15:51:06), " +
	"seconds since 1970, or a distance from the first frame (+1.5s) or from the last (-5s)")

const day = 24 * time.Hour

// duration reads what time.ParseDuration does, and bare seconds.
func duration(s string) (ns int64, ok bool) {
	if ns, ok := seconds(s); ok {
		return ns, true
	}
	if s == "" || s[0] == '+' || s[0] == '-' {
		return 0, false
	}
	d, err := time.ParseDuration(s)
	return d.Nanoseconds(), err == nil
}

// seconds reads a decimal number exactly, down to nanoseconds.
func seconds(s string) (ns int64, ok bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	if len(fraction) > 9 {
		return 0, false
	}
	sec, err := strconv.ParseUint(whole, 10, 63)
	if err != nil || sec >= math.MaxInt64/uint64(time.Second) {
		return 0, false
	}
	frac, err := strconv.ParseUint(fraction+"000000000"[len(fraction):], 10, 32)
	if err != nil {
		return 0, false
	}
	return int64(sec)*int64(time.Second) + int64(frac), true
}

// Given reports whether it is a point in time at all.
func (m Moment) Given() bool { return m.kind != noMoment }

// FromLast reports whether it counts from the last frame, so that the capture
// must have been read before it is known.
func (m Moment) FromLast() bool { return m.kind == fromLast }

// At is the point in time, for a capture whose first and last frame have these
// times, all in nanoseconds since 1970. A time of day is of the first frame's
// day; where that is more than half a day before the first frame, of the next
// day, since the capture has run past midnight then.
func (m Moment) At(first, last int64) Time {
	switch m.kind {
	case clockTime:
		midnight := first - ((first%int64(day))+int64(day))%int64(day)
		at := saturating(midnight, m.ns)
		if at < first-int64(day)/2 {
			at = saturating(at, int64(day))
		}
		return Time(at)
	case fromFirst:
		return Time(saturating(first, m.ns))
	case fromLast:
		return Time(saturating(last, m.ns))
	}
	return Time(m.ns)
}

func saturating(a, b int64) int64 {
	sum := a + b
	switch {
	case b > 0 && sum < a:
		return math.MaxInt64
	case b < 0 && sum > a:
		return math.MinInt64
	}
	return sum
}
