package main

import (
	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
)

// analysis is a pass that feeds an analyzer with what was chosen. events, if not
// nil, are let out before input is waited for, and end the pass where they cannot
// be written. opened tells whether any capture could be opened.
func analysis(s streams, a *dissect.Analyzer, chosen *selection, events *eventLog) (reading pass, opened *bool) {
	opened = new(bool)
	reading = pass{streams: s, abreast: true}
	if events != nil {
		reading.waiting = events.waiting
	}
	reading.open = func(part *capture.Part) {
		info := part.Info()
		a.OpenCapture(info.Name, info.Format)
		*opened = true
	}
	reading.frame = func(f *dissect.Frame) error {
		if err := chosen.begin(f.Time); err != nil {
			return err
		}
		a.Frame(f)
		if events != nil {
			return events.out.err
		}
		return nil
	}
	reading.close = func(i int, part *capture.Part, fault error) error {
		a.CloseCapture(i, part.Info().Drops, fault)
		return nil
	}
	reading.unread = func(name string, err error) {
		a.CloseCapture(a.OpenCapture(name, ""), 0, err)
	}
	return reading, opened
}
