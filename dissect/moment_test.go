package dissect

import (
	"math"
	"testing"
	"time"
)

func TestMoment(t *testing.T) {
	at := func(s string) int64 {
		p, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return p.UnixNano()
	}
	first, last := at("2026-11-30T15:51:06.44Z"), at("2026-11-30T16:00:00Z")
	for _, c := range []struct{ text, want string }{
		{"2026-11-30T15:51:06.44Z", "2026-11-30T15:51:06.44Z"},
		{"2026-11-30T15:51:06.440000001Z", "2026-11-30T15:51:06.440000001Z"},
		{"2026-11-30T17:51:06+02:00", "2026-11-30T15:51:06Z"},
		{"2026-11-30 15:51:06.5Z", "2026-11-30T15:51:06.5Z"},
		{"2026-11-30T15:51:06.5", "2026-11-30T15:51:06.5Z"},
		{"2026-11-30 15:51:06", "2026-11-30T15:51:06Z"},
		{"1700000000", "2023-11-14T22:13:20Z"},
		{"1700000000.000001001", "2023-11-14T22:13:20.000001001Z"},
		{"1700000000.5", "2023-11-14T22:13:20.5Z"},
		{"0", "1970-01-01T00:00:00Z"},
		{"15:51:07.25", "2026-11-30T15:51:07.25Z"},
		{"15:52", "2026-11-30T15:52:00Z"},
		{"00:00:00", "2026-12-01T00:00:00Z"}, // 15:51 before the first frame: it means the midnight to come
		{"03:51:06", "2026-12-01T03:51:06Z"},
		{"03:51:07", "2026-11-30T03:51:07Z"},
		{"23:59:59", "2026-11-30T23:59:59Z"},
		{"+1.5s", "2026-11-30T15:51:07.94Z"},
		{"+200ms", "2026-11-30T15:51:06.64Z"},
		{"+1m30s", "2026-11-30T15:52:36.44Z"},
		{"+90", "2026-11-30T15:52:36.44Z"},
		{"+0", "2026-11-30T15:51:06.44Z"},
		{"+.5s", "2026-11-30T15:51:06.94Z"},
		{"-5s", "2026-11-30T15:59:55Z"},
		{"-1.25", "2026-11-30T15:59:58.75Z"},
	} {
		m, err := ParseMoment(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := int64(m.At(first, last)); got != at(c.want) {
			t.Errorf("%s is %v, want %s", c.text, time.Unix(0, got).UTC().Format(time.RFC3339Nano), c.want)
		}
		if m.FromLast() != (c.text[0] == '-') || !m.Given() {
			t.Errorf("%s: counts from the last frame: %v", c.text, m.FromLast())
		}
	}
	for _, s := range []string{"", "+", "-", "now", "+-5s", "--5s", "++1", "+1x", "25:00:00", "15:60", "1.0000000001", "1e9", "-x", "2026-13-01T00:00:00Z",
		"2026-11-30", "99999999999", "9223372036854775808", "0001-01-01T00:00:00Z", "2262-12-31T00:00:00Z", "+2562048h", "0x10", "1_000", "+1.-5", "1.+5"} {
		if m, err := ParseMoment(s); err == nil {
			t.Errorf("%q is taken for %v", s, m)
		}
	}
	// A clock far out of the way must not wrap around.
	far, _ := ParseMoment("+2562047h")
	if got := far.At(math.MaxInt64-5, 0); got != math.MaxInt64 {
		t.Errorf("beyond the end of time: %d", got)
	}
	back, _ := ParseMoment("-2562047h")
	if got := back.At(0, math.MinInt64+5); got != math.MinInt64 {
		t.Errorf("before the beginning of time: %d", got)
	}
	clock, _ := ParseMoment("00:00:01")
	if got, want := int64(clock.At(at("1969-12-31T06:00:00Z"), 0)), at("1969-12-31T00:00:01Z"); got != want {
		t.Errorf("before 1970: %d, want %d", got, want)
	}
}
