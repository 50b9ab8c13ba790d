package main

import (
	"encoding/json"

	"github.com/rdmadump/rdmadump/dissect"
)

// eventLog prints events, a JSON object a line. They are collected, since events
// come by the thousand where much is lost, and let out before input is waited
// for, so that whoever follows a running capture sees each as soon as it is known.
type eventLog struct {
	out     *output
	encoder *json.Encoder
}

func newEventLog(out *output) *eventLog {
	l := &eventLog{out: out}
	l.encoder = json.NewEncoder(l)
	l.encoder.SetEscapeHTML(false)
	return l
}

// Write collects what the encoder made.
func (l *eventLog) Write(line []byte) (int, error) {
	l.out.b = append(l.out.b, line...)
	return len(line), l.out.packet()
}

// event prints an event. Of a fault the next packet tells, or the end.
func (l *eventLog) event(e *dissect.Event) { _ = l.encoder.Encode(e) }

// waiting lets out what was collected.
func (l *eventLog) waiting() { _ = l.out.flush() }
