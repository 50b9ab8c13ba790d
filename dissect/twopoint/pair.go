package twopoint

import (
	"math"

	"github.com/rdmadump/rdmadump/dissect"
)

// pair matches the sights of two capture points.
//
// A sight goes through three queues. It is fresh until both captures have been
// read some way past its time: then every sight that it can be mistaken for is
// here, and it is settled: found at the other point, or not. It stays until its
// neighbours are settled too, so that their order is known. One that was not
// found waits until the other capture has been read much further, in case it was
// held up, and is then alone for good.
type pair struct {
	config  *Config
	points  [2]int // their numbers among all
	streams map[streamKey]*stream
	paths   map[pathKey]*path
	numbers uint32
	chains  chains
	seed    uint64
	fresh   [2]queue
	settled [2]queue
	waiting [2]queue
	orphans map[orphanKey]int32 // waiting ones with an IP identification
	late    [lateSlots]gone
	listed  int   // copies in lists of all streams
	exact   int64 // mates that the IP identification tells from other copies
	clock   aligner
	reach   [2]reached
	evicted Evicted
	refused int // packets since streams were last forgotten
}

// gone is a copy that was found at both points and let go. It is remembered
// for a while, since it may be seen once more.
type gone struct {
	hash uint64
	time int64 // by the clock of point 0
}

// reached is how far a capture has been read.
type reached struct {
	frames      int64
	first, last int64 // times; last is the largest so far
	closed      bool
}

const lateSlots = 1 << 14

func newPair(c *Config, a, b int) *pair {
	return &pair{config: c, points: [2]int{a, b}, streams: map[streamKey]*stream{}, paths: map[pathKey]*path{},
		chains: newChains(), seed: c.seed(), orphans: map[orphanKey]int32{}}
}

// pass notes the time of a frame.
func (p *pair) pass(point uint8, time int64) {
	r := &p.reach[point]
	if r.frames == 0 {
		r.first, r.last = time, time
	}
	r.frames++
	r.first, r.last = min(r.first, time), max(r.last, time)
}

// quiet takes note that nothing comes of a point until a time.
func (p *pair) quiet(point uint8, time int64) {
	if r := &p.reach[point]; r.frames > 0 {
		r.last = max(r.last, time)
	}
}

// take follows a sight.
func (p *pair) take(point uint8, in *arrival) {
	st := p.stream(in)
	if st == nil {
		return
	}
	switch in.sight.icrc {
	case dissect.ICRCGood:
		st.good++
	case dissect.ICRCBad:
		st.bad++
	}
	side := &st.side[point]
	s := in.sight
	s.point, s.stream = point, st
	s.unique = st.identify(&s)
	s.hash = s.mix(p.seed)
	twin, same, alike := p.find(&s)
	if same != 0 {
		c := &p.chains.pool[same]
		if c.times < math.MaxUint16 {
			c.times++
		}
		side.again++
		return
	}
	if s.unique && twin == 0 && p.released(&s) {
		if s.chosen {
			side.late++
		}
		return
	}
	if alike > mostAlike {
		if s.chosen {
			side.undecided++
		}
		p.evicted.Undecided++
		return
	}
	s.seq, s.nth = side.copies.number(s.psn)
	side.seen++
	if s.chosen {
		side.kept++
	}
	s.place = side.seen
	i := p.chains.add(&s)
	st.pending++
	p.fresh[point].push(i)
	if twin != 0 && s.unique {
		p.marry(i, twin)
	} else if !p.clock.known {
		p.guess(i)
	}
}

// guess compares a sight with those that may show the same copy.
func (p *pair) guess(i int32) {
	s := &p.chains.pool[i]
	for k, n := p.chains.head(s.hash), 0; k != 0 && n < 4 && !p.clock.known; k = p.chains.pool[k].next {
		o := &p.chains.pool[k]
		if o.hash == s.hash && o.identity == s.identity && o.point != s.point {
			p.clock.guess(p.distance(i, k))
			n++
		}
	}
}

// released reports whether a copy was found at both points and let go.
func (p *pair) released(s *sight) bool {
	r := &p.late[s.hash%lateSlots]
	return r.hash == s.hash && p.aligned(s)-r.time < p.config.Patience
}

// again reports whether a sight shows a copy that its point had shown before,
// and counts it there.
func (p *pair) again(i int32) bool {
	s := &p.chains.pool[i]
	for k := p.chains.head(s.hash); k != 0; k = p.chains.pool[k].next {
		o := &p.chains.pool[k]
		if k != i && o.hash == s.hash && o.identity == s.identity && o.point == s.point && o.place < s.place {
			o.times++
			return true
		}
	}
	if p.released(s) {
		if s.chosen {
			s.stream.side[s.point].late++
		}
		return true
	}
	return false
}

// find looks for sights with the same identity: a free one at the other point,
// the same copy at the same point, and how many there are at all.
func (p *pair) find(s *sight) (twin, same int32, alike int) {
	for i := p.chains.head(s.hash); i != 0 && alike <= mostAlike; i = p.chains.pool[i].next {
		o := &p.chains.pool[i]
		if o.hash != s.hash || o.identity != s.identity {
			continue
		}
		alike++
		switch {
		case o.point != s.point:
			if !o.mated {
				twin = i
			}
		case s.unique, s.stream.side[s.point].mirrored(o.place) && s.time-o.time < mirrorWindow && o.time-s.time < mirrorWindow:
			return 0, i, alike
		}
	}
	return twin, 0, alike
}

const (
	// mirrorWindow is how soon after a packet its mirrored copy may follow
	// where nothing but time tells it from a retransmission, in nanoseconds.
	mirrorWindow = 10_000
	// mostAlike bounds how many sights with one identity are held.
	mostAlike = 512
)

// stream finds the stream of a packet, or begins one.
func (p *pair) stream(in *arrival) *stream {
	if st := p.streams[in.key]; st != nil {
		return st
	}
	if in.grade < dissect.Plausible {
		return nil
	}
	if len(p.streams) >= p.config.MaxStreams && !p.forget() {
		p.evicted.Packets++
		return nil
	}
	key, way := pathOf(&in.key)
	pa := p.paths[key]
	if pa == nil {
		pa = &path{}
		p.paths[key] = pa
	}
	pa.streams++
	p.numbers++
	st := &stream{key: in.key, number: p.numbers, path: pa, way: way}
	if p.config.selects() {
		st.picked = &delays{}
	}
	p.streams[in.key] = st
	return st
}

// forget drops streams that were never seen at both points, and reports whether
// there is room now. It looks at all streams, so it does not do so often.
func (p *pair) forget() bool {
	if p.refused++; p.refused < len(p.streams)/4 && p.refused > 1 {
		return false
	}
	p.refused = 1
	for key, st := range p.streams {
		if st.mated > 0 || st.pending > 0 {
			continue
		}
		delete(p.streams, key)
		for k := range st.side {
			p.listed -= len(st.side[k].alone) + len(st.side[k].spoilt)
		}
		p.evicted.Streams++
		if st.path.streams--; st.path.streams == 0 {
			k, _ := pathOf(&key)
			delete(p.paths, k)
		}
		p.refused = 0
	}
	return len(p.streams) < p.config.MaxStreams
}

// distance is how far apart two sights of one copy are, one at each point.
func (p *pair) distance(i, k int32) point {
	x, y := &p.chains.pool[i], &p.chains.pool[k]
	if x.point == 1 {
		x, y = y, x
	}
	return point{x.time, y.time - x.time}
}

// marry notes that two sights show the same copy.
func (p *pair) marry(i, k int32) {
	x, y := &p.chains.pool[i], &p.chains.pool[k]
	if x.point == 1 {
		x, y = y, x
		i, k = k, i
	}
	x.mated, y.mated = true, true
	chosen := (x.wanted || y.wanted) && min(x.phase, y.phase) == 0 // of the two, the one before has the earlier phase
	x.chosen, y.chosen = chosen, chosen
	if x.unique && y.unique {
		p.exact++
	}
	x.mate, y.mate = k, i
	x.far, y.far = y.place, x.place
	st := x.stream
	for n, s := range [...]*sight{x, y} {
		side := &st.side[n]
		if s.place == 0 {
			continue
		}
		if side.firstMate == 0 || s.place < side.firstMate {
			side.firstMate = s.place
		}
		side.lastMate = max(side.lastMate, s.place)
		if s.waits {
			s.order()
			side.farthest = max(side.farthest, s.far)
		}
	}
	if x.place != 0 && y.place != 0 { // else damaged so that the place is not known
		st.newest = [2]int64{x.place, y.place}
	}
	p.changed(x, y)
	at := point{x.time, y.time - x.time}
	st.note(at, chosen)
	st.path.note(st.way, at)
	p.clock.learn(at)
}
