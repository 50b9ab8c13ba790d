package dissect

import (
	"fmt"
	"testing"
)

// Where nothing tells apart whom feedback is for, packets look at a few halves
// each in the long run, and what is known of who seeks whom stays bounded.
func TestSearchForPartnersIsBounded(t *testing.T) {
	const connections, rounds = 300, 100
	s := newStory(Config{})
	for i := range rounds {
		for c := range connections {
			s.word(fmt.Sprintf("%d/w%d", c+1, i))
		}
		for c := range connections {
			s.word(fmt.Sprintf("%d/a%d", c+1, i))
		}
	}
	a := s.analyzer
	most := maxLooks + looksOfPacket*a.totals.Packets
	if slack := int64(2 * maxStrangers); a.looks > most+slack {
		t.Errorf("looked at %d halves for %d packets", a.looks, a.totals.Packets)
	}
	if a.looks < connections {
		t.Errorf("looked at %d halves only", a.looks)
	}
	for _, h := range a.halves {
		if n := len(h.courtedBy); n > maxCourtedBy {
			t.Errorf("courted by %d", n)
		}
	}
}
