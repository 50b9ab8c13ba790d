package dissect

import (
	"fmt"
	"strings"
	"testing"
)

// What an operator searches the logs and the counters for stands in the finding.
func TestFindingsNameWhatOperatorsSee(t *testing.T) {
	storm := "w1 "
	for range often {
		storm += "r1 +1ms w1 "
	}
	for _, c := range []struct{ story, kind, text, counter string }{
		{"W50 +67ms W50 +67ms W50 +67ms W50 +67ms W50 +67ms W50 +67ms W50 +67ms W50", "retry-exhausted", "IBV_WC_RETRY_EXC_ERR (12)", "local_ack_timeout_err"},
		{"w1 r1 +2ms w1 r1 +2ms w1 r1 +20ms 2/w900", "rnr-retry-exhausted", "IBV_WC_RNR_RETRY_EXC_ERR (13)", "rnr_nak_retry_err"},
		{"W1 W2 W3 x2", "remote-access-error", "IBV_WC_REM_ACCESS_ERR (10)", "req_remote_access_errors"},
		{storm, "rnr-storm", fmt.Sprintf("%d RNR NAKs", often), "rnr_nak_retry_err"},
	} {
		s := &tell(t, Config{}, c.story).Connections[0].Streams[0]
		found := false
		for _, f := range s.Findings {
			if f.Kind == c.kind {
				found = strings.Contains(f.Text, c.text) && f.Counter == c.counter
			}
		}
		if !found {
			t.Errorf("%s: no %s with %q and %q in %+v", c.story, c.kind, c.text, c.counter, s.Findings)
		}
	}
}

// An acknowledgement of which the AETH is cut off may be a NAK.
func TestFeedbackCut(t *testing.T) {
	s := newStory(Config{})
	for _, w := range strings.Fields("w1 w2! a2 w3 w4!") {
		s.word(w)
	}
	whole := s.frame("n3", 1)
	s.now += 1000
	s.number++
	const toTheBTH = 14 + 20 + 8 + 12
	s.analyzer.Frame(&Frame{Data: whole[:toTheBTH], WireLen: len(whole), Time: s.now, Link: LinkEthernet, Number: s.number})
	r := requests(t, s.end())
	if r.Feedback.Cut != 1 || r.Feedback.Naks != 0 || !strings.Contains(line(r), "feedback-cut") {
		t.Errorf("%+v in %s", r.Feedback, line(r))
	}
}

// Credits count where messages need them: SENDs, not WRITEs.
func TestCreditStarvation(t *testing.T) {
	for _, verb := range []string{"s", "W"} {
		s := newStory(Config{})
		for i := range often {
			s.word(fmt.Sprintf("%s%d!", verb, i))
			s.word(fmt.Sprintf("c%d", i))
		}
		r := requests(t, s.end())
		if r.Feedback.NoCredit != often {
			t.Errorf("%d ACKs without credit, want %d", r.Feedback.NoCredit, often)
		}
		if starved := strings.Contains(line(r), "credit-starvation"); starved != (verb == "s") {
			t.Errorf("%s: starved is %v", verb, starved)
		}
	}
}

// A sender of IRN that keeps 5 packets in flight shows it at each ACK.
func TestBDPCap(t *testing.T) {
	const packets = 5
	s := newStory(Config{})
	next := 0
	for ; next < packets; next++ {
		s.word(fmt.Sprintf("i%d", next))
	}
	for acked := range 2 * steadyPeak {
		s.word(fmt.Sprintf("a%d", acked))
		s.word(fmt.Sprintf("i%d", next))
		next++
	}
	c := s.end().Connections[0]
	if c.IRN == nil || c.IRN.BDPCap != packets || c.IRN.InFlightPeak != packets {
		t.Errorf("%+v", c.IRN)
	}
}
