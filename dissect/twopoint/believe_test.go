package twopoint

import (
	"slices"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// Nothing tells copies apart, and one capture ends before the other begins. What
// was sent last is sent again later: that is no match, and nothing vanished.
func TestResentAfterTheCut(t *testing.T) {
	for name, c := range map[string]struct {
		pace   int64
		resent int // of six
	}{
		"few, at the same pace": {10 * us, 2},     // the distances agree, and most is missing
		"many, a little slower": {10*us + 300, 4}, // they make a clock that drifts by 30,000 ppm
	} {
		s := newScript()
		s.v6 = true
		const cut = 20 * ms
		for i := range 2000 {
			s.send(s.requests, psn.PSN(i), int64(i)*10*us)
		}
		for i := range 1000 {
			if i%6 < c.resent {
				s.send(s.requests, psn.PSN(1000+i), cut+4*ms+int64(i)*c.pace)
			}
		}
		for i := range 600 {
			s.send(s.requests, psn.PSN(3000+i), cut+50*ms+int64(i)*c.pace)
		}
		late := func(f dissect.Frame) bool { return f.Time >= base+cut }
		first := slices.DeleteFunc(s.capture(0, wrong{}), late)
		second := slices.DeleteFunc(s.capture(1, wrong{}), func(f dissect.Frame) bool { return f.Time < base+cut+20*us })
		got := compareFrames([][]dissect.Frame{first, second}, []string{"A", "B"})
		if got.Clock.Basis != NoBasis || got.Clock.Drift != 0 || got.Clock.Offset != 0 {
			t.Errorf("%s: a clock was made up: %+v", name, got.Clock)
		}
		if got.Totals != (Totals{}) {
			t.Errorf("%s: %+v, want nothing", name, got.Totals)
		}
		if len(got.Streams) != 1 || got.Streams[0].Outside == 0 || got.Streams[0].Delay.Count != 0 {
			t.Errorf("%s: %+v, want all of it outside", name, got.Streams)
		}
	}
}

// A queue that fills makes delays grow faster than any clock drifts. What vanished
// then did vanish, and no clock is blamed.
func TestQueueIsNoDrift(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		s := newScript()
		s.v6 = v6
		var lost []Copy
		for i := range 2000 {
			c := s.send(s.requests, psn.PSN(i), int64(i)*10*us)
			c.passes[1] += int64(i) * 100 // 10,000 ppm
			if i%100 == 50 {
				c.passes[1] = 0
				lost = append(lost, Copy{PSN: c.bth.PSN, Copy: 1})
			}
		}
		got := s.compare(wrong{})
		if st := got.Streams[0]; !slices.Equal(copiesOf(st.Vanished), lost) {
			t.Errorf("v6 %v: vanished %v, want %v", v6, copiesOf(st.Vanished), lost)
		}
		if d := got.Clock.Drift; d != 0 || got.Clock.Basis == NoBasis {
			t.Errorf("v6 %v: %+v", v6, got.Clock)
		}
	}
}

// Hops are what the hop limit was lowered by, whichever point comes first.
func TestHopsAreNotNegative(t *testing.T) {
	for _, c := range []struct {
		fewer, most int64
		first       uint8
		want        *Hops
	}{
		{1, 3, 0, &Hops{1, 3}}, {-3, -1, 1, &Hops{1, 3}}, {-2, 1, 0, &Hops{0, 1}}, {-2, 1, 1, &Hops{0, 2}},
		{-3, -1, 0, nil}, {1, 3, 1, nil}, {0, 0, 0, nil},
	} {
		st := stream{fewer: c.fewer, most: c.most, hopsKnown: true}
		got := st.lowered(c.first)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
