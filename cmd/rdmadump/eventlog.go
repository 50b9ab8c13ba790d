package main

import (
	"encoding/json"
	"io"

	"github.com/rdmadump/rdmadump/dissect"
)

// eventLog prints events, a JSON object a line, each as soon as it is known:
// whoever reads them from a pipe waits for no buffer to fill.
type eventLog struct {
	encoder *json.Encoder
	err     error // the first that writing met
}

func newEventLog(w io.Writer) *eventLog {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return &eventLog{encoder: e}
}

func (l *eventLog) event(e *dissect.Event) { l.print(e) }

// print prints a value, unless an earlier one could not be written.
func (l *eventLog) print(v any) {
	if l.err == nil {
		l.err = writeError(l.encoder.Encode(v))
	}
}
