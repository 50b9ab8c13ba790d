package mprdma

import (
	"slices"

	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// answers are the READs and atomics that were sent and are not answered.
type answers struct {
	waiting []owed
	timer   transport.Time // how long an answer may take, 0 for ever
	limit   int            // how often it may be asked for without progress
}

// owed is one of them.
type owed struct {
	first, end psn.Seq
	next       psn.Seq        // the first response that has not come
	acked      bool           // the request was acknowledged; before that it is resent as a packet
	at         transport.Time // when it was acknowledged, answered in part, or asked for again
	ask        bool           // it is to be asked for again, from next on
	missed     psn.Seq        // the response that a later one showed to be lost; it is asked for once
	asked      int            // how often, without progress
}

// sent takes note of a request that leaves.
func (a *answers) sent(now transport.Time, m *transport.Message) {
	a.waiting = append(a.waiting, owed{first: m.First, end: m.End(), next: m.First, at: now, missed: -1 << 62})
}

// acknowledged starts the timers of requests before upto.
func (a *answers) acknowledged(now transport.Time, upto psn.Seq) {
	for i := range a.waiting {
		if v := &a.waiting[i]; !v.acked && v.end <= upto {
			v.acked, v.at = true, now
		}
	}
}

// of is the place of the request that a PSN belongs to, -1 if none waits.
func (a *answers) of(s psn.Seq) int {
	return slices.IndexFunc(a.waiting, func(v owed) bool { return v.first <= s && s < v.end })
}

// asking is the oldest request that is to be repeated, nil if there is none.
func (a *answers) asking() *owed {
	for i := range a.waiting {
		if a.waiting[i].ask {
			return &a.waiting[i]
		}
	}
	return nil
}

// overdue is a request whose timer has ended, nil if there is none.
func (a *answers) overdue(now transport.Time) *owed {
	for i := range a.waiting {
		if v := &a.waiting[i]; a.deadline(v) <= now {
			return v
		}
	}
	return nil
}

func (a *answers) deadline(v *owed) transport.Time {
	if !v.acked || v.ask || a.timer == 0 {
		return transport.Never
	}
	return v.at + a.timer
}

// wake is when the next timer ends.
func (a *answers) wake() transport.Time {
	wake := transport.Never
	for i := range a.waiting {
		wake = min(wake, a.deadline(&a.waiting[i]))
	}
	return wake
}

// ask repeats a request from the first response that is missing, or gives up.
func (r *Requester) ask(now transport.Time, v *owed) {
	if v.asked == r.answers.limit {
		r.fail(v.next, transport.RetryExceeded)
		return
	}
	v.asked++
	v.ask, v.at = true, now
}

// answer takes a READ response or an ATOMIC acknowledge.
func (r *Requester) answer(now transport.Time, s psn.Seq, p *transport.Packet) {
	i := r.answers.of(s)
	if i < 0 {
		return // complete, or never asked
	}
	v := &r.answers.waiting[i]
	r.cumulative(now, v.end) // it was executed, and all that came before
	if r.queue.Failed {
		return
	}
	m := r.queue.Find(s)
	switch {
	case s < v.next:
		return
	case s > v.next:
		if v.missed != v.next && !v.ask {
			v.missed = v.next
			r.ask(now, v)
		}
		return
	case !r.queue.Answer(m, int(s-m.First), p):
		r.fail(s, transport.LocalLength)
		return
	}
	v.next++
	v.at, v.asked, v.ask = now, 0, false
	if v.next == v.end {
		m.Owed = false
		r.answers.waiting = slices.Delete(r.answers.waiting, i, i+1)
	}
	r.queue.Retire(r.queue.Una)
}
