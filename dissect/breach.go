package dissect

import (
	"github.com/rdmadump/rdmadump/psn"
)

// breach is where a resend run gave way to what the sender had sent before it:
// new data, or the end of the run before. If the resend goes on where it left
// off, those packets were only late; if not, a part of it was lost, or, before
// new data, the sender repeats selectively and had no more to repeat.
type breach struct {
	on      bool
	rest    psn.Span // what the run should have carried
	at      sight    // the packet that gave the breach away
	suspect bool     // nothing else is known to be missing
	packets int      // since then
}

// maxStragglers is how many packets a later run may find in its way.
const maxStragglers = 4

// breakOff notes that a resend run gave way to the packet at.
func (s *stream) breakOff(rest psn.Span, at sight, suspect bool) {
	s.d.broken = breach{true, rest, at, suspect, 0}
	s.watch = true
}

// mend decides on a breach when a packet comes after it.
func (s *stream) mend(seq psn.Seq) {
	d := s.d
	if d == nil || !d.broken.on {
		return
	}
	b := &d.broken
	b.packets++
	switch {
	case seq == b.rest.First:
		b.on = false
		s.next = seq
		d.overtaken = true
	case seq == s.next && b.packets < maxStragglers:
	default:
		s.part()
	}
}

// part takes a breach for what it seems to be.
func (s *stream) part() {
	if d := s.d; d != nil && d.broken.on {
		d.broken.on = false
		s.passOver(d.broken.rest, d.broken.at, d.broken.suspect)
	}
}
