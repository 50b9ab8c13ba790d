package dissect

import (
	"slices"

	"github.com/rdmadump/rdmadump/psn"
)

// ask is what the receiver asks for: to resend from seq on.
type ask struct {
	seq     psn.Seq
	at      sight
	pending bool   // no run has answered it yet
	reason  reason // of the run that will
}

// maxAsks bounds what a receiver may ask for before an answer is seen.
const maxAsks = 4

// asked notes what the receiver asks for.
func (d *recovery) asked(k ask) {
	if n := len(d.asks); n > 0 && d.asks[n-1].seq == k.seq {
		d.asks = d.asks[:n-1]
	}
	if len(d.asks) == maxAsks {
		d.asks = append(d.asks[:0], d.asks[1:]...)
	}
	d.asks = append(d.asks, k)
}

// answered takes the ask that a run from seq on answers, and with it those
// before. It is the one that names the highest PSN not above seq.
func (d *recovery) answered(seq psn.Seq) (ask, bool) {
	best := d.answering(seq)
	if best < 0 {
		return ask{}, false
	}
	k := d.asks[best]
	d.asks = append(d.asks[:0], d.asks[best+1:]...)
	return k, true
}

func (d *recovery) answering(seq psn.Seq) int {
	best := -1
	for i := range d.asks {
		if d.asks[i].seq <= seq && (best < 0 || d.asks[i].seq >= d.asks[best].seq) {
			best = i
		}
	}
	return best
}

// askedWithin reports whether the receiver asked for q, or for what is missing
// right before it.
func (d *recovery) askedWithin(q psn.Seq) bool {
	i, inside := d.gapAt(q)
	k := d.answering(q)
	return inside && k >= 0 && d.asks[k].seq >= d.gaps[i].First
}

// asksFor reports whether the receiver asked to resend from q on.
func (d *recovery) asksFor(q psn.Seq) bool {
	return slices.ContainsFunc(d.asks, func(k ask) bool { return k.seq == q })
}

// reached notes that an acknowledgement went up to q.
func (d *recovery) reached(q psn.Seq) {
	if n := len(d.points); d.points[(int(d.nPoints)+n-1)%n] != q {
		d.points[d.nPoints] = q
		d.nPoints = (d.nPoints + 1) % uint8(n)
	}
}

// wasReached reports whether one of the last acknowledgements went just up to q.
func (d *recovery) wasReached(q psn.Seq) bool { return slices.Contains(d.points[:], q) }

// forget drops what was asked for below the Seq, now that it was acknowledged.
func (d *recovery) forget(before psn.Seq) {
	kept := d.asks[:0]
	for _, k := range d.asks {
		if k.seq >= before {
			kept = append(kept, k)
		}
	}
	d.asks = kept
}
