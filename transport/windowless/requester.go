package windowless

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// Requester is the sending side. It implements transport.Machine.
type Requester struct {
	qp     transport.QP
	params Params
	queue  transport.SendQueue

	sent   sendings
	resent psn.Set // PSNs under way that were sent more than once
	due    psn.Set // PSNs to be sent again
	got    psn.Set // PSNs not retired that a report says have arrived
	told   psn.Set // PSNs of READs and atomics whose answers have come
	cum    psn.Seq // everything before was reported received, by LastFinishedPSN

	turn    transport.Time // when the fixed rate lets the next packet leave
	timeout transport.Time // when the timer runs out
	paused  transport.Time // until when an RNR NAK asks to wait
	retries int            // without progress
	rnr     int
}

// NewRequester makes the sending side of a queue pair.
func NewRequester(qp transport.QP, params Params) *Requester {
	r := &Requester{qp: qp, params: params, cum: psn.Seq(qp.StartPSN), timeout: transport.Never}
	r.queue = transport.NewSendQueue(&r.qp)
	r.sent.first = r.queue.Una
	return r
}

// Post appends a work request. The error is transport.ErrTooLong.
func (r *Requester) Post(w transport.WorkRequest) error {
	_, err := r.queue.Post(w, w.Packets(r.qp.MTU))
	return err
}

// Receive takes a response.
func (r *Requester) Receive(now transport.Time, p *transport.Packet) {
	if r.queue.Failed || !p.Has(codec.HeaderAETH) && p.BTH.Opcode.Verb() != codec.VerbReadResponse {
		return
	}
	at := r.queue.Unwrap(p.BTH.PSN)
	if at >= r.queue.Nxt {
		return // names what was never sent
	}
	switch {
	case p.Has(codec.HeaderAETH) && p.AETH.Syndrome.Kind() == codec.KindRNRNAK:
		r.notReady(now, at, p.AETH.Syndrome)
		return
	case p.Has(codec.HeaderAETH) && p.AETH.Syndrome.Kind() == codec.KindNAK:
		r.queue.Fail(at, transport.NAKStatus(p.AETH.Syndrome))
		r.stop()
		return
	}
	if p.Has(codec.HeaderTCAETH) && p.TCAETH.Validate() == nil {
		r.report(now, &p.TCAETH)
	}
	if m := r.queue.Find(at); m != nil && m.Verb.Answered() {
		r.answer(now, m, at, p)
	}
	r.retire()
	r.restart(now)
	r.check()
}

// answer takes a READ response or an ATOMIC acknowledge. Answers that were to
// come before it are missing.
func (r *Requester) answer(now transport.Time, m *transport.Message, at psn.Seq, p *transport.Packet) {
	if verb := p.BTH.Opcode.Verb(); verb != codec.VerbReadResponse && verb != codec.VerbAtomicAck {
		return
	}
	if !r.queue.Answer(m, int(at-m.First), p) {
		r.queue.Fail(m.First, transport.LocalLength)
		r.stop()
		return
	}
	here := psn.Span{First: at, Last: at}
	r.told.Insert(here)
	r.due.Remove(here)
	for q := r.queue.Una; q < at; {
		m := r.queue.Find(q)
		if m == nil {
			return
		}
		if m.Verb.Answered() {
			for _, gap := range r.told.Gaps(nil, psn.Span{First: q, Last: min(m.End(), at) - 1}) {
				r.missing(now, gap, &r.told)
			}
		}
		q = m.End()
	}
}

// notReady pauses for as long as the responder asks, then sends at again.
func (r *Requester) notReady(now transport.Time, at psn.Seq, s codec.Syndrome) {
	if at < r.queue.Una {
		return
	}
	if r.qp.RNRRetryCount < 7 && r.rnr >= r.qp.RNRRetryCount {
		r.queue.Fail(at, transport.RNRExceeded)
		r.stop()
		return
	}
	r.rnr++
	r.paused = now + s.RNRTimer()
	r.due.Insert(psn.Span{First: at, Last: at})
	r.timeout = transport.Never // it starts again with the next packet
}

// retire completes what has arrived and, where that is asked for, was answered.
// If that is anything, it is progress.
func (r *Requester) retire() {
	q := &r.queue
	una := q.Una
	for {
		m := q.Find(q.Una)
		if m == nil || q.Una >= q.Nxt {
			break
		}
		upto := min(m.End(), r.cum)
		if m.Verb.Answered() {
			upto = m.End()
			if gaps := r.told.Gaps(nil, psn.Span{First: q.Una, Last: upto - 1}); len(gaps) > 0 {
				upto = gaps[0].First
			}
		}
		if upto <= q.Una {
			break
		}
		q.Retire(upto)
	}
	if q.Una == una {
		return
	}
	r.retries, r.rnr = 0, 0
	r.sent.retire(q.Una)
	for _, s := range [...]*psn.Set{&r.resent, &r.due, &r.got, &r.told} {
		if spans := s.Spans(); len(spans) > 0 && spans[0].First < q.Una {
			s.Remove(psn.Span{First: spans[0].First, Last: q.Una - 1})
		}
	}
}

// restart starts the timer anew, if anything is under way.
func (r *Requester) restart(now transport.Time) {
	r.timeout = transport.Never
	if r.qp.AckTimeout > 0 && r.queue.Una < r.queue.Nxt {
		r.timeout = now + r.qp.AckTimeout
	}
}

// check ends the queue pair when its retries are spent.
func (r *Requester) check() {
	if r.retries > r.qp.RetryCount && !r.queue.Failed {
		r.queue.Fail(r.queue.Una, transport.RetryExceeded)
		r.stop()
	}
}

// stop forgets what was under way: the queue pair is in ERROR.
func (r *Requester) stop() {
	r.due.Clear()
	r.timeout = transport.Never
}

// Ready implements transport.Machine.
func (r *Requester) Ready(now transport.Time) transport.Ready {
	if now >= r.timeout {
		r.expire(now)
	}
	if now < r.turn || now < r.paused {
		return transport.Idle
	}
	return r.ready()
}

// ready is what would leave if it were its turn.
func (r *Requester) ready() transport.Ready {
	switch {
	case len(r.due.Spans()) > 0:
		return transport.Resend
	case r.queue.Fresh() != nil:
		return transport.Fresh
	}
	return transport.Idle
}

// Next implements transport.Machine.
func (r *Requester) Next(now transport.Time, p *transport.Packet) {
	r.turn = now + r.params.Interval
	if spans := r.due.Spans(); len(spans) > 0 {
		r.resend(now, spans[0], p)
	} else {
		m := r.queue.Fresh()
		from := r.queue.Nxt
		m.Fill(p, &r.qp, int(from-m.First))
		r.queue.Sent()
		for range r.queue.Nxt - from {
			r.sent.push(now)
		}
	}
	if r.timeout == transport.Never {
		r.restart(now)
	}
}

// resend makes p the packet of the first PSN that is due. Of a READ it asks for
// all that is due in one piece, and for no more.
func (r *Requester) resend(now transport.Time, due psn.Span, p *transport.Packet) {
	m := r.queue.Find(due.First)
	i := int(due.First - m.First)
	m.Fill(p, &r.qp, i)
	due.Last = min(due.Last, m.End()-1)
	if m.Verb == transport.Read {
		p.RETH.DMALen = min(p.RETH.DMALen, uint32(due.Len())*uint32(r.qp.MTU))
	} else {
		due.Last = due.First
	}
	r.due.Remove(due)
	r.resent.Insert(due)
	for q := due.First; q <= due.Last; q++ {
		*r.sent.place(q) = now
	}
}

// Wake implements transport.Machine.
func (r *Requester) Wake() transport.Time {
	if r.ready() == transport.Idle {
		return r.timeout
	}
	return min(r.timeout, max(r.turn, r.paused))
}
