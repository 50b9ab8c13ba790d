package twopoint

import (
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// alone counts a sight that the other point never had. It proves something only
// if that capture ran when the copy should have passed.
func (p *pair) alone(s *sight) {
	st := s.stream
	side := &st.side[s.point]
	switch {
	case s.icrc == dissect.ICRCBad && !st.useless() && st.mated > 0:
		// Damaged so that nothing says which copy it was.
		side.leave(s)
		return
	case !p.covered(s):
		side.leave(s)
		return
	}
	side.lone++
	if !s.chosen {
		return
	}
	side.aloneN++
	if len(side.alone) >= p.config.MaxVanished || p.listed >= mostListed {
		return
	}
	p.listed++
	side.alone = append(side.alone, Copy{PSN: s.psn, Copy: side.copies.corrected(s), Frame: s.frame})
	side.aloneSet.Insert(psn.Span{First: s.seq, Last: s.seq})
}

// leave counts a sight that proves nothing.
func (s *sideOf) leave(of *sight) {
	s.off++
	if of.chosen {
		s.outside++
	}
}

// mostListed bounds the copies listed in all streams together.
const mostListed = 1 << 21

// covered reports whether the other capture ran when the copy should have
// passed there: copies sent before and after it are there, or the time says so.
func (p *pair) covered(s *sight) bool {
	if p.reach[1-s.point].frames == 0 || !p.clock.known {
		return false
	}
	side := &s.stream.side[s.point]
	began, ended := p.ran(s)
	began = began || side.firstMate != 0 && side.firstMate < s.place
	ended = ended || side.lastMate > s.place
	return began && ended
}

// ran reports whether the other capture had begun, and had not ended, when a
// copy must have passed there that took about as long as others.
func (p *pair) ran(s *sight) (began, ended bool) {
	other := &p.reach[1-s.point]
	low, high := p.usual(s.stream)
	// The next copy may well be faster or slower than any before.
	margin := high - low
	if s.stream.mated < enoughExact {
		margin += p.clock.spread
	}
	low, high = low-margin, high+margin
	early, late := s.time+low, s.time+high
	if s.point == 1 {
		early, late = s.time-high, s.time-low
	}
	return early >= other.first, late <= other.last
}

// usual is the range of distances that sights of a stream had of late; those of
// all streams, while it has none.
func (p *pair) usual(st *stream) (low, high int64) {
	if st.mated > 0 {
		return st.recent()
	}
	return p.clock.offset - p.clock.spread, p.clock.offset + p.clock.spread
}
