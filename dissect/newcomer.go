package dissect

import "github.com/rdmadump/rdmadump/codec"

// A packet with a good ICRC proves its half. One without proof does not, for any
// program may use UDP port 4791: a half is taken for real after three such
// packets with PSNs that go together. The first two wait here, in a table of
// fixed size, so that garbage only ever pushes garbage out.

// embryo is a half that is not proven.
type embryo struct {
	key     halfKey
	hash    uint32
	n       int
	packets [2]arrival
}

const (
	embryoSlots = 1024
	enough      = 3
	// near PSNs go together.
	togetherPSNs = 1024
)

// newcomer looks at a packet of no known half. It gives the half once there is
// one; the packet at hand is then the caller's to follow.
func (a *Analyzer) newcomer(p *Packet, bth *codec.BTH, grade Plausibility, key *halfKey, hash uint32) *half {
	switch grade {
	case Proven:
		return a.newHalf(key, hash, bth.Opcode)
	case Implausible, Misfit:
		return nil
	}
	if a.embryos == nil {
		a.embryos = make([]embryo, embryoSlots)
	}
	e := &a.embryos[hash%embryoSlots]
	if e.n == 0 || e.key != *key {
		if e.n > 0 {
			a.evicted.Halves++
		}
		e.key, e.hash, e.n = *key, hash, 0
	}
	if e.n > 0 {
		if far := bth.PSN.Sub(e.packets[e.n-1].psn); far > togetherPSNs || far < -togetherPSNs {
			e.n = 0
		}
	}
	if e.n < enough-1 {
		in := &e.packets[e.n]
		a.fillIn(in, p, bth)
		e.n++
		return nil
	}
	h := a.newHalf(key, hash, bth.Opcode)
	h.bad += int64(e.n)
	for i := range e.packets[:e.n] {
		h.take(a, &e.packets[i])
	}
	h.tally = tally{} // they were counted when they waited
	e.n = 0
	return h
}
