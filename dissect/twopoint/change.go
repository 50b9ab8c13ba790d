package twopoint

import (
	"cmp"
	"slices"

	"github.com/rdmadump/rdmadump/dissect"
)

// changed notes what the way changed in a copy. Whether it counts or not, that
// shows which point it passed first.
func (p *pair) changed(x, y *sight) {
	s := x.stream
	ecnX, ecnY := x.traffic&dissect.ECNMask, y.traffic&dissect.ECNMask
	switch {
	case ecnY == dissect.ECNCE && ecnX != ecnY:
		s.path.favour(s.way, 0, &s.path.marks)
	case ecnX == dissect.ECNCE && ecnX != ecnY:
		s.path.favour(s.way, 1, &s.path.marks)
	}
	badX, badY := x.icrc == dissect.ICRCBad, y.icrc == dissect.ICRCBad
	spoiltAt := -1
	switch {
	case badY && x.icrc == dissect.ICRCGood:
		spoiltAt = 1
		s.path.favour(s.way, 0, &s.path.marks)
	case badX && y.icrc == dissect.ICRCGood:
		spoiltAt = 0
		s.path.favour(s.way, 1, &s.path.marks)
	}
	fewer := int64(x.hops) - int64(y.hops)
	if fewer > 0 {
		s.path.favour(s.way, 0, &s.path.hops)
	} else if fewer < 0 {
		s.path.favour(s.way, 1, &s.path.hops)
	}
	if !x.chosen {
		return
	}
	if ecnX != ecnY {
		s.ecnWays.add(ecnX, ecnY)
	}
	if dscpX, dscpY := x.traffic>>2, y.traffic>>2; dscpX != dscpY {
		s.dscp++
		s.dscpWays.add(dscpX, dscpY)
	}
	if !s.hopsKnown {
		s.fewer, s.most, s.hopsKnown = fewer, fewer, true
	}
	s.fewer, s.most = min(s.fewer, fewer), max(s.most, fewer)
	switch spoiltAt {
	case 1:
		p.spoil(x, y)
	case 0:
		p.spoil(y, x)
	}
}

// spoiled is a copy that came damaged: the good sight of it, as far as needed, and
// the frame of the bad one.
type spoiled struct {
	good sight
	bad  int
}

// spoil notes a copy that was good at one point and bad at the other.
func (p *pair) spoil(good, bad *sight) {
	side := &good.stream.side[bad.point]
	side.damaged++
	if len(side.spoilt) < p.config.MaxVanished && p.listed < mostListed {
		p.listed++
		side.spoilt = append(side.spoilt, spoiled{*good, bad.frame})
	}
}

// changes counts what a field was changed from and to.
type changes []change

type change struct {
	from, to uint8
	n        int64
}

// mostChanges bounds the changes told apart, of one field of a stream.
const mostChanges = 64

func (c *changes) add(from, to uint8) {
	for i := range *c {
		if k := &(*c)[i]; k.from == from && k.to == to {
			k.n++
			return
		}
	}
	if len(*c) < mostChanges {
		*c = append(*c, change{from, to, 1})
	}
}

// toward lists the changes on the way from a point to the other, the most frequent
// first.
func (c changes) toward(first uint8) []change {
	out := slices.Clone(c)
	if first == 1 {
		for i := range out {
			out[i].from, out[i].to = out[i].to, out[i].from
		}
	}
	slices.SortFunc(out, func(a, b change) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	return out
}
