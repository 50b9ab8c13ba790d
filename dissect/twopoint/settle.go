package twopoint

import "math"

// advance settles what can be settled.
func (p *pair) advance() {
	if !p.clock.known && (!p.reach[0].closed || !p.reach[1].closed) {
		p.bound()
		return
	}
	for {
		at, ok := p.next(&p.fresh, p.clock.slack)
		if !ok {
			break
		}
		p.settle(at)
	}
	for {
		at, ok := p.next(&p.settled, 2*p.clock.slack)
		if !ok {
			break
		}
		p.part(at)
	}
	for p.expire(0) || p.expire(1) {
	}
	p.bound()
}

func (p *pair) bound() {
	for p.chains.live > p.config.MaxPending {
		p.evict()
	}
}

// now is up to when, by the clock of point 0, both captures have been read.
func (p *pair) now() int64 {
	t := int64(math.MaxInt64)
	if r := &p.reach[0]; !r.closed {
		t = r.last
	}
	if r := &p.reach[1]; !r.closed {
		t = min(t, r.last-p.clock.offset)
	}
	return t
}

// aligned is the time of a sight by the clock of point 0.
func (p *pair) aligned(s *sight) int64 {
	if s.point == 1 {
		return s.time - p.clock.offset
	}
	return s.time
}

// next is the point of the oldest sight at the head of two queues, if both
// captures were read so much further.
func (p *pair) next(queues *[2]queue, further int64) (point uint8, ok bool) {
	oldest := int64(math.MaxInt64)
	for k := range queues {
		if queues[k].len() > 0 {
			if t := p.aligned(&p.chains.pool[queues[k].front()]); t < oldest {
				point, oldest = uint8(k), t
			}
		}
	}
	return point, oldest < math.MaxInt64-further && oldest+further <= p.now()
}

// settle looks for the mate of the oldest fresh sight of a point.
func (p *pair) settle(at uint8) {
	i := p.fresh[at].pop()
	s := &p.chains.pool[i]
	st := s.stream
	if !s.unique && st.distinct(s) {
		s.unique = true // it came before that was known
		if !s.mated && p.again(i) {
			st.side[at].copies.unsay(s.seq, s.place, st.side[at].seen)
			p.release(i)
			return
		}
	}
	if !s.mated {
		p.choose(i)
	}
	if !s.mated {
		p.adopt(i)
	}
	p.settled[at].push(i)
}

// part takes the oldest settled sight of a point out of its queue: found ones
// go, others wait.
func (p *pair) part(at uint8) {
	i := p.settled[at].pop()
	s := &p.chains.pool[i]
	side := &s.stream.side[at]
	s.before = side.farthest
	if !s.mated {
		s.waits = true
		p.waiting[at].push(i)
		return
	}
	s.order()
	side.farthest = max(side.farthest, s.far)
	p.release(i)
}

// order counts a copy that one behind it at the other point had overtaken when it
// came here.
func (s *sight) order() {
	if s.chosen && s.far != 0 && s.far < s.before {
		s.stream.side[s.point].overtaken++
	}
}

// release gives a sight back. The last of two mates to go counts how often the
// copy was seen at either point.
func (p *pair) release(i int32) {
	s := &p.chains.pool[i]
	if s.mate != 0 {
		m := &p.chains.pool[s.mate]
		m.mate, m.other = 0, s.times
	} else if s.mated && s.chosen {
		n := int64(s.times) - int64(s.other)
		if n > 0 {
			s.stream.side[s.point].surplus += n
		} else {
			s.stream.side[1-s.point].surplus -= n
		}
	}
	if s.mated && s.unique {
		p.late[s.hash%lateSlots] = gone{s.hash, p.aligned(s)}
	}
	s.stream.pending--
	p.chains.remove(i)
}

// expire settles the oldest waiting sight of a point, if it waited long enough.
func (p *pair) expire(at uint8) bool {
	if p.waiting[at].len() == 0 {
		return false
	}
	i := p.waiting[at].front()
	s := &p.chains.pool[i]
	t := p.aligned(s)
	if !s.mated && (t >= math.MaxInt64-p.config.Patience || t+p.config.Patience > p.now()) {
		return false
	}
	p.waiting[at].pop()
	p.give(i)
	return true
}

// give settles a sight that waited.
func (p *pair) give(i int32) {
	s := &p.chains.pool[i]
	p.disown(i)
	if !s.mated && !s.unique {
		p.choose(i)
	}
	if !s.mated {
		p.alone(s)
	}
	p.release(i)
}

// evict makes room. What waits is decided early; what is fresh cannot be.
func (p *pair) evict() {
	at := uint8(0)
	if p.waiting[1].len() > p.waiting[0].len() {
		at = 1
	}
	if p.waiting[at].len() > 0 {
		i := p.waiting[at].pop()
		if !p.chains.pool[i].mated {
			p.evicted.Early++
		}
		p.give(i)
		return
	}
	if p.settled[0].len()+p.settled[1].len() > 0 {
		at, _ := p.next(&p.settled, 0)
		p.part(at)
		return
	}
	at = 0
	if p.fresh[1].len() > p.fresh[0].len() {
		at = 1
	}
	i := p.fresh[at].pop()
	if s := &p.chains.pool[i]; !s.mated {
		p.evicted.Undecided++
		if s.chosen {
			s.stream.side[at].undecided++
		}
	}
	p.release(i)
}

// close ends one capture. When both have ended everything is decided.
func (p *pair) close(point uint8) {
	p.reach[point].closed = true
	if p.reach[1-point].closed { // there will never be more to go by
		p.clock.settle(1)
	} else {
		p.clock.settle(fewLikely)
	}
	p.advance()
}
