package dissect

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/rdmadump/rdmadump/codec"
)

// What all halves hold together is bounded, whatever each may hold, and what is
// dropped for it is counted and stays in the totals.
func TestWeightOfAllHalves(t *testing.T) {
	const connections, gaps, halves = 400, 60, 512
	s := newStory(Config{MaxHalves: halves})
	for i := range gaps {
		for c := range connections {
			s.word(fmt.Sprintf("%d/w%d", c+1, 2*i))
		}
	}
	a := s.analyzer
	var known, held int64
	for _, h := range a.halves {
		known += h.weight
		held += h.bytes()
	}
	if known != a.weight {
		t.Errorf("%d bytes in all, of halves that weigh %d", a.weight, known)
	}
	if limit := int64(halves * weightOfHalf); a.weight > limit || held > 2*limit {
		t.Errorf("%d bytes known and %d held, of %d allowed", a.weight, held, limit)
	}
	r := s.end()
	if r.Evicted == nil || r.Evicted.Halves == 0 {
		t.Errorf("evicted %+v", r.Evicted)
	}
	if r.Totals.Packets != connections*gaps {
		t.Errorf("%d packets in the totals, want %d", r.Totals.Packets, connections*gaps)
	}
}

// Halves that somebody made up give way before a connection that only rests.
func TestStrangersGiveWay(t *testing.T) {
	s := newStory(Config{MaxHalves: 64})
	for _, word := range []string{"w0", "w1!", "a1", "w2", "w3!", "a3"} {
		s.word(word)
	}
	for c := range 2000 {
		s.word(fmt.Sprintf("%d/w0", c+2))
	}
	s.word("w4!")
	r := s.end()
	for _, c := range r.Connections {
		if c.B.QPN == 0x111 && c.A != nil {
			if got := c.Streams[0].Packets; got != 5 {
				t.Errorf("the connection has %d packets, want 5", got)
			}
			return
		}
	}
	t.Error("the connection is gone")
}

// What a half overheard of requests that were not captured weighs too.
func TestWeightOfHearsay(t *testing.T) {
	s := newStory(Config{})
	h := s.analyzer.newHalf(&halfKey{qpn: 5}, 0, codec.Opcode(0x11))
	before := h.bytes()
	h.hearsay = &hearsay{claims: make([]claim, 0, 100)}
	if grown := h.bytes() - before; grown < 100*int64(unsafe.Sizeof(claim{})) {
		t.Errorf("100 claims weigh %d bytes", grown)
	}
}
