package sim

import (
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// Passing is a packet that is to be chosen or not.
type Passing struct {
	Opcode codec.Opcode
	PSN    psn.PSN
	Copy   int           // which transmission of the PSN it is, from 1
	At     time.Duration // when it passes, since the beginning
}

// Chooser is a Pick at work on packets from elsewhere. Pick.QP has no meaning for
// it.
type Chooser struct {
	picker picker
	flight flight
}

// NewChooser starts a pick. Choosers of different purposes have sources of their
// own, as those of a Scenario with that seed.
func NewChooser(p *Pick, seed uint64, purpose string) *Chooser {
	s := Scenario{Seed: seed}
	return &Chooser{picker: picker{Pick: p, hit: make([]bool, len(p.PSN)), random: s.random(purpose)}}
}

// Chooses reports whether the pick chooses a packet. It must be asked of every
// packet, in order.
func (c *Chooser) Chooses(p *Passing) bool {
	c.flight.kind, c.flight.copy = kindOf(p.Opcode), p.Copy
	c.flight.packet.BTH.PSN = p.PSN
	return c.picker.chosen(&c.flight, p.At)
}

// Missed are the copies that choosers are about and none has met.
func Missed(all []*Chooser) []Copy {
	pickers := make([]*picker, len(all))
	for i, c := range all {
		pickers[i] = &c.picker
	}
	return missed(pickers)
}

// Check finds what makes no sense in a pick, which the key is for.
func (p *Pick) Check(key string) *Fault {
	c := checker{}
	c.pick(p, key)
	return c.first
}

// CopyCounter counts the transmissions of each PSN of a stream, as truth does.
// The zero value has seen none.
type CopyCounter struct{ copies copies }

// Count says which transmission of its PSN a packet is, from 1.
func (c *CopyCounter) Count(p psn.PSN) int {
	n, _ := c.copies.send(p)
	return n
}

// Weight is about how many bytes it takes.
func (c *CopyCounter) Weight() int { return 64 + 2*cap(c.copies.counts) }

// Answers reports whether a packet goes to the end that has asked, so that it
// travels back: READ responses, acknowledgements, congestion notifications.
func Answers(o codec.Opcode) bool { return answers(o) || o == codec.OpcodeCNP }
