package report

import (
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
)

// treeOf is the tree of a frame of which the capture has kept n bytes, and on
// the wire had wire.
func treeOf(t *testing.T, data []byte, n, wire int) string {
	t.Helper()
	f := &dissect.Frame{Data: data[:n], WireLen: wire, Link: dissect.LinkEthernet, Number: 1}
	var (
		locator dissect.Locator
		found   dissect.Packet
		p       Packet
	)
	if got := locator.Locate(f, &found); got != dissect.Found {
		t.Fatal(got)
	}
	p.Decode(f, &found)
	return string(AppendTree(nil, &p, Style{}))
}

// The tree says why there is no ICRC to check.
func TestTreeOfAbsentICRC(t *testing.T) {
	whole := len(writeFrame)
	short := append([]byte{}, writeFrame...)
	short[38], short[39] = 0, 8+14 // UDP length: a BTH and 2 bytes
	for name, c := range map[string]struct {
		got, want string
	}{
		"cut":              {treeOf(t, writeFrame, whole-2, whole), "absent: not captured, nothing to check\n"},
		"not in the frame": {treeOf(t, writeFrame, whole-2, whole-2), "absent: the frame ends before it\n"},
		"no room":          {treeOf(t, short, whole, whole), "absent: the lengths of the packet leave no room for it\n"},
	} {
		if !strings.Contains(c.got, "  ICRC  "+c.want) {
			t.Errorf("%s: want %q in\n%s", name, c.want, c.got)
		}
	}
}

// A tree costs no allocation a field: a capture has many.
func TestTreeAllocations(t *testing.T) {
	p := located(t, writeFrame)
	buf := make([]byte, 0, 8192)
	if n := testing.AllocsPerRun(100, func() { AppendTree(buf, p, Style{}) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkTree(b *testing.B) {
	f := &dissect.Frame{Data: writeFrame, WireLen: len(writeFrame), Link: dissect.LinkEthernet, Number: 7}
	var (
		locator dissect.Locator
		found   dissect.Packet
		p       Packet
	)
	buf := make([]byte, 0, 8192)
	for b.Loop() {
		locator.Locate(f, &found)
		p.Decode(f, &found)
		buf = AppendTree(buf[:0], &p, Style{})
	}
	b.SetBytes(int64(len(buf)))
}
