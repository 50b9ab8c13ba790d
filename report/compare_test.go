package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/dissect/twopoint"
	"github.com/rdmadump/rdmadump/psn"
)

// compared is a comparison with something of everything.
func compared() *twopoint.Comparison {
	a, b := oneCapture("host1.pcap", 3607), oneCapture("host2.pcap", 3575)
	b.CaptureDrops = 3
	requests := twopoint.Stream{
		Src: address("192.0.2.1"), Dst: address("192.0.2.2"), DestQP: 0x111, Kind: twopoint.Request,
		Upstream: "host1.pcap", Downstream: "host2.pcap", OrderBy: twopoint.ByRoundTrip,
		CopiesAtFirst: 3489, CopiesAtSecond: 3455, VanishedTotal: 32, Damaged: 2, Reordered: 7, Duplicated: 1, CEMarked: 1200, NotCaptured: 1, Outside: 4,
		Hops: &twopoint.Hops{Min: 1, Max: 1}, Delay: dissect.Span{Count: 3455, Min: 1900, Median: 2100, P99: 9000, Max: 412_000},
		VanishedRanges: []psn.Range{{First: 102, Last: 133}},
		DamagedCopies:  []twopoint.DamagedCopy{{Copy: twopoint.Copy{PSN: 90, Copy: 1, Frame: 288}, FrameAtSecond: 287}, {Copy: twopoint.Copy{PSN: 140, Copy: 2, Frame: 377}, FrameAtSecond: 345}},
		ECNChanges:     []twopoint.ECNChange{{From: 2, To: 3, Copies: 1200}, {From: 2, To: 0, Copies: 11}},
		DSCPChanged:    1500, DSCPChanges: []twopoint.DSCPChange{{From: 26, To: 0, Copies: 1499}, {From: 26, To: 8, Copies: 1}},
	}
	for i := range 32 {
		requests.Vanished = append(requests.Vanished, twopoint.Copy{PSN: psn.PSN(102 + i), Copy: 1 + i%2, Frame: 300 + i})
	}
	acks := twopoint.Stream{
		Src: address("192.0.2.2"), Dst: address("192.0.2.1"), DestQP: 0x222, Kind: twopoint.Feedback,
		Upstream: "host2.pcap", Downstream: "host1.pcap", OrderBy: twopoint.ByRoundTrip,
		CopiesAtFirst: 77, CopiesAtSecond: 77, Delay: dissect.Span{Count: 77, Min: 1800, Median: 2000, P99: 5000, Max: 5000},
	}
	reads := twopoint.Stream{
		Src: address("2001:db8::2"), Dst: address("2001:db8::1"), DestQP: 0x333, Kind: twopoint.ReadResponse,
		Upstream: "host2.pcap", Downstream: "host1.pcap", OrderBy: twopoint.ByClock, CopiesAtFirst: 300, CopiesAtSecond: 300,
	}
	return &twopoint.Comparison{
		Schema: twopoint.Schema, Captures: []dissect.Capture{a, b},
		Clock:   twopoint.Clock{From: "host1.pcap", To: "host2.pcap", Offset: -3_250_000, Drift: 12_345, Basis: twopoint.BothWays},
		Streams: []twopoint.Stream{reads, requests}, Feedback: []twopoint.Stream{acks},
		Once:    []twopoint.Once{{Src: address("192.0.2.1"), Dst: address("192.0.2.9"), DestQP: 0x444, Kind: twopoint.Request, File: "host1.pcap", Packets: 24}},
		Totals:  twopoint.Totals{Copies: 3789, Vanished: 32, Damaged: 2, Reordered: 7, Duplicated: 1, NotCaptured: 1},
		Evicted: &twopoint.Evicted{Early: 12, Undecided: 1},
	}
}

func compareText(t *testing.T, l Compare, c *twopoint.Comparison) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := l.Write(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCompareText(t *testing.T) {
	oneWay := compared()
	oneWay.Clock.Basis, oneWay.Clock.Drift, oneWay.Evicted, oneWay.Once = twopoint.OneWay, 0, nil, nil
	oneWay.Streams, oneWay.Feedback, oneWay.Totals = oneWay.Streams[:1], nil, twopoint.Totals{Copies: 300}
	for _, c := range []struct {
		name  string
		width int
		c     *twopoint.Comparison
	}{
		{"compare-80.golden", 80, compared()},
		{"compare-140.golden", 140, compared()},
		{"compare-clean.golden", 80, oneWay},
		{"compare-nothing.golden", 80, &twopoint.Comparison{Captures: compared().Captures, Clock: twopoint.Clock{Basis: twopoint.NoBasis}, Once: compared().Once}},
	} {
		golden(t, c.name, compareText(t, Compare{Width: c.width, Rows: 20, Detail: 5, Copies: 10}, c.c))
	}
}

// Nothing but a name may be longer than the page is wide, and colour must not
// change a word.
func TestCompareTextKeepsToWidth(t *testing.T) {
	plain := compareText(t, Compare{Width: 80, Rows: 20, Detail: 5, Copies: 10}, compared())
	for line := range strings.Lines(string(plain)) {
		if n := printedLen(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	colored := compareText(t, Compare{Style: Colored(), Width: 80, Rows: 20, Detail: 5, Copies: 10}, compared())
	if got := stripColor(string(colored)); got != string(plain) {
		t.Errorf("colour changes the text:\n%s", got)
	}
}
