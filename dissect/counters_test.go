package dissect

import (
	"fmt"
	"strings"
	"testing"
)

// Which counters of an mlx5 NIC rise, and on which side, as its documentation
// says: a requester counts NAKs that came (packet_seq_err, rnr_nak_retry_err),
// ACK timers that ran out and responses that came behind a gap
// (implied_nak_seq_err); a responder requests behind a gap (out_of_sequence) and
// those that come again (duplicate_request). In the stories .1 asks.
func TestFindingsNameCounters(t *testing.T) {
	for _, c := range []struct{ name, story, want string }{
		{"nothing", "w1 w2! a2", ""},
		{"go-back-n", "f1000 w1002 n1001 l1003! w1001 w1002 l1003! a1003", ".1 packet_seq_err, .2 out_of_sequence"},
		{"the same at the sender", "f1000 w1001 w1002 l1003! n1001 w1001 w1002 l1003! a1003", ".1 packet_seq_err, .2 out_of_sequence"},
		{"a gap seen to come, and no answers", "w1 w2 w4 w5 +67ms w3 w4 w5", ".2 out_of_sequence, .1 local_ack_timeout_err"},
		{"its ACK was lost", "W1000! a1000 +67ms W1000! a1000", ".2 duplicate_request, .1 local_ack_timeout_err"},
		{"not ready", "w1 r1 +2ms w1! a1", ".1 rnr_nak_retry_err"},
		{"never ready", "w1 r1 +2ms w1 r1 +2ms w1 r1 +20ms 2/w900", ".1 rnr_nak_retry_err"},
		{"a lost response", "R100:4 o100 o102 o103 R101:3 o101 o102 o103", ".2 duplicate_request, .1 implied_nak_seq_err"},
		{"gave up", "W50 +67ms W50 +67ms W50 +67ms W50 +67ms W50 +67ms W50 +67ms W50 +67ms W50", ".1 local_ack_timeout_err"},
		{"access", "W1 W2 W3 x2", ".1 req_remote_access_errors"},
		{"damaged", "w1 b2 w3 n2 w2 w3! a3", ".2 rx_icrc_encapsulated, .1 packet_seq_err, .2 out_of_sequence"},
		{"IRN has none", "i1 i3 i4", ""},
		{"UC asks for nothing", "u1 u3 u4", ""},
	} {
		var have []string
		for _, f := range tell(t, Config{}, c.story).Connections[0].Streams[0].Findings {
			if f.Counter != "" {
				have = append(have, strings.TrimPrefix(f.Host.String(), "192.0.2")+" "+f.Counter)
			}
		}
		if got := strings.Join(have, ", "); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.story, got, c.want)
		}
	}
}

// Before the timer that connection management set, a sender resends unasked only
// if its NIC shortens the timer.
func TestAdaptiveRetransmission(t *testing.T) {
	for _, timer := range []int64{0, 67e6} {
		s := newStory(Config{})
		s.word("W1!")
		s.analyzer.halves[0].ackTimer = timer
		for _, w := range strings.Fields("a1 W2! +1ms W2! a2") {
			s.word(w)
		}
		found := ""
		for _, f := range requests(t, s.end()).Findings {
			if f.Kind == "adaptive-retransmission" {
				found = fmt.Sprint(f.Counter, " ", f.Host, " ", f.Text)
			}
		}
		want := ""
		if timer > 0 {
			want = "roce_adp_retrans 192.0.2.1 1 packet was resent unasked before the ACK timer (67ms) ran out, as adaptive retransmission does"
		}
		if found != want {
			t.Errorf("with a timer of %d: %q, want %q", timer, found, want)
		}
	}
}
