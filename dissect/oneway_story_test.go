package dissect

import (
	"strings"
	"testing"
)

// One direction alone tells what it can: the kinds of streams that a capture
// lacks are not made up.
func TestOneDirectionStories(t *testing.T) {
	for _, c := range []struct{ name, story, request, response string }{
		{"responses alone, a hole inside a message", "p100 o101 o103 q104 p105 q106", "",
			"packets 6; undecided 1; gap 102 observed upstream open"},
		{"responses alone, jumps between messages are no gaps", "p100 q101 e105 p200 q201", "", "packets 5"},
		{"responses alone, and a hole that is served again", "p100 o102 q103 p104 q105 o101 o102 q103 p104 q105", "",
			"packets 10; lost 1 [101]; undecided 4; resent 5 early:5 needed:1 unknown:4; gap 101 observed upstream retransmitted; gap 102-105 timeout unknown retransmitted"},
		{"requests alone, a hole that a run repairs", "w1 w2 w4 w5 w3 w4 w5 w6", "packets 8; lost 1 [3]; resent 3 early:3 needed:1 wasted:2; gap 3 observed upstream retransmitted", ""},
		{"requests alone, all of the run seen before", "w1 w2 w3 w4 +67ms w2 w3 w4 w5",
			"packets 8; undecided 3; resent 3 timeout:3 unknown:3; gap 2-4 timeout unknown open", ""},
		{"feedback alone, nothing named", "a100 a104 a108", "packets 0; finding feedback-only", ""},
		{"feedback alone, what NAKs name", "a100 n103 a108 n110",
			"packets 0; lost 2 [103 110]; gap 103 nak unknown retransmitted; gap 110 nak unknown open; finding feedback-only", ""},
		{"feedback alone, the same NAK again", "a100 n103 n103 a108",
			"packets 0; lost 1 [103]; gap 103 nak unknown retransmitted; finding feedback-only", ""},
		{"feedback alone, the NAK behind an RNR NAK is no loss", "a100 r103 n103 a108 n110",
			"packets 0; lost 1 [110]; gap 110 nak unknown open; finding feedback-only", ""},
		{"feedback alone, refused", "a100 x103", "packets 0; finding feedback-only", ""},
		{"feedback and responses alone", "p100 q101 n102 e102 a103",
			"packets 0; lost 1 [102]; gap 102 nak unknown retransmitted; finding feedback-only", "packets 3"},
		{"responses first, then the requests", "o98 q99 R100:2 p100 q101 R102:2 p102 q103", "packets 2", "packets 6"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			r := tell(t, Config{}, c.story)
			request, response := "", ""
			for _, x := range r.Connections {
				for i := range x.Streams {
					if s := &x.Streams[i]; s.Kind == "request" {
						request = line(s)
					} else {
						response = line(s)
					}
				}
				if x.PairedBy == "none" && (x.A == nil) == (x.B == nil) {
					t.Errorf("ends %v and %v of one half", x.A, x.B)
				}
			}
			if request != c.request || response != c.response {
				t.Errorf("%s\n got %s\nwant %s\nresponses\n got %s\nwant %s", c.story, request, c.request, response, c.response)
			}
		})
	}
}
