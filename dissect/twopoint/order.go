package twopoint

// Evidence is what shows which of two points a stream passes first.
type Evidence string

// The kinds of evidence, the strongest first.
const (
	ByHopLimit  Evidence = "hop-limit"  // routers between the points lowered it
	ByRoundTrip Evidence = "round-trip" // what goes one way and what comes back: no delay is negative
	ByOffset    Evidence = "offset"     // the clock offset that other paths show
	ByMarks     Evidence = "marks"      // CE marks and damage are there at one point only
	ByLoss      Evidence = "loss"       // copies are missing at one point only
	ByClock     Evidence = "clock"      // nothing but the clocks, taken to agree
)

// order is which point the packets of a path pass first.
type order struct {
	zero uint8 // that way 0 passes first
	by   Evidence
}

// first is the point that packets going the way pass first.
func (o order) first(way uint8) uint8 { return o.zero ^ way }

// order tells the order from the packets of the path alone.
func (p *path) order() (order, bool) {
	for _, e := range [...]struct {
		ballot
		by Evidence
	}{{p.hops, ByHopLimit}, {p.times, ByRoundTrip}, {p.marks, ByMarks}} {
		if zero, ok := e.clear(); ok {
			return order{zero, e.by}, true
		}
	}
	return order{by: ByClock}, false
}

// orderPaths decides the order of every path.
func (p *pair) orderPaths(l line, both bool) map[*path]order {
	missing := map[*path]*ballot{}
	apart := map[*path]int64{}
	for _, st := range p.streams {
		if st.mated == 0 {
			continue
		}
		b := missing[st.path]
		if b == nil {
			b = &ballot{}
			missing[st.path] = b
		}
		for at := range st.side {
			n := st.side[at].lone
			b.votes += n
			if uint8(at) != st.way {
				n = -n
			}
			b.sum += n
		}
		for _, pt := range st.sample.points {
			d := pt.apart
			if both {
				d -= l.at(pt.time)
			}
			if (d < 0) != (st.way == 1) {
				apart[st.path]--
			} else {
				apart[st.path]++
			}
		}
	}
	orders := map[*path]order{}
	for _, pa := range p.paths {
		o, sure := pa.order()
		zero := uint8(0)
		if apart[pa] < 0 {
			zero = 1
		}
		switch b := missing[pa]; {
		case b == nil, sure && o.by != ByMarks:
		case both:
			o = order{zero, ByOffset}
		case sure:
		default:
			if first, ok := b.clear(); ok {
				o = order{first, ByLoss}
			} else {
				o = order{zero, ByClock}
			}
		}
		orders[pa] = o
	}
	return orders
}
