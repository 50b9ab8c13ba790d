package dissect

import (
	"strings"
	"testing"
)

// A NAK that names a packet of an older message says which message was hit, as
// long as that one is not acknowledged.
func TestMessageOfNAK(t *testing.T) {
	for _, c := range []struct {
		story  string
		number int64
		op     string
	}{
		{"W1 W2 W3 W4! n2 W2 W3 W4! a4", 2, "RC RDMA WRITE Only"},
		{"f1 w2 l3 f4 w5 l6 W7! n5 w5 l6 W7! a7", 2, "RC RDMA WRITE First"},
		{"W1! a1 f2 w3 l4! n2 f2 w3 l4! a4", 2, "RC RDMA WRITE First"},
		{"w1 w2 l3 W4 n2 w2 l3 W4! a4", 0, ""}, // it began before the capture
	} {
		gaps := requests(t, tell(t, Config{}, c.story)).Gaps
		if len(gaps) != 1 {
			t.Fatalf("%s: %d gaps", c.story, len(gaps))
		}
		m := gaps[0].Message
		switch {
		case c.number == 0 && m != nil, c.number != 0 && m == nil:
			t.Errorf("%s: message %+v, want number %d", c.story, m, c.number)
		case m != nil && (m.Number != c.number || m.OpcodeName != c.op || (m.VA == "") != !strings.HasPrefix(c.op, "RC RDMA WRITE")):
			t.Errorf("%s: message %+v, want %d %s", c.story, *m, c.number, c.op)
		}
	}
}
