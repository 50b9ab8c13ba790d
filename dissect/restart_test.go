package dissect

import (
	"strings"
	"testing"
)

// A queue pair that is set up anew begins with a message, and its responder
// counts from zero (IBA 9.7.7.1). What a responder answers to a resend, or to
// packets astray, begins no epoch.
func TestRestarts(t *testing.T) {
	const life = "W100! a100:1 W101! a101:2 W102! a102:3 "
	const reads = "R100:2 p100:1 q101:1 R102:2 p102:2 q103:2 "
	for _, c := range []struct{ name, story, request, response string }{
		{"the same PSNs", life + "+5s " + life, "packets 6; epochs 2", ""},
		{"the same PSNs, three times", life + "+5s " + life + "+5ms " + life, "packets 9; epochs 3", ""},
		{"PSNs among the old ones", life + "+5s W101! a101:1 W102! a102:2", "packets 5; epochs 2", ""},
		{"PSNs a little behind", life + "+5s W50! a50:1 W51! a51:2", "packets 5; epochs 2", ""},
		{"PSNs a little ahead are no gap", life + "+5ms W300! a300:1 W301! a301:2", "packets 5; epochs 2", ""},
		{"PSNs ahead, as wide as gaps may be", life + "+5ms W3000! a3000:1 W3001! a3001:2", "packets 5; epochs 2", ""},
		{"the first message of the new life is lost", life + "+5s W101! n100:0 W100 W101! a101:2",
			"packets 6; epochs 2; lost 1 [100]; resent 2 nak:2 needed:1 wasted:1; gap 100 observed+nak upstream retransmitted", ""},
		{"the count goes on: a resend", life + "+5s W102! a102:3", "packets 4; resent 1 timeout:1 redundant:1", ""},
		{"the count goes on: a resend of all", life + "+5s W100 W101 W102! a102:3", "packets 6; resent 3 timeout:3 redundant:3", ""},
		{"a resend that goes on into new data", life + "+67ms W101 W102 W103! a103:4", "packets 6; resent 2 timeout:2 redundant:2", ""},
		{"nobody answers: a resend", life + "+5s W100! W101 W102", "packets 6; resent 3 timeout:3 redundant:3", ""},
		{"the only message again: no count tells", "W100! a100:1 +5s W100! a100:1", "packets 2; resent 1 timeout:1 redundant:1", ""},
		{"nor would it a minute later, but no timer waits so long", "W100! a100:1 +60s W100! a100:1", "packets 2; epochs 2", ""},
		{"a loss behind a pause", life + "+5ms W104! n103:3 W103 W104! a104:5",
			"packets 6; lost 1 [103]; resent 2 nak:2 needed:1 wasted:1; gap 103 observed+nak upstream retransmitted", ""},
		{"a packet astray behind a pause", life + "+5ms W5000000 W103! a103:4", "packets 5", ""},
		{"refused, and set up anew with the same PSNs", "W100! a100:1 W101 W102 x101:1 +5ms W101! a101:1 W102! a102:2",
			"packets 5; epochs 2; finding remote-access-error", ""},
		{"never ready, and set up anew", "s100 r100:0 +2ms s100 r100:0 +5s s100! a100:1",
			"packets 3; epochs 2; resent 1 rnr:1 needed:1; finding rnr-retry-exhausted", ""},
		{"silent for good, and set up anew", life + "W103! +67ms W103! +67ms W103! +5s " + life,
			"packets 9; epochs 2; undecided 1; resent 2 timeout:2 unknown:2; gap 103 timeout unknown open; finding retry-exhausted", ""},
		{"READs, and their responses", reads + "+5s " + reads, "packets 4; epochs 2", "packets 8; epochs 2"},
		{"a READ served again counts again", "R100:4 p100:1 o101 o102 q103:1 +5ms R100:4 p100:2 o101 o102 q103:2",
			"packets 2; resent 1 timeout:1 redundant:1", "packets 8; undecided 4; resent 4 timeout:4 unknown:4; gap 100-103 timeout unknown retransmitted"},
		{"one READ far away, and its responses", "R9000000:2 o9000000 o9000001 +5s R100:2 o100 o101", "packets 2; epochs 2", "packets 4; epochs 2"},
		{"UC starts with a loss", "u100 u101 u102 u103 +2s u100 u102 u103", "packets 7; epochs 2; lost 1 [101]; gap 101 observed upstream open", ""},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			r := tell(t, Config{}, c.story)
			if request, response := lines(r); request != c.request || response != c.response {
				t.Errorf("%s\n got %s\nwant %s\nresponses\n got %s\nwant %s", c.story, request, c.request, response, c.response)
			}
		})
	}
}

// Both directions of a connection begin anew at once: where one has, the other
// needs no count.
func TestBothDirectionsRestart(t *testing.T) {
	const life = "W100! a100:1 z900! W101! a101:2 z901! "
	r := tell(t, Config{}, life+"y901 +5s W100! a100:1 z900! W101! a101:2 z901!")
	for i := range r.Connections[0].Streams {
		if got := line(&r.Connections[0].Streams[i]); got != "packets 4; epochs 2" {
			t.Errorf("%v: %s", r.Connections[0].Streams[i].DestQP, got)
		}
	}
}
