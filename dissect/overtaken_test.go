package dissect

import (
	"strings"
	"testing"
)

// counted tells a story in which A counts its packets in the IP identification.
func counted(t *testing.T, text string) string {
	t.Helper()
	s := newStory(Config{})
	s.step = 1
	for _, word := range strings.Fields(text) {
		s.word(word)
	}
	request, _ := lines(s.end())
	return request
}

// Where the sender counts its packets, what was overtaken is told from what was
// lost and sent again, whatever else comes in between.
func TestOvertaken(t *testing.T) {
	// 11 is lost, and its resend shows that the sender counts.
	const known = "w9! a9 w10 - w12 n11 w13 +8us w11 w12 w13! a13 "
	for _, tc := range []struct{ name, story, want string }{
		{
			"a resend came late, after the next one had carried it", known +
				"w14 - w16 n15 w17 w18 +8us w15 w16 _ w18 n17 w16 w17 w18 w17' w17 w18! a18", "lost 2 [11 15]; reordered 1",
		},
		{
			"a resend was lost, and the next one carried it", known +
				"w14 - w16 n15 w17 w18 +8us w15 w16 - w18 n17 w16 w17 w18 w17 w18! a18", "lost 3 [11 15 17]",
		},
		{
			"late after its resend, in front of what that still carries", known +
				"w14 _ w16 n15 w17 w18 +8us w15 w16 w15' w17 w18! a18", "lost 1 [11]; reordered 1",
		},
		{
			"lost, and another one late beside the first of its resend",
			"w9! a9 w10 - w12 w13 _ w15 n11 w16 +8us w11 w14' w12 w13 w14 w15 w16! a16", "lost 1 [11]; reordered 1",
		},
		{
			"late, and then what was lost is sent again",
			"w9! a9 w10 - w12 w13 _ w15 n11 w16 w14' +8us w11 w12 w13 w14 w15 w16! a16", "lost 1 [11]; reordered 1",
		},
		{
			"new data that a resend overtook draws a NAK for what that carries next", known +
				"w14 - w16 n15 w17 _ +8us w15 w18' w16 n16 w17 w18 +8us w16 w17 w18! a18", "lost 2 [11 15]",
		},
		{
			"the sender heard in the middle of a resend that it may go on further up", known +
				"w14 - w16 w17 w18 w19 n15 +8us w15 a19 w16 w19! a19 w20! a20", "lost 2 [11 15]",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := counted(t, tc.story); !strings.Contains(got, tc.want+";") {
				t.Errorf("%s\n got %s\nwant %s", tc.story, got, tc.want)
			}
		})
	}
}

// A sender that takes the identification from the PSN, or leaves it as it is,
// does not tell the order.
func TestIdentificationMustCount(t *testing.T) {
	// A mirror copies no packet more than a second later.
	const again = "w9! a9 w10 w12 n11 w13 w14 w16 +1100ms w11 w12 w13 w15 w16 n14 +1100ms w14 w15 w16! a16"
	want, _ := lines(tell(t, Config{}, again))
	for name, of := range map[string]func(psn int) uint16{
		"the PSN": func(psn int) uint16 { return uint16(psn) },
		"zero":    func(int) uint16 { return 0 },
	} {
		s := newStory(Config{})
		s.identify = of
		for _, word := range strings.Fields(again) {
			s.word(word)
		}
		if got, _ := lines(s.end()); got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	var n numbers
	for i, step := range []struct {
		id   uint16
		want order
	}{
		{65533, unordered}, {65534, inOrder}, {1, inOrder}, {65535, overtaken}, {65535, unordered}, {2, inOrder}, {0, overtaken},
		{2, unordered}, {30000, unordered}, {30001, inOrder}, {29999, unordered}, {30003, inOrder}, {30002, overtaken},
	} {
		if got := n.take(step.id); got.order != step.want {
			t.Errorf("packet %d, identification %d: %d, want %d", i, step.id, got.order, step.want)
		}
	}
	if n.steps != 5 || n.jumps != 1 {
		t.Errorf("%d steps and %d jumps", n.steps, n.jumps)
	}
	for i := range uint16(20000) { // every other packet goes elsewhere
		n.take(40000 + 2*i)
	}
	if got := len(n.skipped.Spans()); got > maxSkipped {
		t.Errorf("%d places are remembered", got)
	}
}
