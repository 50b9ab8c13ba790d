package report

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/rdmadump/rdmadump/dissect"
)

// LossJSON writes a report as one JSON object on a line. Connections are encoded
// one at a time, so that a report on many thousand takes no second copy in
// memory. The error is that of w.
func LossJSON(w io.Writer, r *dissect.Report) error {
	const mark = `"connections":[]`
	frame := *r
	frame.Connections = []dissect.Connection{}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(&frame); err != nil {
		return err
	}
	around := bytes.Clone(b.Bytes())
	// No string before it can hold the mark: quotes in strings are escaped.
	at := bytes.Index(around, []byte(mark)) + len(mark) - 1
	b.Reset()
	b.Write(around[:at])
	for i := range r.Connections {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := e.Encode(&r.Connections[i]); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // the newline
		if b.Len() >= 1<<16 {
			if _, err := w.Write(b.Bytes()); err != nil {
				return err
			}
			b.Reset()
		}
	}
	b.Write(around[at:])
	_, err := w.Write(b.Bytes())
	return err
}
