package dissect

import (
	"fmt"
	"io"
	"testing"
)

// A reader ends with io.EOF, and that is no fault; anything else is.
func TestCloseCapture(t *testing.T) {
	wrapped := fmt.Errorf("x.pcap: %w", io.EOF)
	for _, c := range []struct {
		err  error
		want string
	}{{nil, ""}, {io.EOF, ""}, {io.ErrUnexpectedEOF, io.ErrUnexpectedEOF.Error()}, {wrapped, "x.pcap: EOF"}} {
		a := NewAnalyzer(Config{})
		a.CloseCapture(a.OpenCapture("x.pcap", "pcap"), 0, c.err)
		if got := a.Report().Captures[0].Error; got != c.want {
			t.Errorf("closed with %v: error %q, want %q", c.err, got, c.want)
		}
	}
}
