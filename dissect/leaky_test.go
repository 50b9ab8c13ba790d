package dissect

import "testing"

// Where the capture itself missed frames, what a run seems to have left out may
// be just that: only what the receiver named is lost for sure.
func TestLeakyCapture(t *testing.T) {
	const missed = "w1 w2 w5 w6! a6 " // 3 and 4 nobody sent again
	for _, c := range []struct{ name, story, want string }{
		{"nothing else was missed", "w7 w8 w10 n9 w9 w10! a10",
			"packets 5; lost 1 [9]; resent 2 nak:2 needed:1 wasted:1; gap 9 observed+nak upstream retransmitted"},
		{"named", missed + "w7 w8 w10 n9 w9 w10! a10",
			"packets 9; lost 1 [9]; not captured 2; resent 2 nak:2 needed:1 wasted:1; gap 3-4 observed capture not-captured; gap 9 observed+nak upstream retransmitted"},
		{"filled by a run that answers another hole", missed + "w7 w8 w10 n9 w12 w9 w10 w11 w12! a12",
			"packets 12; lost 1 [9]; undecided 1; not captured 2; resent 4 nak:4 needed:1 wasted:2 unknown:1; " +
				"gap 3-4 observed capture not-captured; gap 9 observed+nak upstream retransmitted; gap 11 observed unknown retransmitted"},
		{"one gap, named in part", missed + "w7 w8 w11 n9 w9 w10 w11! a11",
			"packets 10; lost 1 [9]; undecided 1; not captured 2; resent 3 nak:3 needed:1 wasted:1 unknown:1; " +
				"gap 3-4 observed capture not-captured; gap 9 observed+nak upstream retransmitted; gap 10 observed unknown retransmitted"},
		{"refused before, left out by the run, and acknowledged all the same", "w7 w8 w10 w11 w12 n9 w9 w10 w12! a12",
			"packets 8; lost 1 [9]; not captured 1; resent 3 nak:3 needed:1 wasted:2; " +
				"gap 9 observed+nak upstream retransmitted; gap 11 observed capture not-captured"},
	} {
		if got := line(requests(t, tell(t, Config{}, c.story))); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.story, got, c.want)
		}
	}
}

// A capture that owns up to missing frames proves no loss by itself.
func TestDroppingCapture(t *testing.T) {
	s := newStory(Config{})
	for _, word := range []string{"w1", "w3", "n2", "w5", "w2", "w3", "w4", "w5!", "a5"} {
		s.word(word)
	}
	s.analyzer.CloseCapture(0, 3, nil)
	want := "packets 7; lost 1 [2]; undecided 1; resent 4 nak:4 needed:1 wasted:2 unknown:1; gap 2 observed+nak upstream retransmitted; gap 4 observed unknown retransmitted"
	if got := line(requests(t, s.analyzer.Report())); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}
