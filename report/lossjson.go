package report

import (
	"bytes"
	"io"

	"github.com/rdmadump/rdmadump/dissect"
)

// LossJSON writes a report as one JSON object on a line, as AppendLine does.
// Connections are encoded one at a time, so that a report on many thousand
// takes no second copy in memory. The error is that of w.
func LossJSON(w io.Writer, r *dissect.Report) error {
	const mark = `"connections":[]`
	frame := *r
	frame.Connections = []dissect.Connection{}
	around, err := AppendLine(nil, &frame)
	if err != nil {
		return err
	}
	// No string before it can hold the mark: quotes in strings are escaped.
	at := bytes.Index(around, []byte(mark)) + len(mark) - 1
	b := append([]byte(nil), around[:at]...)
	for i := range r.Connections {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = AppendLine(b, &r.Connections[i]); err != nil {
			return err
		}
		b = b[:len(b)-1] // the newline
		if len(b) >= 1<<16 {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	_, err = w.Write(append(b, around[at:]...))
	return err
}
