package twopoint

import (
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// cost is how badly two sights go together as one copy. In this order: whether
// it took unusually long or short, how many copies would have vanished or been
// overtaken since the one that was found last, and how far its delay is from that
// of the copies before.
type cost struct {
	odd          bool
	skipped, off int64
}

func (a cost) less(b cost) bool {
	switch {
	case a.odd != b.odd:
		return b.odd
	case a.skipped != b.skipped:
		return a.skipped < b.skipped
	}
	return a.off < b.off
}

func (p *pair) cost(i, k int32) cost {
	x, y := &p.chains.pool[i], &p.chains.pool[k]
	if x.point == 1 {
		x, y = y, x
	}
	if x.unique || y.unique { // the same copy, and if seen again, then later
		return cost{off: x.place + y.place}
	}
	st := x.stream
	var c cost
	if st.mated > 0 {
		dx, dy := x.place-st.newest[0], y.place-st.newest[1]
		c.skipped = max(dx-dy, dy-dx)
	}
	c.off, c.odd = p.unusual(st, y.time-x.time)
	return c
}

// unusual is how far a distance is from that of the last copies of a stream, and
// whether that is more than theirs varies.
func (p *pair) unusual(st *stream, apart int64) (off int64, odd bool) {
	usual, jitter := p.clock.offset, p.clock.spread
	if st.mated > 0 {
		usual, jitter = st.apart, 4*st.jitter
	}
	off = max(apart-usual, usual-apart)
	const tolerance = 100_000
	return off, off > jitter+tolerance
}

// choose looks for the mate of a sight that others may equal: the one that suits
// it best, unless another suits that one better. Then it waits for its turn.
func (p *pair) choose(i int32) {
	best := p.suitor(i)
	if best != 0 && p.suitor(best) == i {
		p.marry(i, best)
	}
}

// suitor is the free sight at the other point that suits best.
func (p *pair) suitor(i int32) int32 {
	s := &p.chains.pool[i]
	var best int32
	var least cost
	for k := p.chains.head(s.hash); k != 0; k = p.chains.pool[k].next {
		o := &p.chains.pool[k]
		if o.point == s.point || o.mated || o.hash != s.hash || o.identity != s.identity {
			continue
		}
		if !s.unique && !o.unique && p.impossible(i, k) {
			continue
		}
		if c := p.cost(i, k); best == 0 || c.less(least) {
			best, least = k, c
		}
	}
	return best
}

// impossible reports whether one copy cannot be what two sights show that
// nothing tells from others.
func (p *pair) impossible(i, k int32) bool {
	return p.early(i, k) || p.beyond(i, k)
}

// early reports whether the copy would have come before it was sent. What goes
// the other way bounds that, whatever the clocks say.
func (p *pair) early(i, k int32) bool {
	st := p.chains.pool[i].stream
	o, sure := st.path.order()
	if !sure || !st.path.has[1-st.way] {
		return false
	}
	at, other := p.distance(i, k), st.path.last[1-st.way]
	after := at.apart - other.apart
	if o.first(st.way) == 1 {
		after = -after
	}
	const tolerance = 50_000
	age := max(at.time-other.time, other.time-at.time)
	return after < -tolerance-age/steady
}

// beyond reports whether the copy took unusually long, and one of the two sights
// belongs to a copy that passed the other point when that was not capturing.
func (p *pair) beyond(i, k int32) bool {
	x, y := &p.chains.pool[i], &p.chains.pool[k]
	if _, odd := p.unusual(x.stream, p.distance(i, k).apart); !odd {
		return false
	}
	for _, s := range [...]*sight{x, y} {
		if began, ended := p.ran(s); !began || !ended {
			return true
		}
	}
	return false
}

// orphanKey finds a packet of which damage changed the transport headers: by
// what the IP header says of it, or, where that tells no copies apart, by all but
// the AETH.
type orphanKey struct {
	path   *path
	wire   uint32
	ipid   uint16
	way    uint8
	point  uint8
	stream uint32
	psn    psn.PSN
}

func (s *sight) orphan(point uint8) orphanKey {
	key := orphanKey{path: s.stream.path, wire: s.wire, ipid: s.ipid, way: s.stream.way, point: point}
	if !s.unique {
		key.stream, key.psn = s.stream.number, s.psn
	}
	return key
}

// adopt looks for the mate of a sight of which the transport headers differ:
// one of the two is damaged. Failing that, the sight may be adopted later.
func (p *pair) adopt(i int32) {
	s := &p.chains.pool[i]
	if k := p.orphans[s.orphan(1-s.point)]; k != 0 {
		o := &p.chains.pool[k]
		one := s.icrc == dissect.ICRCBad && o.icrc == dissect.ICRCGood || s.icrc == dissect.ICRCGood && o.icrc == dissect.ICRCBad
		if one && !o.mated && p.likely(i, k) {
			p.foster(i, k)
			return
		}
	}
	p.orphans[s.orphan(s.point)] = i
}

// likely reports whether two sights are about as far apart in time as copies of
// their stream were of late. An IP identification comes again some time.
func (p *pair) likely(i, k int32) bool {
	s := &p.chains.pool[i]
	st := s.stream
	if o := p.chains.pool[k].stream; o.mated > st.mated {
		st = o
	}
	tolerance := int64(100_000)
	if s.unique {
		tolerance *= 1000
	}
	low, high := p.usual(st)
	more := high - low + tolerance
	d := p.distance(i, k).apart
	return d >= low-more && d <= high+more
}

// disown forgets that a sight may be adopted.
func (p *pair) disown(i int32) {
	s := &p.chains.pool[i]
	if key := s.orphan(s.point); p.orphans[key] == i {
		delete(p.orphans, key)
	}
}

// foster joins a damaged sight to the good one. The packet belongs to the stream
// of the good one; what the damaged one seemed to belong to forgets it.
func (p *pair) foster(i, k int32) {
	p.disown(i)
	p.disown(k)
	good, bad := &p.chains.pool[i], &p.chains.pool[k]
	if good.icrc == dissect.ICRCBad {
		good, bad = bad, good
	}
	if bad.stream == good.stream {
		p.marry(i, k)
	} else {
		bad.stream.bad--
		bad.stream.pending--
		bad.stream, bad.place = good.stream, 0 // its place among the others is not known
		bad.stream.pending++
		p.marry(i, k)
	}
}
