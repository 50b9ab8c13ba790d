package dissect

import (
	"cmp"
	"slices"

	"github.com/rdmadump/rdmadump/psn"
)

// worstRoom is room to find the worst of many gaps, which is used again. Gaps are
// large and hold pointers, so that what is sorted are their ranks.
type worstRoom struct {
	ranks []rank
	gaps  []gap
}

// rank is how bad a gap is.
type rank struct {
	lost  int64 // packets, copies of them included
	first psn.Seq
	at    int // its index
}

// worst gives the worst of the gaps, by how much they lost, and by place where
// that is equal. They lie in the room.
func (r *worstRoom) worst(gaps []gap, limit int) []gap {
	r.ranks = r.ranks[:0]
	for i := range gaps {
		g := &gaps[i]
		r.ranks = append(r.ranks, rank{g.count * int64(max(g.copies, 1)), g.First, i})
	}
	slices.SortFunc(r.ranks, func(a, b rank) int {
		if a.lost != b.lost {
			return cmp.Compare(b.lost, a.lost)
		}
		if a.first != b.first {
			return cmp.Compare(a.first, b.first)
		}
		return cmp.Compare(a.at, b.at)
	})
	r.gaps = r.gaps[:0]
	for _, k := range r.ranks[:min(limit, len(r.ranks))] {
		r.gaps = append(r.gaps, gaps[k.at])
	}
	return r.gaps
}
