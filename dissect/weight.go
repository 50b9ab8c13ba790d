package dissect

import (
	"unsafe"

	"github.com/rdmadump/rdmadump/psn"
)

// Most halves hold little beside themselves, but a capture can be made in which
// each holds as much as it may. What all of them hold is weighed, and where it
// is too much halves are evicted.

// weightOfHalf is how many bytes a half may weigh on average.
const weightOfHalf = 1536

// weighAgain reports whether to weigh a half once more: while it is young often,
// so that many young ones cannot hold much more than is known.
func (h *half) weighAgain() bool { return h.packets&63 == 0 || h.packets&(h.packets-1) == 0 }

// weigh brings the weight of a half and its partner up to date, and evicts
// others where all weigh too much.
func (a *Analyzer) weigh(h *half) {
	for _, side := range [2]*half{h, h.partner} {
		if side != nil && !side.gone {
			now := side.bytes()
			a.weight += now - side.weight
			side.weight = now
		}
	}
	for a.weight > int64(a.config.MaxHalves)*weightOfHalf && len(a.halves) > fewHalves {
		a.evict(a.weight / int64(len(a.halves)))
	}
}

// fewHalves are followed whatever they weigh: the bounds of each one do.
const fewHalves = 64

// bytes is about how much memory a half holds.
func (h *half) bytes() int64 {
	n := int64(unsafe.Sizeof(*h)) + h.req.bytesHeld() + h.fb.bytesHeld() +
		held(h.waiting) + held(h.suitors) + held(h.courtedBy)
	if h.resp != nil {
		n += int64(unsafe.Sizeof(*h.resp)) + h.resp.bytesHeld()
	}
	if h.readFB != nil {
		n += h.readFB.bytesHeld()
	}
	if h.hearsay != nil {
		n += int64(unsafe.Sizeof(*h.hearsay)) + held(h.hearsay.claims)
	}
	return n
}

func held[T any](list []T) int64 {
	var one T
	return int64(cap(list)) * int64(unsafe.Sizeof(one))
}

func (f *feedback) bytesHeld() int64 {
	if f.seldom == nil {
		return 0
	}
	return int64(unsafe.Sizeof(*f.seldom)) + held(f.nakPSNs)
}

func (s *samples) bytesHeld() int64 {
	if s.spread == nil {
		return 0
	}
	n := int64(unsafe.Sizeof(*s.spread)) + held(s.exact) + held(s.octaves)
	return n + int64(len(s.octaves))*int64(unsafe.Sizeof([binsPerOctave]uint32{}))
}

func (s *stream) bytesHeld() int64 {
	n := int64(unsafe.Sizeof(*s.flow)) + held(s.paths) + held(s.unanswered.ring) + held(s.flying) + held(s.reads) + s.took.bytesHeld() + s.rtts.bytesHeld()
	d := s.d
	if d == nil {
		return n
	}
	n += int64(unsafe.Sizeof(*d)) + held(d.gaps) + held(d.done) + held(d.answers) + held(d.asks) + held(d.picks.repairs) + held(d.picks.books) +
		held(d.windowless.batches) + held(d.skips) + held(d.findings) + held(d.retryFrames)
	for _, set := range [...]*psn.Set{&d.holes, &d.unseen, &d.counted, &d.again, &d.refused, &d.refusedBefore, &d.missed, &d.tardy,
		&d.undecided, &d.spoilt, &d.lostPSNs, &d.vouchedPSNs, &d.forgotten, &d.trial.set, &d.trial.inner, &d.picks.has, &d.picks.synchronised, &d.picks.turned} {
		n += held(set.Spans())
	}
	for i := range d.gaps {
		g := &d.gaps[i]
		n += held(g.inner.Spans()) + held(g.again)
		for k := range g.again {
			n += held(g.again[k].Spans())
		}
	}
	for i := range d.done {
		n += held(d.done[i].inner.Spans()) + held(d.done[i].again)
		for k := range d.done[i].again {
			n += held(d.done[i].again[k].Spans())
		}
	}
	for _, t := range [...]*samples{&d.times.nakGeneration, &d.times.nakReaction, &d.times.recovery, &d.times.timeout} {
		n += t.bytesHeld()
	}
	return n
}
