package report

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

func address(s string) dissect.Address { return dissect.AddressFromIP(netip.MustParseAddr(s)) }

// connection is one with requests from a to b.
func connection(id int, a, b string, stream dissect.Stream) dissect.Connection {
	stream.Src, stream.Dst, stream.DestQP = address(a), address(b), dissect.QPN(0x111)
	if stream.Kind == "" {
		stream.Kind = "request"
	}
	return dissect.Connection{
		ID: id, Service: "RC", Transport: "go-back-n", PairedBy: "feedback",
		A:       &dissect.End{Address: address(a), QPN: 0x222},
		B:       &dissect.End{Address: address(b), QPN: 0x111},
		Streams: []dissect.Stream{stream},
	}
}

const start = 1_700_000_000_000_000_000

func oneCapture(name string, frames int64) dissect.Capture {
	return dissect.Capture{File: name, Format: "pcap", Frames: frames, RDMAFrames: frames, FirstTime: start, LastTime: start + 12_345_678_901}
}

// lossy is a report with every kind of event on a few connections.
func lossy() *dissect.Report {
	rkey := uint32(0x1234)
	efficiency := 0.72
	hit := &dissect.Message{Number: 12, OpcodeName: "RC RDMA WRITE First", VA: dissect.NewHex64(0x7f0000000000), RKey: &rkey}
	worst := connection(3, "192.0.2.1", "192.0.2.2", dissect.Stream{
		Epochs: 1, FirstPSN: 16777000, LastPSN: 2000, Packets: 3489, PayloadBytes: 3_489_000,
		Lost: 4, LostRanges: []psn.Range{{First: 102, Last: 103}, {First: 16777215, Last: 0}},
		Undecided: 1, GapsTotal: 3,
		Gaps: []dissect.Gap{
			{First: 102, Last: 103, Count: 2, Evidence: dissect.EvidenceObserved, ConfirmedBy: dissect.EvidenceNAK, Where: dissect.Upstream,
				OpenedFrame: 193, OpenedNS: 6_352_000, Closed: dissect.ClosedRetransmitted, ClosedFrame: 195, ClosedNS: 6_608_000, Copies: 1, Message: hit},
			{First: 16777215, Last: 0, Count: 2, Evidence: dissect.EvidenceNAK, Where: dissect.Downstream,
				OpenedFrame: 61, OpenedNS: 900_000, Closed: dissect.ClosedRetransmitted, ClosedFrame: 70, ClosedNS: 1_100_000, Copies: 2},
			{First: 1999, Last: 1999, Count: 1, Evidence: dissect.EvidenceTimeout, Where: dissect.Unknown,
				OpenedFrame: 3400, OpenedNS: 12_000_000_000, Closed: dissect.Open, Copies: 1},
		},
		Retransmitted: dissect.Retransmitted{Packets: 1569, PayloadBytes: 1_606_656,
			ByCause:   map[dissect.Cause]int64{dissect.CauseNAK: 1500, dissect.CauseTimeout: 69},
			ByVerdict: map[dissect.Verdict]int64{dissect.Needed: 4, dissect.Wasted: 1565}},
		Efficiency: &efficiency,
		Feedback:   dissect.Feedback{Packets: 77, Bytes: 1540, Acks: 60, Naks: 17, NakPSNs: []psn.PSN{102, 16777215}},
		Times: dissect.Times{RTT: &dissect.Span{Count: 60, Min: 1900, Median: 2_100, P99: 9_000, Max: 12_000},
			NakReaction: &dissect.Span{Count: 1, Min: 256_000, Median: 256_000, P99: 256_000, Max: 256_000}},
		Findings: []dissect.Finding{{Kind: "retry-exhausted", Text: "7 resends of PSN 1999 without an answer, then silence: the application sees RETRY_EXC_ERR",
			Counter: "local_ack_timeout_err", Frames: []int{3400, 3420, 3441, 3460, 3477, 3490, 3500}}},
	})
	rnr := connection(1, "192.0.2.7", "192.0.2.2", dissect.Stream{Epochs: 1, Packets: 1416, Retransmitted: dissect.Retransmitted{Packets: 1018,
		ByCause: map[dissect.Cause]int64{dissect.CauseRNR: 1018}, ByVerdict: map[dissect.Verdict]int64{dissect.Needed: 132, dissect.Wasted: 886}},
		Feedback: dissect.Feedback{Packets: 300, Acks: 168, RNRNaks: 132}})
	reads := connection(2, "2001:db8::1", "2001:db8::2", dissect.Stream{Kind: "read-response", Epochs: 2, Packets: 1671, NotCaptured: 25, GapsTotal: 1,
		Gaps: []dissect.Gap{{First: 7, Last: 31, Count: 25, Evidence: dissect.EvidenceObserved, Where: dissect.InCapture, OpenedFrame: 9, OpenedNS: 42,
			Closed: dissect.ClosedNotCaptured, ClosedFrame: 30, ClosedNS: 1_000_042, Copies: 1}}})
	reads.PairedBy, reads.A = "none", nil
	c := oneCapture("tor3-rack7.pcap", 6600)
	c.CaptureDrops, c.BadICRC = 25, 2
	return &dissect.Report{
		Schema: dissect.Schema, Captures: []dissect.Capture{c},
		Connections: []dissect.Connection{rnr, reads, worst, connection(4, "192.0.2.1", "192.0.2.9", dissect.Stream{Epochs: 1, Packets: 24, Feedback: dissect.Feedback{Packets: 24, Acks: 24}})},
		Totals:      dissect.Totals{Connections: 4, Packets: 6600, Lost: 4, Retransmitted: 2587, NotCaptured: 25, CNPs: 12, CEMarked: 45, Datagrams: 9, PauseFrames: 3, PFC: [8]int64{3: 1200}},
	}
}

// clean is a report of n connections without an event.
func clean(n int) *dissect.Report {
	r := &dissect.Report{Schema: dissect.Schema, Captures: []dissect.Capture{oneCapture("clean.pcap", int64(n)*20)}}
	for i := range n {
		r.Connections = append(r.Connections, connection(i+1, "192.0.2.1", fmt.Sprintf("198.51.100.%d", i%250), dissect.Stream{Epochs: 1, Packets: 20, Feedback: dissect.Feedback{Packets: 20, Acks: 20}}))
	}
	r.Totals = dissect.Totals{Connections: n, Packets: int64(n) * 20}
	return r
}

func lossText(t *testing.T, l Loss, r *dissect.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := l.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLossText(t *testing.T) {
	many := clean(500)
	many.Connections[417].Streams[0] = lossy().Connections[2].Streams[0]
	many.Totals.Lost, many.Totals.Retransmitted = 4, 1569
	for _, c := range []struct {
		name  string
		width int
		r     *dissect.Report
	}{
		{"loss-80.golden", 80, lossy()},
		{"loss-140.golden", 140, lossy()},
		{"loss-clean.golden", 80, clean(1)},
		{"loss-500-connections.golden", 80, many},
		{"loss-no-rdma.golden", 80, &dissect.Report{Captures: []dissect.Capture{{File: "web.pcap", Format: "pcapng", Frames: 7, FirstTime: start, LastTime: start}}}},
	} {
		golden(t, c.name, lossText(t, Loss{Width: c.width, Rows: 20, Detail: 5, Gaps: 10}, c.r))
	}
}

// Nothing but an address may be longer than the page is wide, and colour must
// not change a word.
func TestLossTextKeepsToWidth(t *testing.T) {
	plain := lossText(t, Loss{Width: 80, Rows: 20, Detail: 5, Gaps: 10}, lossy())
	for line := range strings.Lines(string(plain)) {
		if n := printedLen(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	colored := lossText(t, Loss{Style: Colored(), Width: 80, Rows: 20, Detail: 5, Gaps: 10}, lossy())
	if got := stripColor(string(colored)); got != string(plain) {
		t.Errorf("colour changes the text:\n%s", got)
	}
}

func stripColor(s string) string {
	var b strings.Builder
	for i, part := range strings.Split(s, "\x1b[") {
		if i > 0 {
			_, part, _ = strings.Cut(part, "m")
		}
		b.WriteString(part)
	}
	return b.String()
}
