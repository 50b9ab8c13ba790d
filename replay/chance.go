package replay

import (
	"fmt"
	"slices"
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/sim"
)

// way is a Way at work.
type way struct {
	loss, damage, duplicate, mark, reorder []chooser
	by                                     []time.Duration
}

type chooser struct {
	*Pick
	*sim.Chooser
}

func newWay(w *Way, seed uint64, name string) *way {
	choosers := func(picks []Pick, effect string) []chooser {
		all := make([]chooser, len(picks))
		for i := range picks {
			all[i] = chooser{&picks[i], sim.NewChooser(&picks[i].Pick, seed, fmt.Sprintf("replay %s %s %d", name, effect, i))}
		}
		return all
	}
	n := &way{loss: choosers(w.Loss, "loss"), damage: choosers(w.Damage, "damage"), duplicate: choosers(w.Duplicate, "duplicate"), mark: choosers(w.Mark, "mark")}
	late := make([]Pick, len(w.Reorder))
	for i := range w.Reorder {
		late[i] = w.Reorder[i].Pick
		n.by = append(n.by, w.Reorder[i].By)
	}
	n.reorder = choosers(late, "reorder")
	return n
}

// chooses reports whether the pick is about a packet and chooses it.
func (c *chooser) chooses(p *sim.Passing, found *dissect.Packet, h *codec.BTH) bool {
	if len(c.QPN) > 0 && !slices.Contains(c.QPN, h.DestQP) || !among(c.Src, found.Src) || !among(c.Dst, found.Dst) {
		return false
	}
	return c.Chooses(p)
}

func among(hosts []Host, a dissect.Address) bool {
	return len(hosts) == 0 || slices.ContainsFunc(hosts, func(h Host) bool { return h.Has(a) })
}

// lot is what a packet has drawn.
type lot struct {
	lost, damaged, twice, marked bool
	by                           time.Duration
}

// draw asks all picks, so that none depends on the others.
func (w *way) draw(p *sim.Passing, found *dissect.Packet, h *codec.BTH) (l lot) {
	anyOf := func(all []chooser) (chosen bool) {
		for i := range all {
			chosen = all[i].chooses(p, found, h) || chosen
		}
		return chosen
	}
	l.marked, l.lost, l.damaged, l.twice = anyOf(w.mark), anyOf(w.loss), anyOf(w.damage), anyOf(w.duplicate)
	for i := range w.reorder {
		if w.reorder[i].chooses(p, found, h) {
			l.by = max(l.by, w.by[i])
		}
	}
	return l
}
