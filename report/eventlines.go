package report

import (
	"fmt"
	"strings"

	"github.com/rdmadump/rdmadump/dissect"
)

// EventLines tells events for people. What a sender sends again in one go is one
// line, not one for each packet:
//
//	15:51:06.440123456  #1 192.0.2.1 > 0x000025  resent PSN 4145-4176, 32 packets in 1.20 ms, after nak: 2 needed, 30 redundant
//
// Such a line has the time of the first of them, and comes once the run is over: at
// the next event of the connection that is not of the resend itself, or at Flush.
type EventLines struct {
	Line func(text string) // takes a line, without its end

	runs []resendRun
}

// maxRuns is how many runs are held back at a time; the oldest is told then.
const maxRuns = 64

// resendRun is packets sent again one behind the other.
type resendRun struct {
	first    dissect.Event
	end      dissect.Event // the last of them
	packets  int64
	verdicts []verdictCount
}

type verdictCount struct {
	verdict dissect.Verdict
	packets int64
}

// Event takes an event.
func (l *EventLines) Event(e *dissect.Event) {
	switch e.Kind {
	case dissect.Retransmission:
		for i := range l.runs {
			if r := &l.runs[i]; r.goesOn(e) {
				r.add(e)
				return
			}
		}
		l.flush(func(r *resendRun) bool { return r.first.Connection == e.Connection && r.sameWay(e) })
		if len(l.runs) == maxRuns {
			l.Line(l.runs[0].line())
			l.runs = append(l.runs[:0], l.runs[1:]...)
		}
		r := resendRun{first: *e}
		r.add(e)
		l.runs = append(l.runs, r)
		return
	case dissect.GapClosed: // what is sent again closes gaps as it goes
	default:
		l.flush(func(r *resendRun) bool { return r.first.Connection == e.Connection })
	}
	l.Line(EventLine(e))
}

// Flush tells what was held back.
func (l *EventLines) Flush() { l.flush(func(*resendRun) bool { return true }) }

// flush tells the runs that are over.
func (l *EventLines) flush(over func(r *resendRun) bool) {
	kept := l.runs[:0]
	for i := range l.runs {
		if r := &l.runs[i]; over(r) {
			l.Line(r.line())
		} else {
			kept = append(kept, *r)
		}
	}
	clear(l.runs[len(kept):])
	l.runs = kept
}

func (r *resendRun) sameWay(e *dissect.Event) bool {
	return r.first.Src == e.Src && r.first.DestQP == e.DestQP && r.first.Stream == e.Stream
}

// goesOn reports whether a packet belongs to the run: PSNs go up, and it was sent
// again for the same cause.
func (r *resendRun) goesOn(e *dissect.Event) bool {
	return r.first.Connection == e.Connection && r.sameWay(e) && r.first.Cause == e.Cause &&
		e.First != nil && r.end.Last != nil && r.end.Last.Before(*e.First)
}

func (r *resendRun) add(e *dissect.Event) {
	r.end = *e
	r.packets++
	for i := range r.verdicts {
		if v := &r.verdicts[i]; v.verdict == e.Verdict {
			v.packets++
			return
		}
	}
	r.verdicts = append(r.verdicts, verdictCount{e.Verdict, 1})
}

// line is the run in a line.
func (r *resendRun) line() string {
	if r.packets == 1 {
		return EventLine(&r.first)
	}
	var b strings.Builder
	head(&b, &r.first)
	all := r.first
	all.Last, all.Count = r.end.Last, 0
	fmt.Fprintf(&b, "resent %s, %s packets in %s, after %s", psns(&all), grouped(r.packets), span(int64(r.end.Time-r.first.Time)), r.first.Cause)
	for i, v := range r.verdicts {
		between := ", "
		if i == 0 {
			between = ": "
		}
		fmt.Fprintf(&b, "%s%s %s", between, grouped(v.packets), v.verdict)
	}
	return b.String()
}
