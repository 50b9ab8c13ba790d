package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// What is sent again in one go is a line; what is not part of it is not in it.
func TestResendRuns(t *testing.T) {
	at := dissect.Time(0)
	event := func(kind dissect.EventKind, connection int, first, last psn.PSN, cause dissect.Cause, verdict dissect.Verdict) *dissect.Event {
		at += 1000
		return &dissect.Event{Kind: kind, Time: at, Connection: connection, DestQP: dissect.QPN(connection), First: &first, Last: &last, Cause: cause, Verdict: verdict}
	}
	resent := func(connection int, first, last psn.PSN, cause dissect.Cause, verdict dissect.Verdict) *dissect.Event {
		return event(dissect.Retransmission, connection, first, last, cause, verdict)
	}
	for _, c := range []struct {
		name   string
		events []*dissect.Event
		want   []string // behind the names, in order
	}{
		{"one packet", []*dissect.Event{resent(1, 7, 7, dissect.CauseNAK, dissect.Needed)}, []string{
			"resent PSN 7 after nak, needed"}},
		{"over the wrap", []*dissect.Event{
			resent(1, 16777215, 16777215, dissect.CauseNAK, dissect.Needed),
			resent(1, 0, 3, dissect.CauseNAK, dissect.Wasted), // a READ request of four PSNs
			resent(1, 4, 4, dissect.CauseNAK, dissect.Wasted)}, []string{
			"resent PSN 16777215-4, 3 packets in 2.00 us, after nak: 1 needed, 2 wasted"}},
		{"two connections at a time", []*dissect.Event{
			resent(1, 7, 7, dissect.CauseNAK, dissect.Needed), resent(2, 50, 50, dissect.CauseTimeout, dissect.Redundant),
			resent(1, 8, 8, dissect.CauseNAK, dissect.Needed), resent(2, 51, 51, dissect.CauseTimeout, dissect.Redundant)}, []string{
			"resent PSN 7-8, 2 packets in 2.00 us, after nak: 2 needed", "resent PSN 50-51, 2 packets in 2.00 us, after timeout: 2 redundant"}},
		{"again from the start", []*dissect.Event{
			resent(1, 7, 7, dissect.CauseNAK, dissect.Needed), resent(1, 8, 8, dissect.CauseNAK, dissect.Wasted),
			resent(1, 7, 7, dissect.CauseNAK, dissect.Redundant)}, []string{
			"resent PSN 7-8, 2 packets in 1.00 us, after nak: 1 needed, 1 wasted", "resent PSN 7 after nak, redundant"}},
		{"another cause", []*dissect.Event{
			resent(1, 7, 7, dissect.CauseNAK, dissect.Needed), resent(1, 8, 8, dissect.CauseTimeout, dissect.Needed)}, []string{
			"resent PSN 7 after nak, needed", "resent PSN 8 after timeout, needed"}},
		{"a NAK between", []*dissect.Event{
			resent(1, 7, 7, dissect.CauseNAK, dissect.Needed), event(dissect.NakSeen, 1, 8, 8, "", ""), resent(1, 8, 8, dissect.CauseNAK, dissect.Needed)}, []string{
			"resent PSN 7 after nak, needed", "NAK of PSN 8", "resent PSN 8 after nak, needed"}},
		{"a NAK elsewhere", []*dissect.Event{
			resent(1, 7, 7, dissect.CauseNAK, dissect.Needed), event(dissect.NakSeen, 2, 8, 8, "", ""), resent(1, 8, 8, dissect.CauseNAK, dissect.Needed)}, []string{
			"NAK of PSN 8", "resent PSN 7-8, 2 packets in 2.00 us, after nak: 2 needed"}},
	} {
		at = 0
		var got []string
		lines := EventLines{Line: func(text string) {
			got = append(got, text[strings.Index(text, "> 0x")+len("> 0x000001  "):])
		}}
		for _, e := range c.events {
			lines.Event(e)
		}
		lines.Flush()
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Many flows that resend at a time are all told.
func TestResendRunsAreBounded(t *testing.T) {
	told := 0
	lines := EventLines{Line: func(string) { told++ }}
	for i := range 3 * maxRuns {
		p := psn.PSN(i)
		lines.Event(&dissect.Event{Kind: dissect.Retransmission, Connection: i, First: &p, Last: &p})
		if len(lines.runs) > maxRuns {
			t.Fatalf("%d runs are held back", len(lines.runs))
		}
	}
	lines.Flush()
	if told != 3*maxRuns {
		t.Errorf("%d of %d are told", told, 3*maxRuns)
	}
}
