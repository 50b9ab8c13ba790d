package capture

import (
	"bytes"
	"errors"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
)

// The seconds of pcap have 32 bits: the last that fits is written, the next is an
// error and no time in 1970.
func TestPcapEndsIn2106(t *testing.T) {
	for seconds, want := range map[int64]error{1<<32 - 1: nil, 1 << 32: ErrTime} {
		w, err := NewWriter(&bytes.Buffer{}, "x", WriterOptions{Form: PcapNano})
		if err != nil {
			t.Fatal(err)
		}
		err = w.WriteFrame(&dissect.Frame{Link: dissect.LinkEthernet, Time: seconds * 1e9, Data: make([]byte, 14), WireLen: 14})
		if !errors.Is(err, want) {
			t.Errorf("%d s: %v", seconds, err)
		}
	}
}
