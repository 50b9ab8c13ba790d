package dissect

import (
	"cmp"
	"slices"

	"github.com/rdmadump/rdmadump/codec"
)

// A packet with a good ICRC proves its half. One without proof does not, for any
// program may use UDP port 4791: a half is taken for real after three such
// packets with PSNs that go together, or one that is feedback on a half already
// known. Until then packets wait (nursery.go); once the half is real they are
// followed in the order in which they came, with what came the other way.

const (
	enough = 3
	// near PSNs go together.
	togetherPSNs = 1024
)

// newcomer looks at a packet of no known half. It gives the half once there is
// one; the packet at hand is then the caller's to follow.
func (a *Analyzer) newcomer(p *Packet, bth *codec.BTH, icrc ICRCState, grade Plausibility, key *halfKey, hash uint32) *half {
	switch grade {
	case Proven:
		return a.hatch(key, hash, bth)
	case Implausible, Misfit:
		return nil
	}
	in := &a.in
	a.fillIn(in, p, bth)
	if a.answersKnown(key, in, icrc) {
		return a.hatch(key, hash, bth)
	}
	e, lost := a.nursery.at(key)
	a.evicted.Unproven += int64(lost)
	if e.n > 0 {
		if far := bth.PSN.Sub(e.packets[e.n-1].psn); far > togetherPSNs || far < -togetherPSNs {
			e.n = 0
		}
	}
	if e.n == enough-1 {
		return a.hatch(key, hash, bth)
	}
	a.nursery.wait(e, waiting{*in, a.totals.Packets, icrc == ICRCBad, a.wants(p)})
	return nil
}

// answersKnown reports whether a packet without proof is feedback on a half
// already known. Where that half proves its packets, a bad ICRC is damage, which
// may be to the queue pair number.
func (a *Analyzer) answersKnown(key *halfKey, in *arrival, icrc ICRCState) bool {
	if !forms[in.op].response {
		return false
	}
	near := a.between[key.reverse()]
	if near == nil || !a.mayLook() {
		return false
	}
	h := a.answeredBy(near, serviceOf(in.op), in)
	return h != nil && (icrc != ICRCBad || h.uselessICRC())
}

// hatch makes a half, and gives it the packets that waited for it.
func (a *Analyzer) hatch(key *halfKey, hash uint32, bth *codec.BTH) *half {
	h := a.newHalf(key, hash, bth.Opcode)
	e := a.nursery.byKey[*key]
	if e == nil || e.n == 0 {
		return h
	}
	broods := []brood{{h, e}}
	if !forms[e.packets[0].op].response {
		for _, k := range a.nursery.answering(key, e.packets[0].psn, bth.PSN) {
			broods = append(broods, brood{a.newHalf(&k.key, a.table.hash(&k.key), k.packets[0].op), k})
		}
	}
	a.raise(broods)
	return h
}

// brood is a half, and what waited for it.
type brood struct {
	half *half
	*embryo
}

// raise follows what waited for several halves in the order in which it came.
func (a *Analyzer) raise(broods []brood) {
	type packet struct {
		half *half
		*waiting
	}
	var packets []packet
	for _, b := range broods {
		a.nursery.remove(b.embryo)
		for i := range b.packets[:b.n] {
			packets = append(packets, packet{b.half, &b.packets[i]})
		}
	}
	slices.SortFunc(packets, func(x, y packet) int { return cmp.Compare(x.order, y.order) })
	for _, p := range packets {
		if p.bad {
			p.half.bad++
		}
		p.half.matched = p.half.matched || p.match
		p.half.take(&p.arrival)
	}
	for _, b := range broods {
		b.half.packets, b.half.marked = 0, 0 // they were counted when they came
	}
}

// acknowledgedEmbryo proves a half whose packets a half with proof acknowledges:
// packets that a snap length cut have no ICRC to prove themselves with.
func (a *Analyzer) acknowledgedEmbryo(h *half, in *arrival) bool {
	if h.good == 0 || h.sought >= maxSought {
		return false
	}
	h.sought++
	e := a.nursery.asking(&h.key, in.psn)
	if e == nil {
		return false
	}
	a.raise([]brood{{a.newHalf(&e.key, a.table.hash(&e.key), e.packets[0].op), e}})
	return true
}

// maxSought bounds how often a half looks for what it acknowledges.
const maxSought = 16
