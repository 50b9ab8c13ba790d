package dissect

import (
	"strings"
	"testing"
)

// A sender gives up when its retries are used up and its timer has run out once
// more, or when a NAK comes and no retry is left. Only then.
func TestExhausted(t *testing.T) {
	const set = "REQ100 REP900 RTU " // 67 ms, 3 retries, none after an RNR NAK
	const timeout = "+67ms W100! "
	for _, c := range []struct{ name, story, want string }{
		{"disconnects once the timer ran out", set + "W100! " + timeout + timeout + timeout + "+67ms DREQ DREP'",
			"3 retries went unanswered, as many as connection management allowed, then the connection was torn down"},
		{"and the DREQ is lost", set + "W100! " + timeout + timeout + timeout + "+67ms DREP'", "3 retries"},
		{"a NAK takes a retry", set + "W100! W101! n100 W100! W101! " + timeout + "W101! " + timeout + "W101! +67ms DREQ", "3 retries"},
		{"a NAK when no retry is left", set + "W100! W101! n100 W100! W101! n100 W100! W101! n100 W100! W101! n100 DREQ", "3 retries"},
		{"disconnects before the timer ran out", set + "W100! " + timeout + timeout + timeout + "+10ms DREQ", ""},
		{"disconnects with a retry left", set + "W100! " + timeout + timeout + "+67ms DREQ", ""},
		{"another connection is busy after that", set + "W100! " + timeout + timeout + "+67ms DREQ +500ms 2/w900", ""},
		{"an answer comes at last", set + "W100! " + timeout + timeout + timeout + "a100:1 +67ms DREQ", ""},
		{"each message makes progress", set + "W100! " + timeout + "a100:1 W101! +67ms W101! a101:2 W102! +67ms W102! a102:3 W103! +67ms W103! +67ms DREQ", ""},
		{"retries as an adaptive timer has them", set + "W100! +67ms W100! +67ms W100! +67ms W100! +67ms W100! +67ms DREQ",
			"4 retries went unanswered, where connection management allowed 3"},
		{"the answers are not in the capture", "W100! +67ms W100! W101! +67ms W101! W102! +67ms W102! W103! +67ms W103! W104! +67ms W104! W105! +67ms W105! W106! +67ms W106! W107! +67ms W107!", ""},
		{"nothing is known of the count", "W100! " + timeout + timeout + "+67ms DREQ", "2 retries went unanswered, then"},
		{"nor was the wait as long as before", "W100! " + timeout + "+134ms W100! +67ms DREQ", ""},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			finding(t, managed(t, Config{}, c.story), "retry-exhausted", c.want, "IBV_WC_RETRY_EXC_ERR (12)")
		})
	}
}

// The same of a receiver that is not ready. The first refusal is one too many
// where no retry is allowed.
func TestNeverReady(t *testing.T) {
	for _, c := range []struct{ name, story, want string }{
		{"and no retry is allowed", "REQ100 REP900 RTU s100! r100 DREQ", "and connection management allowed no retry, then"},
		{"a sender that went on was allowed to", "REQ100 REP900 RTU s100! r100 +2ms s100! a100:1 DREQ", ""},
		{"the answers are not in the capture", "W100! +67ms W100! W101! +67ms W101! W102! +67ms W102! W103! +67ms W103! W104! +67ms W104! W105! +67ms W105! W106! +67ms W106! W107! +67ms W107!", ""},
		{"nothing is known of the count", "s100! r100 DREQ", ""},
		{"and the connection is torn down once the wait is over", "s100! r100 +20ms DREQ", "without a receive buffer, then the connection was torn down"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			finding(t, managed(t, Config{}, c.story), "rnr-retry-exhausted", c.want, "IBV_WC_RNR_RETRY_EXC_ERR (13)")
		})
	}
}

// finding wants one finding of the kind with both texts in it, or none where the
// first is empty.
func finding(t *testing.T, r *Report, kind, text, code string) {
	t.Helper()
	var got []string
	for _, c := range r.Connections {
		for _, s := range c.Streams {
			for _, f := range s.Findings {
				if f.Kind == kind {
					got = append(got, f.Text)
				}
			}
		}
	}
	switch {
	case text == "" && len(got) > 0, text != "" && len(got) != 1:
		t.Errorf("%d findings: %q", len(got), got)
	case text != "" && (!strings.Contains(got[0], text) || !strings.Contains(got[0], code)):
		t.Errorf("%q lacks %q or %q", got[0], text, code)
	}
}
