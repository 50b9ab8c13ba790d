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
	bad     [2]uint8 // 1 where the ICRC is bad, and not just cut off
}

const (
	embryoSlots = 1024
	enough      = 3
	// near PSNs go together.
	togetherPSNs = 1024
)

// newcomer looks at a packet of no known half. It gives the half once there is
// one; the packet at hand is then the caller's to follow.
func (a *Analyzer) newcomer(p *Packet, bth *codec.BTH, icrc ICRCState, grade Plausibility, key *halfKey, hash uint32) *half {
	switch grade {
	case Proven:
		h := a.newHalf(key, hash, bth.Opcode)
		if e := a.embryo(key, hash); e != nil {
			a.hatch(e, h)
		}
		return h
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
		e.bad[e.n] = 0
		if icrc == ICRCBad {
			e.bad[e.n] = 1
		}
		e.n++
		return nil
	}
	h := a.newHalf(key, hash, bth.Opcode)
	a.hatch(e, h)
	return h
}

// embryo is what waits for the key, nil if nothing does.
func (a *Analyzer) embryo(key *halfKey, hash uint32) *embryo {
	if a.embryos == nil {
		return nil
	}
	if e := &a.embryos[hash%embryoSlots]; e.n > 0 && e.key == *key {
		return e
	}
	return nil
}

// hatch gives the packets that waited to their half.
func (a *Analyzer) hatch(e *embryo, h *half) {
	n := e.n
	e.n = 0
	for i := range e.packets[:n] {
		h.bad += int64(e.bad[i])
		h.take(a, &e.packets[i])
	}
	h.tally = tally{} // they were counted when they came
}

// acknowledgedEmbryo proves a half whose packets a proven half acknowledges:
// packets that a snap length cut have no ICRC to prove themselves with.
func (a *Analyzer) acknowledgedEmbryo(h *half, in *arrival) bool {
	if a.embryos == nil || h.good == 0 || h.sought >= maxSought {
		return false
	}
	h.sought++
	for i := range a.embryos {
		e := &a.embryos[i]
		if e.n == 0 || e.key.src != h.key.dst || e.key.dst != h.key.src || e.key.network != h.key.network {
			continue
		}
		for j := range e.packets[:e.n] {
			if p := &e.packets[j]; p.psn == in.psn && !forms[p.op].response {
				key, hash := e.key, e.hash
				a.hatch(e, a.newHalf(&key, hash, p.op))
				return true
			}
		}
	}
	return false
}

// maxSought bounds how often a half looks for what it acknowledges.
const maxSought = 16
