package dissect

import (
	"testing"

	"github.com/rdmadump/rdmadump/psn"
)

// A range of lost PSNs that finds no place in the list is counted, once.
func TestUnlistedRangesAreCounted(t *testing.T) {
	s := newStory(Config{})
	for _, word := range []string{"w0", "w2", "w4"} {
		s.word(word)
	}
	stream := &s.analyzer.halves[0].req
	stream.d.strained = true
	stream.d.lose(psn.Span{First: 100, Last: 101})
	stream.d.lose(psn.Span{First: 50, Last: 50}) // below: a strained stream does not list it
	stream.bound()
	stream.bound()
	if got := s.analyzer.evicted.Ranges; got != 1 {
		t.Errorf("%d ranges counted, want 1", got)
	}
}
