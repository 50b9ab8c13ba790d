package transport

import (
	"errors"
	"sort"

	"github.com/rdmadump/rdmadump/psn"
)

// halfTurn is how many PSNs may be outstanding: more, and the responder cannot
// tell a new request from a duplicate (IBA 9.7.2).
const halfTurn = 1 << (psn.Bits - 1)

// ErrTooLong refuses a work request of more than MaxLength bytes.
var ErrTooLong = errors.New("work request: more than 2^31 bytes")

// SendQueue is what a requester was given to send and does not have confirmed:
// messages in PSN order, each with its place. It grows with what is posted and
// outstanding, never with what is done.
//
//	      Una         Nxt          End
//	-------+-----------+------------+------
//	 done  | under way | not sent   |
type SendQueue struct {
	Una psn.Seq // the oldest PSN that is not acknowledged
	Nxt psn.Seq // the next PSN to be sent for the first time
	End psn.Seq // the PSN that the next work request gets

	// Failed says that the queue pair is in the ERROR state: whatever is posted
	// is flushed.
	Failed bool

	qp      *QP
	waiting Ring[Message]
	found   int     // where the last Find ended
	reads   int     // READs and atomics that were sent and are not complete
	result  [8]byte // of an atomic, on its way to memory
}

// NewSendQueue makes the empty queue of a requester.
func NewSendQueue(qp *QP) SendQueue {
	start := psn.Seq(qp.StartPSN)
	return SendQueue{Una: start, Nxt: start, End: start, qp: qp}
}

// Post appends a work request that takes so many PSNs. The message that it
// becomes stays valid until the next Post; it is nil when the queue pair has
// failed and the request was flushed. The error is ErrTooLong.
func (q *SendQueue) Post(w WorkRequest, packets int) (*Message, error) {
	if w.Length > MaxLength {
		return nil, ErrTooLong
	}
	if q.Failed && q.waiting.Len() == 0 {
		q.complete(w.ID, Flushed)
		return nil, nil
	}
	q.waiting.Push(Message{WorkRequest: w, First: q.End, Packets: packets})
	q.End += psn.Seq(packets)
	if q.Failed {
		return nil, nil // Fail is at work and flushes it in its turn
	}
	return q.waiting.At(q.waiting.Len() - 1), nil
}

// Len is the number of messages that are not complete.
func (q *SendQueue) Len() int { return q.waiting.Len() }

// Find is the message that a PSN belongs to, nil when it is complete or not
// posted. It stays valid until the next Post or completion. It takes
// logarithmic time, and constant time where PSNs come in order.
func (q *SendQueue) Find(s psn.Seq) *Message {
	w := &q.waiting
	if q.found < w.Len() {
		if m := w.At(q.found); m.First <= s && s < m.End() {
			return m
		}
	}
	if w.Len() == 0 || s >= q.End || s < w.At(0).First {
		return nil
	}
	if next := q.found + 1; next < w.Len() {
		if m := w.At(next); m.First <= s && s < m.End() {
			q.found = next
			return m
		}
	}
	q.found = sort.Search(w.Len(), func(i int) bool { return s < w.At(i).End() })
	return w.At(q.found)
}

// Fresh is the message that Nxt belongs to, nil when there is none or it may
// not be sent yet: too many READs and atomics are outstanding, or half of all
// PSNs.
func (q *SendQueue) Fresh() *Message {
	m := q.Find(q.Nxt)
	if m == nil {
		return nil
	}
	step := 1
	if m.Verb.Answered() {
		if q.reads >= q.qp.MaxReads() {
			return nil
		}
		step = m.Packets
	}
	if q.Nxt+psn.Seq(step) > q.Una+halfTurn {
		return nil
	}
	return m
}

// Sent moves Nxt over the packet that Fresh allowed: one PSN, or all of a READ.
func (q *SendQueue) Sent() {
	s := q.Nxt
	m := q.Find(s)
	if m.Verb.Answered() {
		q.reads++
		q.Nxt = m.End()
	} else {
		q.Nxt++
	}
	if q.qp.Buffer != nil {
		_, bytes := m.span(s, q.Nxt, q.qp.MTU)
		q.qp.Buffer.keep(bytes)
	}
}

// Retire moves Una to upto and completes, in order, what ends before it and is
// owed no answer. It does nothing when Una is there already; to complete what
// was only waiting for an answer, clear Owed and call it again.
func (q *SendQueue) Retire(upto psn.Seq) {
	q.free(upto)
	q.Una = max(q.Una, upto)
	for q.waiting.Len() > 0 {
		m := q.waiting.At(0)
		if m.End() > q.Una || m.Owed {
			return
		}
		q.pop(Success)
	}
}

// Confirm retires what a cumulative acknowledgement covers, all PSNs up to s,
// but never a READ or an atomic, whose answers must have come. It reports
// whether one of those stopped it; Una is then the first PSN whose answer is
// missing.
func (q *SendQueue) Confirm(s psn.Seq) (missing bool) {
	for q.Una <= s {
		m := q.Find(q.Una)
		if m == nil {
			return false
		}
		if m.Verb.Answered() {
			return true
		}
		q.Retire(min(m.End(), s+1))
	}
	return false
}

// Fail moves the queue pair to the ERROR state: what comes before s is
// complete, the message of s ends with the status, and what follows is flushed.
func (q *SendQueue) Fail(s psn.Seq, status Status) {
	q.Failed = true
	q.free(q.Nxt)
	for q.waiting.Len() > 0 { // with what is posted meanwhile
		m := q.waiting.At(0)
		switch {
		case m.End() <= s && !m.Owed && !m.Verb.Answered():
			q.pop(Success)
		case m.End() <= s || m.First > s:
			q.pop(Flushed)
		default:
			q.pop(status)
		}
	}
	q.Una, q.Nxt = q.End, q.End
}

// pop ends the oldest message.
func (q *SendQueue) pop(s Status) {
	m := q.waiting.Pop()
	q.found = max(q.found-1, 0)
	if m.Verb.Answered() && m.First < q.Nxt {
		q.reads--
	}
	q.complete(m.ID, s)
}

func (q *SendQueue) complete(id uint64, s Status) {
	if q.qp.Complete != nil {
		q.qp.Complete(Completion{id, s})
	}
}
