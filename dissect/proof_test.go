package dissect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A packet that comes by itself is no resend, so that nothing is missing of it,
// however late it is: behind its acknowledgement, in a silence, or in the middle
// of a run.
func TestLonePackets(t *testing.T) {
	for _, c := range []struct{ name, story, want string }{
		{"late behind its acknowledgement", "w1 w2 w3 w5 w6 w7! a7 w4 w8 w9! a9",
			"packets 9; reordered 1"},
		{"late behind its acknowledgement, and new data lost behind it", "w1 w2 w3 w5 w6 w7! a7 w4 w8 w10 n9 w9 w10! a10",
			"packets 11; lost 1 [9]; reordered 1; resent 2 nak:2 needed:1 wasted:1; gap 9 observed+nak upstream retransmitted"},
		{"late in a silence", "w1! a1 w2 w4 w5! a5 +1ms w3 +1ms w6 w7! a7",
			"packets 7; reordered 1"},
		{"late by much, and then a resend", "w1! a1 w2 w4 w5! a5 +1ms w3 w6 w7 w8! +67ms w6 w7 w8! +5us a8",
			"packets 11; undecided 3; reordered 1; resent 3 timeout:3 unknown:3; gap 6-8 timeout unknown retransmitted"},
		{"several late, none the neighbour of what had passed", "w1 w2 w4 w6 w7! a7 w5 w8 w3 w9! a9",
			"packets 9; reordered 2"},
		{"two late in a row", "w1 w2 w5 w6! a6 w3 w4 w7! a7",
			"packets 7; reordered 2"},
		{"the capture missed the first copy, and a run repeats it", "w1 w2 w4 w5! a5 +67ms w3 w4 w5! a5",
			"packets 7; not captured 1; resent 3 timeout:3 redundant:3; gap 3 observed capture not-captured"},
		{"a copy of what had passed", "w1 w2 w3 w4 w5! a5 w2 w6 w7! a7",
			"packets 8; resent 1 early:1 redundant:1"},
		{"a copy of what had passed, and new data lost behind it", "w1 w2 w3 w4 w5! a5 w2 w7 w8 n6 w6 w7 w8! a8",
			"packets 11; lost 1 [6]; resent 4 nak:3 early:1 needed:1 redundant:1 wasted:2; gap 6 observed+nak upstream retransmitted"},
		{"a copy of what had passed, and a resend far above it", "w1 w2 w3 w4 w5! a5 w2 w6 w7 w9 n8 w8 w9! a9",
			"packets 11; lost 1 [8]; resent 3 nak:2 early:1 needed:1 redundant:1 wasted:1; gap 8 observed+nak upstream retransmitted"},
		{"late within a resend, and refused for it", "w1 w2! a2 w4 n3 w5 w6 w7 w9 w10 w3 w4 w8 n5 w5 w6 w7 w8 w9 w10! a10",
			"packets 17; lost 1 [3]; reordered 1; resent 8 nak:8 needed:1 wasted:7; gap 3 observed+nak upstream retransmitted"},
		{"left out by a resend, and named for it", "w1 w2! a2 w4 n3 w5 w6 w7 w9 w10 w3 w4 w8 n5 w9 w10 w5 w6 w7 w8 w9 w10! a10",
			"packets 19; lost 5 [3 5-8]; resent 11 nak:11 needed:5 wasted:6; gap 3 observed+nak upstream retransmitted; " +
				"gap 5-7 observed+nak upstream retransmitted; gap 8 observed upstream retransmitted"},
		// Two neighbours are a run, and what it leaves out is lost.
		{"a run without a cause that leaves out its second", "w1 w2 w3 w4 w5 w6! a1 w2 w4 w5 w6! a6",
			"packets 10; lost 1 [3]; harmless 1; undecided 4; resent 4 early:4 unknown:4; gap 2 timeout unknown retransmitted; " +
				"gap 3 observed upstream retransmitted; gap 4-6 timeout unknown retransmitted"},
	} {
		if got := line(requests(t, tell(t, Config{}, c.story))); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.story, got, c.want)
		}
	}
}

// A flow that loses nothing, any packets of which come any number of places
// late, as the capture point sees it: all that is to be said is that they were
// late.
func TestDelays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type word struct {
			at   int
			text string
		}
		words := []word{{-20, "w99!"}, {-10, "a99"}}
		n := rapid.IntRange(5, 80).Draw(t, "n")
		every := rapid.IntRange(1, 20).Draw(t, "acknowledge every")
		for i := range n {
			at, mark := 10*i, ""
			if i%every == every-1 || i == n-1 {
				mark = "!"
				words = append(words, word{10*i + 5, fmt.Sprintf("a%d", 100+i)})
			}
			if i > 0 && rapid.IntRange(0, 4).Draw(t, "fate") == 0 {
				at += rapid.IntRange(1, 400).Draw(t, "delay")
			}
			words = append(words, word{at, fmt.Sprintf("w%d%s", 100+i, mark)})
		}
		slices.SortStableFunc(words, func(x, y word) int { return x.at - y.at })
		var story []string
		late, highest := int64(0), -1
		for i, w := range words {
			if i > 0 {
				story = append(story, fmt.Sprintf("+%dus", rapid.IntRange(0, 3).Draw(t, "pause")))
			}
			story = append(story, w.text)
			var p int
			if w.text[0] == 'w' {
				fmt.Sscanf(w.text, "w%d", &p)
				if p < highest {
					late++
				}
				highest = max(highest, p)
			}
		}
		text := strings.Join(story, " ")
		s := requests(t, tell(quiet{}, Config{}, text))
		if s.Lost != 0 || s.Retransmitted.Packets != 0 || s.Undecided != 0 || s.NotCaptured != 0 || s.Reordered != late || len(s.Gaps) != 0 {
			t.Fatalf("%s\nwant %d reordered and nothing else\n%s", line(s), late, text)
		}
	})
}

// Of a resend of which the capture point sees little, nothing that it carried is
// lost: here 76 to 81, of which 77 and 79 are lost.
func TestSparseRun(t *testing.T) {
	s := requests(t, tell(t, Config{}, "w74! a74 w75 w78 n76 w79 w80 w77 w78 w79 w81! +67ms w76 w78 n77 w80 w81! w77 w78 w79 w80 w81! a81"))
	for _, p := range expand(s.LostRanges) {
		if p == 78 || p == 81 {
			t.Errorf("%d was not lost: %s", p, line(s))
		}
	}
}
