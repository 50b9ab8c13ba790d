package dissect

import "testing"

// What the findings of the extensions rest on, one story for each.
func TestExtensionStories(t *testing.T) {
	for _, c := range []struct{ name, story, want string }{
		{"a report with one segment calls all in flight lost", "w1 w2 w3 w4 w5 w6 t3: w4 w5 w6! a6",
			"packets 9; undecided 3; resent 3 tc-aeth:3 unknown:3; gap 4-6 timeout unknown retransmitted; finding tail-resend"},
		{"lost between two reports, which no report can say", "w1 w2 w3 w5 w6 w7 t7: w8! a8",
			"packets 7; undecided 1; gap 4 observed upstream open; finding boundary-loss"},
		{"a synchronise packet overtook before the first feedback, and was refused", "w1 w2 w3^ w4 A1:1 N3:1 A2:2 w3~^ A3:3 A4:4",
			"packets 5; resent 1 mp-nack:1 wasted:1; finding synchronise-early"},
		{"a synchronise packet overtook later", "w1 w2 A1:1 A2:2 w3 w4^ N4:2 A3:3 w4~^ A4:4",
			"packets 5; resent 1 mp-nack:1 wasted:1; finding synchronise-early"},
	} {
		if got := line(requests(t, tell(t, Config{}, c.story))); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.story, got, c.want)
		}
	}
}
