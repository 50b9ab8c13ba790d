package dissect

import "testing"

// What is missing at the end of a capture that dropped frames, and nobody named,
// is charged to nobody; in a whole capture it is missing before it.
func TestOpenGapsOfDroppingCapture(t *testing.T) {
	for drops, want := range map[uint64]Where{0: Upstream, 5: Unknown} {
		s := newStory(Config{})
		for _, word := range []string{"w1", "w2", "w6", "w7"} {
			s.word(word)
		}
		s.analyzer.CloseCapture(0, drops, nil)
		r := s.analyzer.Report()
		x := requests(t, r)
		if len(x.Gaps) != 1 || x.Gaps[0].Where != want || x.Gaps[0].Closed != Open || x.Undecided != 3 || x.Lost != 0 {
			t.Errorf("%d drops: %s", drops, line(x))
		}
	}
}
