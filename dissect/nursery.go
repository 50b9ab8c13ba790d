package dissect

import "github.com/rdmadump/rdmadump/psn"

// embryo is a half that is not proven, and the packets that wait for it.
type embryo struct {
	key     halfKey
	n       int // packets that wait
	packets [enough - 1]waiting

	older, younger *embryo // by when the last packet came
	before, after  *embryo // between the same addresses
}

// waiting is a packet of a half that is not proven.
type waiting struct {
	arrival
	order int64 // packets of the analysis before it
	bad   bool  // the ICRC is bad, and not just cut off
	match bool  // it is what Selection.Packets wants
}

// maxEmbryos bounds the halves that wait for proof.
const maxEmbryos = 1 << 17

// nursery holds the halves that are not proven. The one that rested longest
// makes room where there are too many.
type nursery struct {
	byKey            map[halfKey]*embryo
	byEnds           map[ends]*embryo // the first of its list
	oldest, youngest *embryo
}

func (k *halfKey) ends() ends    { return ends{k.src, k.dst, k.network} }
func (k *halfKey) reverse() ends { return ends{k.dst, k.src, k.network} }

// at is the embryo with the key, made if it is not there. lost is how many
// packets of another made room for it.
func (n *nursery) at(key *halfKey) (e *embryo, lost int) {
	if e = n.byKey[*key]; e != nil {
		return e, 0
	}
	if len(n.byKey) >= maxEmbryos {
		e = n.oldest
		lost = e.n
		n.remove(e)
		*e = embryo{}
	} else {
		e = &embryo{}
	}
	if n.byKey == nil {
		n.byKey, n.byEnds = map[halfKey]*embryo{}, map[ends]*embryo{}
	}
	e.key = *key
	n.byKey[*key] = e
	first := n.byEnds[key.ends()]
	if e.after = first; first != nil {
		first.before = e
	}
	n.byEnds[key.ends()] = e
	n.append(e)
	return e, lost
}

// append makes an embryo the youngest.
func (n *nursery) append(e *embryo) {
	if e.older = n.youngest; e.older != nil {
		e.older.younger = e
	} else {
		n.oldest = e
	}
	e.younger, n.youngest = nil, e
}

// take takes an embryo out of the order of age.
func (n *nursery) take(e *embryo) {
	if e.older != nil {
		e.older.younger = e.younger
	} else {
		n.oldest = e.younger
	}
	if e.younger != nil {
		e.younger.older = e.older
	} else {
		n.youngest = e.older
	}
}

func (n *nursery) remove(e *embryo) {
	n.take(e)
	delete(n.byKey, e.key)
	switch {
	case e.before != nil:
		e.before.after = e.after
	case e.after != nil:
		n.byEnds[e.key.ends()] = e.after
	default:
		delete(n.byEnds, e.key.ends())
	}
	if e.after != nil {
		e.after.before = e.before
	}
}

// wait keeps a packet. What was kept before and does not go together with it is
// forgotten.
func (n *nursery) wait(e *embryo, w waiting) {
	e.packets[e.n] = w
	e.n++
	n.take(e)
	n.append(e)
}

// maxKin bounds how many embryos are looked at for one packet.
const maxKin = 64

// answering is the embryos whose packets are all feedback on PSNs from first to
// last, from the other end.
func (n *nursery) answering(key *halfKey, first, last psn.PSN) []*embryo {
	var kin []*embryo
	looked := 0
	for e := n.byEnds[key.reverse()]; e != nil && looked < maxKin; e = e.after {
		looked++
		fit := e.n > 0
		for i := range e.packets[:e.n] {
			p := &e.packets[i]
			if !forms[p.op].response || p.psn.Sub(first) < -1 || p.psn.Sub(last) > 0 {
				fit = false
			}
		}
		if fit {
			kin = append(kin, e)
		}
	}
	return kin
}

// asking is the embryo that a request with the PSN waits in, which a half of
// the other end acknowledges; nil if there is none.
func (n *nursery) asking(key *halfKey, p psn.PSN) *embryo {
	looked := 0
	for e := n.byEnds[key.reverse()]; e != nil && looked < maxKin; e = e.after {
		looked++
		for i := range e.packets[:e.n] {
			if w := &e.packets[i]; w.psn == p && !forms[w.op].response {
				return e
			}
		}
	}
	return nil
}
