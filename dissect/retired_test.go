package dissect

import (
	"fmt"
	"testing"
)

// Halves that made room for others keep what they add to the totals.
func TestEvictedHalvesStayInTotals(t *testing.T) {
	const halves = 400
	s := newStory(Config{MaxHalves: 32})
	for i := range halves {
		for _, word := range []string{"u1", "u2", "w4", "w4", "b5"} {
			if word[0] == 'u' || word[0] == 'b' {
				s.word(fmt.Sprintf("%d/W%d", i+1, 1+i%2))
				continue
			}
			s.word(fmt.Sprintf("%d/%s", i+1, word))
		}
	}
	r := s.end()
	if r.Evicted == nil || r.Evicted.Halves != halves-32 {
		t.Fatalf("evicted %+v", r.Evicted)
	}
	var kept int64
	for _, c := range r.Connections {
		kept += c.Streams[0].Retransmitted.Packets
	}
	if each := kept / 32; kept == 0 || r.Totals.Retransmitted != each*halves {
		t.Errorf("%d resent in the totals, %d each", r.Totals.Retransmitted, each)
	}
}

// However many streams there are, all gaps together are bounded, and what is
// dropped for it is counted.
func TestGapsOfAllStreams(t *testing.T) {
	const streams, packets = 300, 1000
	s := newStory(Config{})
	frame := s.frame("w0", 1)
	s.cut = true
	for i := range uint32(packets) {
		for q := range uint32(streams) {
			patch(frame, 0x111+q, 2*i, uint16(i))
			s.pass(frame, 100)
		}
	}
	kept, open := 0, 0
	for _, h := range s.analyzer.halves {
		kept += len(h.req.d.done)
		open += len(h.req.d.gaps)
	}
	if kept > maxKeptGaps || open > maxOpenTotal+streams*fewOpenGaps {
		t.Errorf("%d closed gaps and %d open ones are kept", kept, open)
	}
	r := s.end()
	if r.Evicted == nil || r.Evicted.Gaps == 0 {
		t.Errorf("evicted %+v", r.Evicted)
	}
	for _, c := range r.Connections {
		if got := c.Streams[0].Undecided; got != packets-1 {
			t.Fatalf("%d undecided, want %d", got, packets-1)
		}
	}
}
