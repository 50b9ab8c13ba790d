package dissect

import (
	"slices"

	"github.com/rdmadump/rdmadump/psn"
)

// What a packet costs must not grow with what is missing, even where a capture
// was made to that end. Most packets touch a gap or two; one may sweep over
// many, as long as such are few. A stream whose packets keep sweeping is
// strained: it holds few gaps until it recovers, and those that it lets go are
// counted in Evicted.

const (
	maxOpenGaps    = 1024    // gaps, or spans of a Set, of a stream that are not retired
	strainedGaps   = 32      // the same of a strained stream
	maxEffort      = 1 << 17 // steps that a stream may be ahead of its packets
	maxOpenTotal   = 1 << 17 // gaps of all streams together that are not retired
	fewOpenGaps    = 4       // what a stream may have beyond that
	effortOfPacket = 16      // steps that each packet may cost in the long run
)

// Many streams that are ahead of their packets by what each of them may be are
// too much together, and a search for partners has no stream to count it to. So
// there is an account of all packets. Where it is overdrawn, streams that are
// ahead are strained sooner, and no partner is looked for.
const (
	maxEffortTotal    = 1 << 20 // steps that all streams may be ahead of all packets
	effortOfAnyPacket = 2       // steps that each packet may cost in the long run
	littleEffort      = 1 << 8  // maxEffort, where all took too many
	maxLooks          = 1 << 22 // halves looked at for partners, ahead of all packets
	looksOfPacket     = 16      // the same for each packet, in the long run
)

// tired reports whether all streams together took too many steps.
func (a *Analyzer) tired() bool {
	return a.effort > maxEffortTotal+effortOfAnyPacket*a.totals.Packets
}

// mayLook reports whether partners may be looked for.
func (a *Analyzer) mayLook() bool { return a.looks < maxLooks+looksOfPacket*a.totals.Packets }

// shifted counts the move of n gaps in memory, which are large.
func (d *recovery) shifted(n int) { d.effort += int64(n) }

// looked counts a look at n of what lies in a row.
func (d *recovery) looked(n int) { d.effort += int64(n) / 16 }

// bound keeps what a stream remembers, and what its packets cost, bounded.
func (s *stream) bound() {
	d := s.d
	if d == nil {
		return
	}
	s.a.effort += max(0, d.effort-d.effortKnown)
	d.effort = max(0, d.effort-effortOfPacket)
	d.effortKnown = d.effort
	switch {
	case d.effort > maxEffort, d.effort > littleEffort && s.a.tired():
		d.strained = true
	case d.effort == 0:
		d.strained = false
	}
	limit := maxOpenGaps
	if d.strained {
		limit = strainedGaps
	}
	if s.a.gapsOpen > maxOpenTotal {
		limit = fewOpenGaps
	}
	if d.trial.on && len(d.trial.set.Spans()) > limit {
		s.refute()
	}
	if len(d.gaps) > limit || len(d.holes.Spans()) > limit {
		s.letGo(limit / 2)
	}
	if d.strained {
		s.boundSkips(limit, s.a.here)
	}
	for _, set := range [...]*psn.Set{&d.unseen, &d.counted, &d.again, &d.refused, &d.refusedBefore, &d.tardy,
		&d.undecided, &d.spoilt, &d.missed, &d.picks.has, &d.picks.synchronised} {
		if spans := set.Spans(); len(spans) > limit {
			before := spans[len(spans)-limit/2].First
			set.Remove(psn.Span{First: spans[0].First, Last: before - 1})
		}
	}
	s.a.gapsOpen += len(d.gaps) - d.openKnown
	d.openKnown = len(d.gaps)
	s.a.evicted.Ranges += d.unlisted
	d.unlisted = 0
}

// letGo takes leave of all gaps but the newest: nobody will know how they end.
func (s *stream) letGo(keep int) {
	s.refute()
	d := s.d
	var before psn.Seq
	if spans := d.holes.Spans(); len(spans) > keep {
		before = spans[len(spans)-keep].First
	}
	if len(d.gaps) > keep {
		before = max(before, d.gaps[len(d.gaps)-keep].First)
	}
	if i, inside := d.gapAt(before); inside && d.gaps[i].First < before {
		d.cut(i, psn.Span{First: before, Last: before - 1})
	}
	for i := range d.gaps {
		if g := &d.gaps[i]; g.Last < before && g.left > 0 {
			s.a.evicted.Gaps++
		}
	}
	s.retire(before)
	d.known = max(d.known, before)
	if cap(d.gaps) > 64 && len(d.gaps) < cap(d.gaps)/4 {
		d.gaps = slices.Clone(d.gaps)
	}
}
