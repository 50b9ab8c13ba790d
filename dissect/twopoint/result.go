package twopoint

import (
	"cmp"
	"slices"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// Comparison sums up what was found. Captures that are not closed yet are.
func (c *Comparer) Comparison() *Comparison {
	out := &Comparison{Schema: Schema, Selection: c.config.Selection, Clock: Clock{Basis: NoBasis}, Streams: []Stream{}}
	for i := range c.points {
		c.Close(i, "", 0, nil)
		out.Captures = append(out.Captures, c.points[i].Capture)
	}
	results := make([]result, len(c.pairs))
	for i, p := range c.pairs {
		results[i] = p.result()
	}
	for i, p := range c.pairs {
		clock := Clock{From: c.points[p.points[0]].File, To: c.points[p.points[1]].File,
			Offset: results[i].line.offset, Drift: results[i].line.ppb(), Basis: results[i].line.basis}
		out.between = append(out.between, stretch{p.points, results[i].line})
		if i == 0 {
			out.Clock = clock
		}
		if len(c.pairs) > 1 {
			out.Clocks = append(out.Clocks, clock)
		}
		out.evict(&p.evicted)
	}
	for _, key := range c.keys() {
		hops := c.route(key, results)
		for _, h := range hops {
			if s := c.describe(key, h); !c.config.selects() || s.counts() {
				out.add(s)
			}
		}
		if len(hops) == 0 {
			out.Once = append(out.Once, c.once(key)...)
		}
	}
	out.sum()
	return out
}

// result is what a pair knows at the end.
type result struct {
	line   line
	orders map[*path]order
}

func (p *pair) result() result {
	l, both := p.fitClock()
	r := result{line: l, orders: p.orderPaths(l, both)}
	if !both {
		r.line = p.fitOneWay(r.orders)
	}
	if !p.believable(&r.line) {
		p.disbelieve()
		r = result{line: line{basis: NoBasis}, orders: p.orderPaths(line{}, false)}
	}
	return r
}

// keys are the streams of all pairs in order of appearance.
func (c *Comparer) keys() []streamKey {
	type found struct {
		key    streamKey
		number uint32
	}
	var all []found
	seen := map[streamKey]bool{}
	for _, p := range c.pairs {
		var of []found
		for key, st := range p.streams {
			if !seen[key] {
				seen[key] = true
				of = append(of, found{key, st.number})
			}
		}
		slices.SortFunc(of, func(a, b found) int { return cmp.Compare(a.number, b.number) })
		all = append(all, of...)
	}
	keys := make([]streamKey, len(all))
	for i := range all {
		keys[i] = all[i].key
	}
	return keys
}

// hop is a stretch of a stream's route: two points with none between.
type hop struct {
	pair   *pair
	result *result
	first  uint8
	order  order
}

// route orders the points that a stream passes: a point comes before another
// when it does so in more of the pairs.
func (c *Comparer) route(key streamKey, results []result) []hop {
	wins := make([]int, len(c.points))
	on := make([]bool, len(c.points))
	var points []int
	for i, p := range c.pairs {
		st := p.streams[key]
		if st == nil || !st.shared() {
			continue
		}
		first := results[i].orders[st.path].first(st.way)
		wins[p.points[first]]++
		for _, at := range p.points {
			if !on[at] {
				on[at] = true
				points = append(points, at)
			}
		}
	}
	slices.SortStableFunc(points, func(a, b int) int { return cmp.Compare(wins[b], wins[a]) })
	var hops []hop
	for k := 1; k < len(points); k++ {
		a, b := points[k-1], points[k]
		first := uint8(0)
		if a > b {
			a, b, first = b, a, 1
		}
		i := b*(b-1)/2 + a
		st := c.pairs[i].streams[key]
		if st == nil || !st.shared() {
			continue
		}
		hops = append(hops, hop{c.pairs[i], &results[i], first, results[i].orders[st.path]})
	}
	return hops
}

// describe reports a stream between two points.
func (c *Comparer) describe(key streamKey, h hop) Stream {
	st := h.pair.streams[key]
	first, second := &st.side[h.first], &st.side[1-h.first]
	s := Stream{
		Src: key.src, Dst: key.dst, DestQP: dissect.QPN(key.qpn), Kind: key.kind,
		Upstream: c.points[h.pair.points[h.first]].File, Downstream: c.points[h.pair.points[1-h.first]].File, OrderBy: h.order.by,
		CopiesAtFirst:  st.kept + first.aloneN,
		CopiesAtSecond: st.kept - second.damaged + second.aloneN,
		Vanished:       first.alone, VanishedTotal: first.aloneN, VanishedRanges: []psn.Range{},
		NotCaptured: second.aloneN, Outside: first.outside + second.outside, Undecided: first.undecided + second.undecided,
		Damaged: second.damaged, Reordered: second.overtaken,
		Duplicated:  second.surplus + max(0, second.late-first.late),
		DSCPChanged: st.dscp,
		Delay:       st.delay(h),
	}
	if key.kind == Datagram {
		qp := dissect.QPN(key.src2)
		s.SrcQP = &qp
	}
	if s.Vanished == nil {
		s.Vanished = []Copy{}
	}
	slices.SortFunc(s.Vanished, func(a, b Copy) int { return cmp.Compare(a.Frame, b.Frame) })
	for _, span := range first.aloneSet.Spans() {
		s.VanishedRanges = append(s.VanishedRanges, span.Range())
	}
	for _, k := range second.spoilt {
		s.DamagedCopies = append(s.DamagedCopies, DamagedCopy{Copy{k.good.psn, first.copies.corrected(&k.good), k.good.frame}, k.bad})
	}
	slices.SortFunc(s.DamagedCopies, func(a, b DamagedCopy) int { return cmp.Compare(a.Frame, b.Frame) })
	for _, k := range st.ecnWays.toward(h.first) {
		if k.to == dissect.ECNCE {
			s.CEMarked += k.n
		}
		s.ECNChanges = append(s.ECNChanges, ECNChange{ECN(k.from), ECN(k.to), k.n})
	}
	for _, k := range st.dscpWays.toward(h.first) {
		s.DSCPChanges = append(s.DSCPChanges, DSCPChange{int(k.from), int(k.to), k.n})
	}
	s.Hops = st.lowered(h.first)
	return s
}

// lowered is how much the hop limit was lowered behind the point that the stream
// passes first, nil if it was not. No router raises it: where it seems to grow, it
// was set anew or the packets came another way, and that is no number of hops.
func (s *stream) lowered(first uint8) *Hops {
	low, high := s.fewer, s.most
	if first == 1 {
		low, high = -high, -low
	}
	if !s.hopsKnown || high <= 0 {
		return nil
	}
	return &Hops{max(low, 0), high}
}

// delay sums up how long copies took.
func (s *stream) delay(h hop) Delay {
	took := func(p point) int64 {
		d := p.apart - h.result.line.at(p.time)
		if h.first == 1 {
			return -d
		}
		return d
	}
	var all []int64
	add := func(p point) {
		if d := took(p); d >= 0 {
			all = append(all, d)
		}
	}
	from := &s.delays
	if s.picked != nil {
		from = s.picked
	}
	for _, p := range from.sample.points {
		add(p)
	}
	slices.Sort(all)
	d := Delay{Count: int64(from.sample.seen)}
	if int(d.Count) == len(from.sample.points) {
		d.Count = int64(len(all))
	}
	if len(all) > 0 {
		d.Median, d.P99 = all[len(all)/2], all[(len(all)-1)*99/100]
	}
	for _, c := range from.extremes.cells {
		if c.any {
			add(c.low)
			add(c.high)
		}
	}
	if len(all) > 0 {
		d.Min, d.Max = slices.Min(all), slices.Max(all)
	}
	return d
}

// once reports a stream that no two points saw.
func (c *Comparer) once(key streamKey) []Once {
	packets := make([]int64, len(c.points))
	proven := false
	for _, p := range c.pairs {
		if st := p.streams[key]; st != nil {
			for k, at := range p.points {
				packets[at] = max(packets[at], st.side[k].kept)
			}
			proven = proven || st.good > 0
		}
	}
	var all []Once
	const enough = 3 // packets without proof
	for at, n := range packets {
		if n > 0 && (proven || n >= enough) {
			all = append(all, Once{Src: key.src, Dst: key.dst, DestQP: dissect.QPN(key.qpn), Kind: key.kind, File: c.points[at].File, Packets: n})
		}
	}
	return all
}

// counts reports whether any copy of the stream was counted.
func (s *Stream) counts() bool {
	return s.CopiesAtFirst+s.CopiesAtSecond+s.Damaged+s.Outside+s.Undecided+s.Duplicated > 0
}

// add files a stream under its kind.
func (c *Comparison) add(s Stream) {
	switch s.Kind {
	case Request, ReadResponse:
		c.Streams = append(c.Streams, s)
	case Datagram:
		c.Datagrams = append(c.Datagrams, s)
	default:
		c.Feedback = append(c.Feedback, s)
	}
}

func (c *Comparison) sum() {
	t := &c.Totals
	for i := range c.Streams {
		s := &c.Streams[i]
		t.Copies += s.CopiesAtFirst
		t.Vanished += s.VanishedTotal
		t.Damaged += s.Damaged
		t.Reordered += s.Reordered
		t.Duplicated += s.Duplicated
		t.NotCaptured += s.NotCaptured
	}
	for i := range c.Feedback {
		t.FeedbackVanished += c.Feedback[i].VanishedTotal
	}
	for i := range c.Datagrams {
		t.DatagramsVanished += c.Datagrams[i].VanishedTotal
	}
}

func (c *Comparison) evict(e *Evicted) {
	if *e == (Evicted{}) {
		return
	}
	if c.Evicted == nil {
		c.Evicted = &Evicted{}
	}
	c.Evicted.Streams += e.Streams
	c.Evicted.Packets += e.Packets
	c.Evicted.Early += e.Early
	c.Evicted.Undecided += e.Undecided
}
