package report

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rdmadump/rdmadump/dissect"
)

func TestSpan(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0 ns", 1: "1 ns", 999: "999 ns", 1000: "1.00 us", 1004: "1.00 us", 1005: "1.01 us", 12_345: "12.3 us",
		999_499: "999 us", 999_500: "1.00 ms", 999_999: "1.00 ms", 9_995_000: "10.0 ms", 99_950_000: "100 ms",
		999_999_999: "1.00 s", -999_999_999: "-1.00 s", 12_345_678_901: "12.3 s", 99_999_999_999: "100 s",
		1234_500_000_000: "1,235 s", 2 * 86400e9: "2 days", -2_483_027_967e9: "-28,739 days",
		math.MaxInt64: "106,752 days", math.MinInt64: "-106,752 days",
	} {
		if got := span(ns); got != want {
			t.Errorf("%d ns: %q, want %q", ns, got, want)
		}
	}
	if got := between(math.MinInt64, math.MaxInt64); got != "213,504 days" {
		t.Error(got)
	}
	// What is written is the value, to half of its last digit.
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.Int64Range(0, 99e9).Draw(t, "ns")
		got, err := time.ParseDuration(strings.ReplaceAll(span(ns), " ", ""))
		if off := math.Abs(float64(int64(got) - ns)); err != nil || off > 0.005001*float64(ns) {
			t.Errorf("%d ns: %q", ns, span(ns))
		}
	})
}

// Times that are out of order, or as far apart as a file can say, are neither
// negative durations nor overflow.
func TestTimesFarApart(t *testing.T) {
	const far = 4_294_967_295 * int64(1e9)
	r := lossy()
	r.Captures[0].FirstTime, r.Captures[0].LastTime = dissect.Time(far), 1
	var gaps []dissect.Gap
	for _, c := range r.Connections {
		if g := c.Streams[0].Gaps; len(g) > len(gaps) {
			gaps = g
		}
	}
	for i := range gaps {
		gaps[i].OpenedNS = -far
	}
	gaps[0].ClosedFrame, gaps[0].ClosedNS = 9, -far-1
	gaps[1].ClosedFrame, gaps[1].ClosedNS = 9, math.MaxInt64
	var b strings.Builder
	if err := (Loss{Width: 200, Rows: 20, Detail: 5, Gaps: 10}).Write(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{" -", "after -", "-106,"} {
		if strings.Contains(b.String(), bad) {
			t.Errorf("%q in\n%s", bad, b.String())
		}
	}
	for _, want := range []string{"49,710 days before the first", "1970-01-01 00:00:00 UTC, 49,710 days", "after 156,462 days"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q not in\n%s", want, b.String())
		}
	}
	for at, want := range map[[2]int64]string{
		{math.MaxInt64, math.MinInt64}: "18446744073.709551615",
		{math.MinInt64, math.MaxInt64}: "-18446744073.709551615",
		{-5, 5}:                        "-0.000000010",
	} {
		l := Lines{Origin: at[1]}
		if got := string(l.appendTime(nil, at[0])); got != want {
			t.Errorf("%v: %s, want %s", at, got, want)
		}
	}
}

// One is no plural.
func TestOfOne(t *testing.T) {
	r := &dissect.Report{Captures: []dissect.Capture{{File: "x", Format: "pcap", Frames: 1, RDMAFrames: 1, CaptureDrops: 1, Fragments: 1}},
		Totals: dissect.Totals{Packets: 1}}
	var b strings.Builder
	Loss{Width: 200}.Write(&b, r)
	text := b.String() + NoPackets{1, 1, 1}.String()
	for _, plural := range []string{"1 frames", "1 IP fragments", "1 packets", "1 RDMA packets"} {
		if strings.Contains(text, plural) {
			t.Errorf("%q in\n%s", plural, text)
		}
	}
}

// A time that nobody knows is not 1970.
func TestUnknownTime(t *testing.T) {
	r := &dissect.Report{Captures: []dissect.Capture{{File: "x", Format: "pcapng", Frames: 3}}}
	var b strings.Builder
	Loss{Width: 120}.Write(&b, r)
	if strings.Contains(b.String(), "1970") {
		t.Error(b.String())
	}
	if line, _ := AppendLine(nil, r); strings.Contains(string(line), "_time") {
		t.Errorf("%s", line)
	}
}
