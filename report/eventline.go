package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/rdmadump/rdmadump/dissect"
)

// EventLine is an event in a line:
//
//	15:51:06.440123456  #1 192.0.2.1 > 0x000025  lost PSN 4145-4147 (3) upstream: a later packet came first
//
// The time is UTC.
func EventLine(e *dissect.Event) string {
	var b strings.Builder
	head(&b, e)
	switch e.Kind {
	case dissect.GapOpened:
		fmt.Fprintf(&b, "gap %s, %s, %s", psns(e), e.Where, e.Evidence)
	case dissect.GapClosed:
		fmt.Fprintf(&b, "gap %s closed: %s", psns(e), e.Closed)
		if e.Where != "" {
			fmt.Fprintf(&b, ", %s, %s", e.Where, e.Evidence)
		}
	case dissect.Retransmission:
		fmt.Fprintf(&b, "resent %s after %s, %s", psns(e), e.Cause, e.Verdict)
	case dissect.NakSeen, dissect.RNRNakSeen, dissect.TimeoutSeen:
		name := map[dissect.EventKind]string{dissect.NakSeen: "NAK", dissect.RNRNakSeen: "RNR NAK", dissect.TimeoutSeen: "timeout"}[e.Kind]
		fmt.Fprintf(&b, "%s of %s", name, psns(e))
	case dissect.ConnectionOpened:
		b.WriteString("connection opened")
	case dissect.ConnectionClosed:
		fmt.Fprintf(&b, "connection closed: %s", e.Ending)
	case dissect.FindingMade:
		fmt.Fprintf(&b, "%s: %s", e.Finding, e.Text)
	}
	return b.String()
}

// head begins the line of an event: when, and of what.
func head(b *strings.Builder, e *dissect.Event) {
	fmt.Fprintf(b, "%s  #%d %v > %v  ", clockTime(e.Time), e.Connection, e.Src, e.DestQP)
	if e.Stream != "" {
		b.WriteString("READ responses, ")
	}
}

// psns is the PSNs of an event, with their number where that is known.
func psns(e *dissect.Event) string {
	if e.First == nil || e.Last == nil {
		return "PSNs"
	}
	text := fmt.Sprintf("PSN %v", *e.First)
	if *e.First != *e.Last {
		text += fmt.Sprintf("-%v", *e.Last)
	}
	if e.Count > 1 {
		text += fmt.Sprintf(" (%d)", e.Count)
	}
	return text
}

// clockTime is a time of day, UTC.
func clockTime(t dissect.Time) string {
	return time.Unix(0, int64(t)).UTC().Format("15:04:05.000000000")
}

// Summary is what a live analysis says now and then.
type Summary struct {
	Event        string         `json:"event"` // "summary"
	Time         dissect.Time   `json:"time"`
	Totals       dissect.Totals `json:"totals"`
	CaptureDrops uint64         `json:"capture_drops"`
}

// SummaryLine is a summary in a line. rate is packets a second since the last
// one.
func SummaryLine(s *Summary, rate float64) string {
	t := &s.Totals
	text := fmt.Sprintf("%s  %s, %s/s, %s: %s lost, %s resent", clockTime(s.Time), counted(t.Packets, "packet", "packets"),
		grouped(int64(rate)), counted(int64(t.Connections), "connection", "connections"), grouped(t.Lost), grouped(t.Retransmitted))
	if t.CNPs > 0 || t.CEMarked > 0 {
		text += fmt.Sprintf(", %s, %s CE-marked", counted(t.CNPs, "CNP", "CNPs"), grouped(t.CEMarked))
	}
	if s.CaptureDrops > 0 {
		text += fmt.Sprintf("; this capture dropped %s", grouped(s.CaptureDrops))
	}
	return text
}
