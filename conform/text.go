package conform

import (
	"time"

	"github.com/rdmadump/rdmadump/psn"
)

// span writes PSNs as reports do.
func span(s psn.Span) string { return s.Range().String() }

// nanos writes a time of ns nanoseconds.
func nanos(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d >= time.Second:
		d = d.Round(time.Millisecond)
	case d >= time.Millisecond:
		d = d.Round(time.Microsecond)
	}
	return d.String()
}
