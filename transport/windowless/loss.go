package windowless

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// report takes what a T/C AETH says: which blocks have arrived, and so what
// between them has not.
func (r *Requester) report(now transport.Time, h *codec.TCAETH) {
	newest := r.queue.Nxt - 1
	last := r.queue.Unwrap(h.LastFinishedPSN)
	segments, n := h.Segments()
	top := last
	for _, s := range segments[:n] {
		top = psn.Unwrap(last, s.Last)
	}
	if top > newest {
		return // names what was never sent
	}
	r.cum = max(r.cum, last+1)
	r.arrived(psn.Span{First: r.queue.Una, Last: r.cum - 1})
	r.retire()
	top = last
	for _, s := range segments[:n] {
		block := psn.Span{First: psn.Unwrap(last, s.First), Last: psn.Unwrap(last, s.Last)}
		r.arrived(block)
		r.missing(now, psn.Span{First: top + 1, Last: block.First - 1}, &r.got)
		top = block.Last
	}
	r.tail(now, psn.Span{First: top + 1, Last: newest}, n)
}

// arrived notes that the receiver has a block: none of it need be sent again,
// but for READs and atomics whose answers are missing.
func (r *Requester) arrived(block psn.Span) {
	block.First = max(block.First, r.queue.Una)
	if block.Len() == 0 {
		return
	}
	r.got.Insert(block)
	if r.due.Overlap(block) == 0 {
		return
	}
	for q := block.First; q <= block.Last; {
		m := r.queue.Find(q)
		if !m.Verb.Answered() {
			r.due.Remove(psn.Span{First: q, Last: min(m.End()-1, block.Last)})
		}
		q = m.End()
	}
}

// tail judges what was sent behind the last of n+1 blocks.
func (r *Requester) tail(now transport.Time, span psn.Span, n int) {
	span.First = max(span.First, r.queue.Una)
	if r.params.Mode == Literal {
		if n == 0 {
			r.missing(now, span, &r.got)
		}
		return
	}
	if n == 3 {
		return // there may be more blocks than fit
	}
	old := span
	for old.Last = span.First - 1; old.Last < span.Last; old.Last++ {
		young := now-*r.sent.place(old.Last + 1) <= r.params.RTT+r.params.Period
		if young && !r.resent.Contains(old.Last+1) {
			break // and so are those behind it
		}
		if young {
			r.missing(now, old, &r.got)
			old.First = old.Last + 2
		}
	}
	r.missing(now, old, &r.got)
}

// missing makes PSNs due that are not among those that came; not, in anchored
// mode, while a resent copy may still be under way.
func (r *Requester) missing(now transport.Time, gap psn.Span, came *psn.Set) {
	gap.First = max(gap.First, r.queue.Una)
	for q := gap.First; q <= gap.Last; q++ {
		here := psn.Span{First: q, Last: q}
		switch {
		case came.Contains(q) || r.told.Contains(q) || r.due.Contains(q):
		case r.params.Mode == Anchored && r.resent.Contains(q) && now-*r.sent.place(q) < r.params.RTT:
		default:
			r.due.Insert(here)
			if q == r.queue.Una {
				r.retries++
			}
		}
	}
}

// expire is what the timer does when no report has come for so long.
func (r *Requester) expire(now transport.Time) {
	r.retries++
	q := &r.queue
	block := psn.Span{First: q.Una, Last: q.Una}
	if m := q.Find(q.Una); m.Verb.Answered() {
		block = r.told.Gaps(nil, psn.Span{First: q.Una, Last: m.End() - 1})[0]
	}
	if r.params.Mode == Literal {
		if gaps := r.got.Gaps(nil, psn.Span{First: q.Una, Last: q.Nxt - 1}); len(gaps) > 0 {
			block = gaps[len(gaps)-1]
		}
	}
	r.due.Insert(block)
	r.restart(now)
	r.check()
}
