package dissect

import "testing"

// What the user says of pairs is stronger than what PSNs say, and than what is
// missing.
func TestStatedPairs(t *testing.T) {
	pair := func(s string) Config {
		p, err := ParsePair(s)
		if err != nil {
			t.Fatal(err)
		}
		return Config{Pairs: []Pair{p}}
	}
	for _, c := range []struct{ name, stated, story, want string }{
		{"PSNs say nothing", "192.0.2.1/0x222=192.0.2.2/0x111", "w0! 2/w0! a0 2/a0", "111-222 user, 1111-1222 feedback"},
		{"PSNs say the opposite", "192.0.2.2/4369=192.0.2.1/546", "w100! 2/w5000! a5000", "111- none, 1111-222 user"},
		{"the other end is silent", "192.0.2.1/0x222=192.0.2.2/0x111", "w100!", "111-222 user"},
		{"feedback comes first", "192.0.2.1/0x222=192.0.2.2/0x111", "a99 w99 w100 w102 n101 w101 w102", "111-222 user lost 1"},
	} {
		if got := pairs(tell(t, pair(c.stated), c.story)); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.story, got, c.want)
		}
	}
	// An ACK of another queue pair fits, and is not taken.
	r := tell(t, pair("192.0.2.1/0x222=192.0.2.2/0x111"), "w99 w100! 2/a100")
	if n := r.Connections[0].Streams[0].Feedback.Acks; n != 0 || pairs(r) != "111-222 user" {
		t.Errorf("%s, %d ACKs of another", pairs(r), n)
	}
	for _, s := range []string{"", "1=2", "192.0.2.1/1", "192.0.2.0/24/1=192.0.2.2/1", "192.0.2.1/0x1000000=192.0.2.2/1", "x/1=y/2"} {
		if _, err := ParsePair(s); err == nil {
			t.Errorf("%q is a pair", s)
		}
	}
}

// An assumed transport decides what a resend means: one packet alone behind a
// NAK is the whole answer of a selective sender.
func TestAssume(t *testing.T) {
	for _, transport := range Transports() {
		r := tell(t, Config{Assume: transport}, "w1 w2 w4 w5! n3 w3 w4 w5! a5")
		if got := r.Connections[0].Transport; got != transport {
			t.Errorf("assumed %s, got %s", transport, got)
		}
	}
	const story = "w1 w2 w3 w4 +1ms w2 w3 w4! a4"
	if s := requests(t, tell(t, Config{Assume: "windowless"}, story)); s.Discarded != 0 || s.Retransmitted.ByVerdict[Wasted] != 0 {
		t.Errorf("a windowless receiver refuses nothing: %s", line(s))
	}
}

// The capture point that the user states says which times are shown.
func TestStatedTap(t *testing.T) {
	const story = "w1 w2! +20us a2 w3 w5 n4 w4 w5! +20us a5"
	for _, c := range []struct {
		tap                  Tap
		generation, reaction bool
	}{{TapSender, false, true}, {TapReceiver, true, false}, {TapMiddle, false, false}} {
		s := requests(t, tell(t, Config{Tap: c.tap}, story))
		if got := s.Times.NakGeneration != nil; got != c.generation {
			t.Errorf("%s: NAK generation shown: %v", c.tap, got)
		}
		if got := s.Times.NakReaction != nil; got != c.reaction {
			t.Errorf("%s: NAK reaction shown: %v", c.tap, got)
		}
	}
}
