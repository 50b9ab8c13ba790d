package dissect

import (
	"slices"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/psn"
)

// The two worked cases of go-back-N, seen from both sides of the loss.
func TestWorkedCasesOfGoBackN(t *testing.T) {
	for _, c := range []struct{ name, story, want string }{
		{"16 KiB at MTU 4096, 1001 lost, next to the receiver", "f1000 w1002 n1001 l1003! w1001 w1002 l1003! a1003",
			"packets 6; lost 1 [1001]; resent 3 nak:3 needed:1 wasted:2; gap 1001 observed+nak upstream retransmitted"},
		{"the same next to the sender", "f1000 w1001 w1002 l1003! n1001 w1001 w1002 l1003! a1003",
			"packets 7; lost 1 [1001]; resent 3 nak:3 needed:1 wasted:2; gap 1001 nak downstream retransmitted"},
		{"one packet, its ACK lost behind this point", "W1000! a1000 +67ms W1000! a1000",
			"packets 2; resent 1 timeout:1 redundant:1"},
	} {
		s := requests(t, tell(t, Config{}, c.story))
		if got := line(s); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.story, got, c.want)
		}
	}
	// Where the ACK was lost before this point nobody can tell what was lost: no
	// loss is claimed.
	s := requests(t, tell(t, Config{}, "W1000! +67ms W1000! a1000"))
	if s.Lost != 0 || s.Undecided != 1 || s.Retransmitted.Packets != 1 {
		t.Errorf("the ACK lost in front: %s", line(s))
	}
}

// The draft's example of a T/C AETH: 0 to 199, 300 to 399 and 500 to 599 have
// arrived.
func TestWorkedCaseOfTheDraft(t *testing.T) {
	s := newStory(Config{})
	for i := range 600 {
		s.word("w" + psn.New(i).String())
	}
	s.word("t199:300-399,500-599")
	r := s.end()
	c := r.Connections[0]
	got := requests(t, r)
	want := []psn.Range{{First: 200, Last: 299}, {First: 400, Last: 499}}
	if c.Transport != "windowless" || got.Lost != 200 || !slices.Equal(got.LostRanges, want) {
		t.Fatalf("%s: %s", c.Transport, line(got))
	}
	if text := line(got); !strings.Contains(text, "gap 200-299 tc-aeth downstream open; gap 400-499 tc-aeth downstream open") {
		t.Error(text)
	}
}
