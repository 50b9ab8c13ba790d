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
	lines   report.EventLines
	resent  time.Time // when the newest packet that was sent again was told to lines
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
	t.lines.Line = t.line
	w.tick, w.quiet = t.sumUp, t.settle
	return t
}

// event prints an event.
func (t *teller) event(e *dissect.Event) {
	if t.events != nil {
		t.events.event(e)
		return
	}
	if e.Kind == dissect.Retransmission {
		t.resent = time.Now()
	}
	t.lines.Event(e)
}

// resendPause is how long after its last packet a run of resent packets is over,
// where nothing else comes.
const resendPause = 200 * time.Millisecond

// settle tells the runs that nothing went on with.
func (t *teller) settle() {
	if time.Since(t.resent) > resendPause {
		t.lines.Flush()
	}
}

// end tells the rest and ends it.
func (t *teller) end() error {
	t.lines.Flush()
	return t.watch.end()
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
	t.lines.Flush()
	t.line(report.SummaryLine(&s, rate))
}
