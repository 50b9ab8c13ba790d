package conform_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// The CM exchange of the capture sets 7 retries. A sender that resends the oldest
// packet at once, and eight times, is early each time and goes on once too often.
func TestRetries(t *testing.T) {
	frames := load(t, "pcaps/rxe-cm_rping_v4_loss-sender.pcap.gz")
	first := find(t, frames, 20, func(e edit) bool { return e.opcode() == codec.Op(codec.RC, codec.SendOnly) })
	frames = frames[:first]
	var want []string
	for i := range 8 {
		again := frames[first-1]
		again.Data = bytes.Clone(again.Data)
		again.Time += int64(i+1) * 50_000
		frames = append(frames, again)
		n := first + i + 1
		alter(t, frames, n, func(e edit) { e.ip[4] += byte(i + 1) })
		want = append(want, fmt.Sprintf("early-timeout note [%d]", n))
	}
	want = append(want, fmt.Sprintf("retry-count violation [%d %d]", first+1, first+8))
	got := check(frames, dissect.TapSender)
	for i, v := range got { // the note may name the feedback before it too
		if n := len(v); n > 18 && v[:18] == "early-timeout note" {
			got[i] = "early-timeout note [" + v[bytes.LastIndexAny([]byte(v), "[ ")+1:]
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
