package twopoint

import (
	"math"

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
		side.outside++
		return
	case !p.covered(s):
		side.outside++
		return
	}
	side.aloneN++
	if len(side.alone) >= p.config.MaxVanished || p.listed >= mostListed {
		return
	}
	p.listed++
	side.alone = append(side.alone, Copy{PSN: s.psn, Copy: int(s.nth), Frame: s.frame})
	side.aloneSet.Insert(psn.Span{First: s.seq, Last: s.seq})
}

// mostListed bounds the copies listed in all streams together.
const mostListed = 1 << 21

// covered reports whether the other capture ran when the copy should have
// passed there: copies sent before and after it are there, or the time says so.
func (p *pair) covered(s *sight) bool {
	st := s.stream
	other := &p.reach[1-s.point]
	side := &st.side[s.point]
	if other.frames == 0 {
		return false
	}
	low, high := p.clock.offset-p.clock.spread, p.clock.offset+p.clock.spread
	if st.mated > 0 {
		low, high = st.recent()
	}
	early, late := s.time+low, s.time+high
	if s.point == 1 {
		early, late = s.time-high, s.time-low
	}
	began := side.firstMate != 0 && side.firstMate < s.place || early >= other.first
	ended := side.lastMate > s.place || late <= other.last
	return began && ended && p.clock.known && s.time < math.MaxInt64/2
}
