package gobackn

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// endless is the RNR retry count that is never used up (IBA 9.7.5.2.8).
const endless = 7

// nowhere is a PSN that is never outstanding.
const nowhere psn.Seq = -1 << 62

// Requester sends the work that is posted to it, and all of it again from the
// oldest PSN that is missing when a NAK or its timer says so.
type Requester struct {
	qp     transport.QP
	queue  transport.SendQueue
	window int

	// cursor is the PSN that is sent next: queue.Nxt, or before it while it
	// resends.
	cursor psn.Seq

	deadline transport.Time // of the oldest PSN outstanding; Never while it waits to be sent
	retries  int            // that are left without progress
	nakked   psn.Seq        // the PSN that the last NAK was obeyed for; another NAK for it is a copy
	implied  psn.Seq        // the same for implied NAKs

	rnrRetries int
	rnrAt      psn.Seq        // what the responder was not ready for
	rnrUntil   transport.Time // when it may be sent again; zero when it does not wait
}

// NewRequester makes a requester that has at most window PSNs outstanding when
// it sends something new; 0 is without a limit.
func NewRequester(qp transport.QP, window int) *Requester {
	r := &Requester{qp: qp, window: window, cursor: psn.Seq(qp.StartPSN)}
	r.queue = transport.NewSendQueue(&r.qp)
	r.renew()
	r.deadline = transport.Never
	return r
}

// renew gives back all retries, as progress does.
func (r *Requester) renew() {
	r.retries, r.rnrRetries = r.qp.RetryCount, r.qp.RNRRetryCount
	r.nakked, r.implied = nowhere, nowhere
}

// Post appends work. The error is transport.ErrTooLong.
func (r *Requester) Post(w transport.WorkRequest) error {
	_, err := r.queue.Post(w, w.Packets(r.qp.MTU))
	return err
}

// Outstanding is the number of PSNs that are sent and not acknowledged.
func (r *Requester) Outstanding() int { return int(r.queue.Nxt - r.queue.Una) }

// Receive implements transport.Machine.
func (r *Requester) Receive(now transport.Time, p *transport.Packet) {
	s := r.queue.Unwrap(p.BTH.PSN)
	if s < r.queue.Una || s >= r.queue.Nxt {
		return // answered already, or never asked
	}
	switch p.BTH.Opcode.Verb() {
	case codec.VerbReadResponse, codec.VerbAtomicAck:
		r.answer(now, s, p)
	case codec.VerbAck:
		switch p.AETH.Syndrome.Kind() {
		case codec.KindACK:
			r.confirm(now, s)
		case codec.KindRNRNAK:
			if r.confirm(now, s-1) {
				r.notReady(now, s, p.AETH.Syndrome)
			}
		case codec.KindNAK:
			if r.confirm(now, s-1) {
				r.nak(s, p.AETH.Syndrome)
			}
		}
	}
}

// confirm takes everything up to s for executed. It reports false when a READ
// or an atomic before that has not been answered: then its answer is lost, and
// whatever came says so (an implied NAK, IBA 9.7.6.1.2 and 9.7.5.1.1).
func (r *Requester) confirm(now transport.Time, s psn.Seq) bool {
	before := r.queue.Una
	missing := r.queue.Confirm(s)
	r.progress(now, before)
	if missing && r.implied != r.queue.Una {
		r.implied = r.queue.Una
		r.retry()
	}
	return !missing
}

// progress starts over with retries and timer if the oldest outstanding PSN has
// moved.
func (r *Requester) progress(now transport.Time, before psn.Seq) {
	una := r.queue.Una
	if una == before {
		return
	}
	r.renew()
	r.cursor = max(r.cursor, una)
	if r.rnrAt < una {
		r.rnrUntil = 0
	}
	r.deadline = transport.Never
	if r.cursor > una {
		r.start(now)
	}
}

// start starts the timer of the oldest outstanding PSN.
func (r *Requester) start(now transport.Time) {
	if r.qp.AckTimeout > 0 {
		r.deadline = now + r.qp.AckTimeout
	}
}

// answer takes a READ response or an ATOMIC acknowledge.
func (r *Requester) answer(now transport.Time, s psn.Seq, p *transport.Packet) {
	if !r.confirm(now, s-1) {
		return
	}
	m := r.queue.Find(s)
	if m == nil || !m.Verb.Answered() {
		return
	}
	if !r.queue.Answer(m, int(s-m.First), p) {
		r.fail(s, transport.LocalLength)
		return
	}
	r.queue.Retire(s + 1)
	r.progress(now, s)
}

// nak obeys a NAK for s, which is the oldest PSN outstanding.
func (r *Requester) nak(s psn.Seq, syndrome codec.Syndrome) {
	switch {
	case !syndrome.IsSequenceNAK():
		r.fail(s, transport.NAKStatus(syndrome))
	case r.rnrUntil != 0, r.nakked == s:
		// Packets behind one that the responder was not ready for, or a second
		// copy of the same NAK.
	default:
		r.nakked = s
		r.retry()
	}
}

// notReady obeys an RNR NAK for s, which is the oldest PSN outstanding.
func (r *Requester) notReady(now transport.Time, s psn.Seq, syndrome codec.Syndrome) {
	if r.rnrUntil != 0 {
		return // a second copy
	}
	if r.qp.RNRRetryCount != endless {
		if r.rnrRetries == 0 {
			r.fail(s, transport.RNRExceeded)
			return
		}
		r.rnrRetries--
	}
	r.retries = r.qp.RetryCount // s did arrive: what is lost from here on is a new row of losses
	r.rnrAt, r.rnrUntil = s, now+syndrome.RNRTimer()
	r.goBack()
}

// retry resends everything outstanding, or gives up when that was done too
// often without progress. What waits to be resent anyway costs nothing.
func (r *Requester) retry() {
	if r.cursor == r.queue.Una {
		return
	}
	if r.retries == 0 {
		r.fail(r.queue.Una, transport.RetryExceeded)
		return
	}
	r.retries--
	r.goBack()
}

// goBack makes the oldest outstanding PSN the next to be sent. Its timer starts
// when that is done.
func (r *Requester) goBack() {
	r.cursor, r.deadline = r.queue.Una, transport.Never
}

// fail moves the queue pair to the ERROR state.
func (r *Requester) fail(s psn.Seq, status transport.Status) {
	r.deadline, r.rnrUntil = transport.Never, 0
	r.queue.Fail(s, status)
	r.cursor = r.queue.Nxt
}

// Ready implements transport.Machine.
func (r *Requester) Ready(now transport.Time) transport.Ready {
	if r.deadline <= now {
		r.retry()
	}
	if r.rnrUntil > now {
		return transport.Idle
	}
	r.rnrUntil = 0
	switch {
	case r.cursor < r.queue.Nxt:
		return transport.Resend
	case r.window > 0 && r.Outstanding() >= r.window:
		return transport.Idle
	case r.queue.Fresh() != nil:
		return transport.Fresh
	}
	return transport.Idle
}

// Next implements transport.Machine.
func (r *Requester) Next(now transport.Time, p *transport.Packet) {
	s := r.cursor
	m := r.queue.Find(s)
	m.Fill(p, &r.qp, int(s-m.First))
	p.BTH.AckReq = p.BTH.Opcode.Ends() || r.asks(s)
	switch {
	case s == r.queue.Nxt:
		r.queue.Sent()
		r.cursor = r.queue.Nxt
	case m.Verb.Answered():
		r.cursor = m.End()
	default:
		r.cursor++
	}
	if s == r.queue.Una {
		r.start(now)
	}
}

// asks reports whether a packet in the middle of a message asks for an
// acknowledgement. Without it a window smaller than what the responder
// acknowledges at once would fill and stay full. It depends on nothing but the
// PSN, so that a resent packet is the same.
func (r *Requester) asks(s psn.Seq) bool {
	return r.window > 0 && (s-psn.Seq(r.qp.StartPSN)+1)%psn.Seq(max(1, r.window/2)) == 0
}

// Wake implements transport.Machine.
func (r *Requester) Wake() transport.Time {
	if r.rnrUntil != 0 {
		return r.rnrUntil
	}
	return r.deadline
}
