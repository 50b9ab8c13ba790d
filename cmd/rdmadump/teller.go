package main

import (
	"time"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/report"
)

// teller prints what happens on interfaces, and sums it up now and then.
type teller struct {
	*watch
	events  *eventLog // nil for text
	last    time.Time // of the last summary
	packets int64     // at that time
}

// newTeller lets a watch that sums up at its ticks print events as text or as
// JSON.
func newTeller(w *watch, json bool) *teller {
	t := &teller{watch: w, last: time.Now()}
	if json {
		t.events = newEventLog(w.out)
	}
	w.tick = t.sumUp
	return t
}

// event prints an event.
func (t *teller) event(e *dissect.Event) {
	if t.events != nil {
		t.events.event(e)
		return
	}
	t.line(report.EventLine(e))
}

func (t *teller) line(text string) {
	t.out.b = append(append(t.out.b, report.Visible(text)...), '\n')
	_ = t.out.packet() // the next frame tells of a fault
}

func (t *teller) sumUp(now time.Time, at int64) {
	s := report.Summary{Event: "summary", Time: dissect.Time(at), Totals: t.analyzer.SoFar(), CaptureDrops: t.drops}
	rate := float64(s.Totals.Packets-t.packets) / max(now.Sub(t.last).Seconds(), 1e-9)
	t.last, t.packets = now, s.Totals.Packets
	if t.events != nil {
		_ = t.events.encoder.Encode(&s)
		return
	}
	t.line(report.SummaryLine(&s, rate))
}
