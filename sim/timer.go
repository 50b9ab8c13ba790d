package sim

import "github.com/rdmadump/rdmadump/transport"

// timers is a heap of the machines that wait for a moment, by that moment. A
// machine that has put its moment off stays where it is: when its time comes it
// is asked again.
type timers []*machine

func (h timers) before(a, b *machine) bool {
	return a.timer < b.timer || a.timer == b.timer && a.number < b.number
}

// set has the machine wait until at, or until earlier if it does so already.
func (h *timers) set(m *machine, at transport.Time) {
	switch {
	case at == transport.Never:
		return
	case m.place < 0:
		m.place = len(*h)
		*h = append(*h, m)
	case at >= m.timer:
		return
	}
	m.timer = at
	h.rise(m)
}

func (h timers) rise(m *machine) {
	i := m.place
	for i > 0 {
		up := (i - 1) / 4
		if !h.before(m, h[up]) {
			break
		}
		h[i] = h[up]
		h[i].place = i
		i = up
	}
	h[i], m.place = m, i
}

// pop takes the first machine out.
func (h *timers) pop() *machine {
	all := *h
	top, last := all[0], all[len(all)-1]
	all[len(all)-1] = nil
	*h = all[:len(all)-1]
	top.place = -1
	if top != last {
		(*h)[0] = last
		h.sink(last)
	}
	return top
}

func (h timers) sink(m *machine) {
	i := 0
	for {
		least := 4*i + 1
		if least >= len(h) {
			break
		}
		for k := least + 1; k < min(least+4, len(h)); k++ {
			if h.before(h[k], h[least]) {
				least = k
			}
		}
		if !h.before(h[least], m) {
			break
		}
		h[i] = h[least]
		h[i].place = i
		i = least
	}
	h[i], m.place = m, i
}
