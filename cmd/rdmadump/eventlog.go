package main

import (
	"encoding/json"
	"io"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/cli"
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

func (l *eventLog) event(e *dissect.Event) {
	if l.err == nil {
		l.err = cli.WriteError(l.encoder.Encode(e))
	}
}
