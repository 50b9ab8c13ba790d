package twopoint

import (
	"io"
	"testing"
)

// A reader ends with io.EOF, and that is no fault; anything else is.
func TestClose(t *testing.T) {
	c := NewComparer(Config{}, "a.pcap", "b.pcap")
	c.Close(0, "pcap", 0, io.EOF)
	c.Close(1, "pcap", 0, io.ErrUnexpectedEOF)
	got := c.Comparison().Captures
	if got[0].Error != "" || got[1].Error != io.ErrUnexpectedEOF.Error() {
		t.Errorf("errors %q and %q", got[0].Error, got[1].Error)
	}
}
