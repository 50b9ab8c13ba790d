package dissect

import "testing"

// The verbs that are not WRITE, SEND and READ, and what XRC makes of all: their
// answers follow from IBA volume 1 (ATOMICs: 9.4.5, responses: 9.7.5.1) and annexes
// A14 (XRC) and A19 (FLUSH and ATOMIC WRITE are answered by a READ response
// without data). A request that asks again for an answer is needed, since its
// sender does not have that; the answers behind it are wasted, which had come and
// were refused.
func TestVerbStories(t *testing.T) {
	for _, c := range []struct{ name, story, request, response string }{
		{"a FLUSH is answered by an empty READ response, which acknowledges what is before it",
			"w100 F101! E101 w102! a102", "packets 3", "packets 1"},
		{"the same of ATOMIC WRITE", "w100 V101! E101 w102! a102", "packets 3", "packets 1"},
		{"a FLUSH lost behind here: the NAK names it",
			"w100 F101! w102 n101 F101! w102! E101 a102",
			"packets 5; lost 1 [101]; resent 2 nak:2 needed:1 wasted:1; gap 101 nak downstream retransmitted", "packets 1"},
		{"a FLUSH lost before here",
			"w100 w102 n101 F101! w102! E101 a102",
			"packets 4; lost 1 [101]; resent 2 nak:2 needed:1 wasted:1; gap 101 observed+nak upstream retransmitted", "packets 1"},
		{"the answer to a FLUSH is late or lost, and so is known by nobody",
			"F100! +67ms F100! E100",
			"packets 2; undecided 1; resent 1 timeout:1 unknown:1; gap 100 timeout unknown retransmitted", "packets 1"},
		{"two FLUSHes, the answer of the first lost: asking again is an implied NAK",
			"w99! a99 F100! F101! E101 F100! F101! E100 E101",
			"packets 5; resent 2 implied-nak:2 needed:1 wasted:1", "packets 3; lost 1 [100]; resent 2 implied-nak:2 needed:1 wasted:1; gap 100 observed upstream retransmitted"},
		{"an atomic lost", "w100 w102 n101 g101! w102! h101 a102",
			"packets 4; lost 1 [101]; resent 2 nak:2 needed:1 wasted:1; gap 101 observed+nak upstream retransmitted", ""},
		{"an atomic whose answer is lost is replayed from the saved result",
			"g100! h100 +67ms g100! h100", "packets 2; resent 1 timeout:1 redundant:1", ""},
		{"two atomics, the answer of the first lost: asking again is an implied NAK",
			"w99! a99 g100! g101! h101 g100! g101! h100 h101", "packets 5; resent 2 implied-nak:2 needed:1 wasted:1", ""},
		{"an atomic answered, and asked for again when the timer ended",
			"w99! a99 g100! g101! h100 h101 +67ms g100! g101! h100 h101", "packets 5; resent 2 timeout:2 redundant:2", ""},
		{"XRC: one lost", "@w100 @w102 @n101 @w101 @w102! @a102",
			"packets 4; lost 1 [101]; resent 2 nak:2 needed:1 wasted:1; gap 101 observed+nak upstream retransmitted", ""},
		{"XRC: READ responses", "@R100:3 @p100 @q102 @R101:2 @p101 @q102",
			"packets 2; resent 1 implied-nak:1 needed:1", "packets 4; lost 1 [101]; resent 2 implied-nak:2 needed:1 wasted:1; gap 101 observed+implied-nak upstream retransmitted"},
	} {
		request, response := lines(tell(t, Config{}, c.story))
		if request != c.request || response != c.response {
			t.Errorf("%s:\n%s\ngot  %s\nwant %s\ngot  %s\nwant %s", c.name, c.story, request, c.request, response, c.response)
		}
	}
}
