package twopoint

import "github.com/rdmadump/rdmadump/dissect"

// cost is how badly two sights go together as one copy: first of all how many
// neighbours would have overtaken it, then how far its delay is from that of
// the copies before.
type cost struct{ inversions, off int64 }

func (a cost) less(b cost) bool {
	return a.inversions < b.inversions || a.inversions == b.inversions && a.off < b.off
}

func (p *pair) cost(i, k int32) cost {
	x, y := &p.chains.pool[i], &p.chains.pool[k]
	if x.point == 1 {
		x, y = y, x
	}
	st := x.stream
	var c cost
	for _, s := range st.settled {
		if s[0] != 0 && (x.place < s[0]) != (y.place < s[1]) {
			c.inversions++
		}
	}
	usual := p.clock.offset
	if st.mated > 0 {
		usual = st.apart
	}
	c.off = y.time - x.time - usual
	c.off = max(c.off, -c.off)
	return c
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
		if c := p.cost(i, k); best == 0 || c.less(least) {
			best, least = k, c
		}
	}
	return best
}

// orphanKey finds a packet whose transport headers were damaged: what the IP
// header says of it.
type orphanKey struct {
	path  *path
	wire  uint32
	ipid  uint16
	way   uint8
	point uint8
}

// adopt looks for the mate of a sight of which the transport headers differ:
// one of the two is damaged. Failing that, the sight may be adopted later.
func (p *pair) adopt(i int32) {
	s := &p.chains.pool[i]
	if s.ipid == 0 {
		return
	}
	key := orphanKey{s.stream.path, s.wire, s.ipid, s.stream.way, 1 - s.point}
	if k := p.orphans[key]; k != 0 {
		o := &p.chains.pool[k]
		bad, good := s.icrc == dissect.ICRCBad, o.icrc == dissect.ICRCGood
		if s.icrc == dissect.ICRCGood {
			bad, good = o.icrc == dissect.ICRCBad, true
		}
		if !o.mated && bad && good {
			p.foster(i, k)
			return
		}
	}
	key.point = s.point
	p.orphans[key] = i
}

// disown forgets that a sight may be adopted.
func (p *pair) disown(i int32) {
	s := &p.chains.pool[i]
	key := orphanKey{s.stream.path, s.wire, s.ipid, s.stream.way, s.point}
	if p.orphans[key] == i {
		delete(p.orphans, key)
	}
}

// foster joins a damaged sight to the good one. The packet belongs to the stream
// of the good one; the damaged one counts nowhere else.
func (p *pair) foster(i, k int32) {
	good, bad := &p.chains.pool[i], &p.chains.pool[k]
	if good.icrc == dissect.ICRCBad {
		good, bad = bad, good
	}
	st := good.stream
	st.side[bad.point].damaged++
	st.mated++
	st.path.favour(st.way, good.point, &st.path.marks)
	if bad.stream != st {
		bad.stream.bad--
	}
	good.mated, bad.mated = true, true
	good.far, bad.far = 0, 0
	good.other, bad.other = good.times, bad.times
	p.disown(i)
	p.disown(k)
}
