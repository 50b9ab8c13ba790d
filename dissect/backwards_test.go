package dissect

import "testing"

// A clock that runs backwards: the capture spans from its earliest to its latest
// time, each step back is counted, and no span is negative.
func TestTimesThatRunBackwards(t *testing.T) {
	const start = 1_700_000_000_000_000_000
	r := tell(t, Config{}, "w1! a1 +-1ms w2 w4 n3 +-2ms w3 w4! +-1ms a4")
	c := r.Captures[0]
	if c.FirstTime != start+8_000-4_000_000 {
		t.Errorf("first time %v", c.FirstTime)
	}
	if c.LastTime != start+2_000 || c.Backwards != 3 || c.FirstTime > c.LastTime {
		t.Errorf("%v to %v, %d steps back", c.FirstTime, c.LastTime, c.Backwards)
	}
	s := requests(t, r)
	for _, span := range []*Span{s.Times.NakGeneration, s.Times.NakReaction, s.Times.Recovery, s.Times.RTT, s.Times.Timeout} {
		if span != nil && span.Min < 0 {
			t.Errorf("a span of %d ns", span.Min)
		}
	}
	for _, g := range s.Gaps {
		if g.OpenedNS < 0 || g.ClosedNS < 0 {
			t.Errorf("gap at %d to %d", g.OpenedNS, g.ClosedNS)
		}
	}
}
