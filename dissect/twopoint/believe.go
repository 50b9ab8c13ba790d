package twopoint

// believable reports whether the copies that were found at both points are likely
// to be the same. Where nothing tells copies of a packet apart, captures that do
// not overlap look as if they did: what was sent before the one ended is sent
// again after the other began. Two things give that away. The distances of such
// copies make a clock that drifts as no clock does; and of what should have passed
// both points by that clock, most is at one only.
func (p *pair) believable(l *line) bool {
	if p.exact > 0 {
		return true
	}
	var mated, alone int64
	for _, st := range p.streams {
		if st.mated > 0 {
			mated += st.mated
			alone += st.side[0].lone + st.side[1].lone
		}
	}
	switch {
	case l.wild:
		// A queue that fills makes delays grow as fast; but then most copies are
		// at both points.
		return alone*4 <= mated
	case l.basis == OneWay:
		return alone <= mated
	}
	return true
}

// disbelieve takes back all that was found: every copy passed when one of the
// captures did not run.
func (p *pair) disbelieve() {
	for _, st := range p.streams {
		*st = stream{key: st.key, number: st.number, path: st.path, way: st.way,
			picked: st.unpicked(), good: st.good, bad: st.bad, side: [2]sideOf{st.side[0].unmatched(), st.side[1].unmatched()}}
	}
	for _, pa := range p.paths {
		*pa = path{streams: pa.streams}
	}
}

// unmatched is a side of which no copy was found at the other point.
func (s *sideOf) unmatched() sideOf {
	return sideOf{seen: s.seen, kept: s.kept, off: s.seen - s.undecided, outside: s.kept - s.undecided, undecided: s.undecided}
}

// shared reports whether both points had the stream: copies were found at both,
// or all of them passed when the other capture did not run.
func (s *stream) shared() bool {
	a, b := &s.side[0], &s.side[1]
	return s.mated > 0 || a.off > 0 && b.off > 0 && a.lone+b.lone == 0
}

// unpicked is where the delays of a selection are kept, empty.
func (s *stream) unpicked() *delays {
	if s.picked == nil {
		return nil
	}
	return &delays{}
}
