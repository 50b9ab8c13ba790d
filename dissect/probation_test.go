package dissect

import (
	"slices"
	"testing"

	"github.com/rdmadump/rdmadump/psn"
)

// A timer's run that steps over holes in its own turn, and of which no two
// packets are neighbours, is a run all the same: after as long a silence nothing
// that it carries came late. What was never dropped is not lost then.
func TestTimerRunFullOfHoles(t *testing.T) {
	for _, c := range []struct {
		story   string
		copies  int64     // dropped, by the model of TestClaimsNothingThatWasNotLost
		dropped []psn.PSN // their PSNs
	}{
		{"w10! a10 w11 w15 n12 w16 w17 w18! w13 w14 w15 w16 w18! +67ms w13 w15 w17 +67ms w12 w13 w14 w15 w16 w17 w18! a18",
			9, []psn.PSN{12, 13, 14, 16, 17, 18}}, // 12 three times, 14 twice
		{"w10! a10 w11 w13 n12 w14 w15 w16 w14 w15 w17! +67ms w12 w14 n13 w16 w13 w14 w15 w16 w17! a17",
			6, []psn.PSN{12, 13, 15, 16}}, // 12 and 13 twice
		{"w10! a10 w11 w13 n12 w14 w15 w16 w17 w18 w19! w12 w17 n13 w19! w14 w15 w16 w18 +67ms w13 w14 w15 w16 w17 w18 w19! a19",
			9, []psn.PSN{12, 13, 14, 15, 16, 17, 18, 19}}, // 13 twice
	} {
		s := requests(t, tell(t, Config{}, c.story))
		if s.Lost > c.copies {
			t.Errorf("lost %d copies, of %d: %s\n%s", s.Lost, c.copies, line(s), c.story)
		}
		lost := expand(s.LostRanges)
		for _, p := range lost {
			if !slices.Contains(c.dropped, p) {
				t.Errorf("%v was not lost: %s\n%s", p, line(s), c.story)
			}
		}
		if !slices.Contains(lost, 12) || s.Reordered != 0 {
			t.Errorf("%s\n%s", line(s), c.story)
		}
	}
}

// Packets that came while it was open whether they are a run may be READ
// requests and others: each READ request fills its own places, and no more.
func TestReadAmongTheAnswers(t *testing.T) {
	for _, c := range []struct{ story, want string }{
		{"w10! a10 w15 n11 R12:3 w11",
			"packets 4; lost 2 [11-12]; resent 2 nak:2 needed:2; gap 11-14 observed+nak upstream retransmitted"},
		{"w10! a10 w16 n11 R12:3 w11 w15",
			"packets 5; lost 3 [11-12 15]; resent 3 nak:3 needed:3; gap 11-15 observed+nak upstream retransmitted"},
	} {
		if got := line(requests(t, tell(t, Config{}, c.story))); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.story, got, c.want)
		}
	}
}

// A READ request of which only part of the gap was named keeps to one packet in
// what is undecided, as the capture had holes (15) and may have missed it.
func TestReadUndecidedCountsOnce(t *testing.T) {
	const story = "w10! a10 w16 n11 w11 R12:3 w16! a16"
	got := line(requests(t, tell(t, Config{}, story)))
	want := "packets 5; lost 1 [11]; undecided 1; not captured 1; resent 3 nak:3 needed:1 wasted:1 unknown:1; " +
		"gap 11 observed+nak upstream retransmitted; gap 12-14 observed unknown retransmitted; gap 15 observed+nak capture not-captured"
	if got != want {
		t.Errorf("%s\n got %s\nwant %s", story, got, want)
	}
}

// A NAK that names a PSN within a READ request which was sent again names no
// packet.
func TestNAKWithinRead(t *testing.T) {
	const story = "w10! a10 w16 n11 w11 R12:3 w16"
	for _, nak := range []string{" n13", " n14"} {
		plain, named := requests(t, tell(t, Config{}, story)), requests(t, tell(t, Config{}, story+nak))
		if line(plain) != line(named) {
			t.Errorf("%s\n got %s\nwant %s", story+nak, line(named), line(plain))
		}
	}
}

// A run that leaves out a READ request which the receiver has leaves out one
// packet.
func TestReadLeftOut(t *testing.T) {
	const story = "w10! a10 w10 w10 w10 w19 R12:3 w19 w10 w10 w10 w10 w10 w10 w10 w10 w10 w10 a11 w15 R12:3 a13 w11 w15"
	s := requests(t, tell(t, Config{MaxGaps: 100}, story))
	if fault := Unbalanced(s); fault != "" {
		t.Errorf("%s\n%s", fault, line(s))
	}
}
