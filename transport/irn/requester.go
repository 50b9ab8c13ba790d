package irn

import (
	"slices"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// endless is the RNR retry count that is never used up (IBA 9.7.5.2.8).
const endless = 7

// Requester sends the work that is posted to it, resends what the responder
// misses, and acknowledges READ responses.
type Requester struct {
	qp     transport.QP
	config Config
	queue  transport.SendQueue
	send   sender

	consumed uint32    // receives that the messages posted so far consume
	answered uint32    // READs and atomics among them
	answers  psn.Seq   // the rPSN of the next READ's first response
	atomics  []psn.Seq // those that were sent and whose results have not come
	told     psn.Seq   // what the responder said that it has executed, up to here

	responses responses
	reports   feedback
	quiet     transport.Time // when the last sign of a READ's responder came

	rnrRetries int
	rnrUntil   transport.Time // when it may send again; zero when it does not wait
}

// NewRequester makes a requester.
func NewRequester(qp transport.QP, c Config) *Requester {
	r := &Requester{qp: qp, config: c.withDefaults(), rnrRetries: qp.RNRRetryCount}
	r.queue = transport.NewSendQueue(&r.qp)
	r.send = newSender(&r.qp, &r.config)
	r.answers, r.told = r.send.una, r.send.una
	r.responses = responses{expected: r.answers, arrived: newBitmap(r.config.Cap)}
	r.reports = newFeedback(&r.qp, &r.config)
	return r
}

// Post appends work. The error is transport.ErrTooLong.
func (r *Requester) Post(w transport.WorkRequest) error {
	packets := w.Packets(r.qp.MTU)
	takes := packets
	if w.Verb == transport.Read {
		takes = 1
	}
	m, err := r.queue.Post(w, takes)
	if m == nil {
		return err
	}
	switch {
	case w.Verb.Answered():
		m.WQESN = r.answered & psn.Mask
		r.answered++
	case w.Verb.Consumes():
		m.WQESN = r.consumed & psn.Mask
		r.consumed++
	}
	if w.Verb == transport.Read {
		m.Owed, m.Answers = true, r.answers
		r.answers += psn.Seq(packets)
	}
	return nil
}

// InFlight is the number of packets between the cumulative acknowledgement and
// the newest one sent.
func (r *Requester) InFlight() int { return int(r.send.nxt - r.send.una) }

// Receive implements transport.Machine.
func (r *Requester) Receive(now transport.Time, p *transport.Packet) {
	if r.queue.Failed {
		return
	}
	op := p.BTH.Opcode
	if op.Verb() == codec.VerbReadResponse {
		r.response(now, p)
		return
	}
	s := psn.Unwrap(r.send.una, p.BTH.PSN)
	switch {
	case op == codec.OpcodeIRNNack:
		r.confirm(now, s)
		if q := psn.Unwrap(r.send.una, p.SackETH.SackPSN); q >= r.told {
			r.send.sack(q) // an atomic before that was parked then, and has been executed since
		}
		r.recover()
	case op.Verb() == codec.VerbAtomicAck:
		r.result(now, s, p)
	case op != codec.Op(codec.RC, codec.Acknowledge):
	case p.AETH.Syndrome.Kind() == codec.KindACK:
		r.confirm(now, s+1)
	case p.AETH.Syndrome.Kind() == codec.KindRNRNAK:
		r.confirm(now, s)
		r.notReady(now, s, p.AETH.Syndrome)
	case p.AETH.Syndrome.Kind() == codec.KindNAK && !p.AETH.Syndrome.IsSequenceNAK():
		r.confirm(now, s)
		if s >= r.send.una && s < r.send.nxt {
			r.fail(s, transport.NAKStatus(p.AETH.Syndrome))
		}
	}
}

// confirm takes everything before upto for executed. The cumulative point stops
// at an atomic whose result has not come; what lies behind it has arrived.
func (r *Requester) confirm(now transport.Time, upto psn.Seq) {
	if upto <= r.told || upto > r.send.nxt {
		return
	}
	if len(r.atomics) > 0 && r.atomics[0] < upto {
		waiting := r.atomics
		for s := max(r.told, waiting[0]); s < upto; s++ {
			for len(waiting) > 0 && waiting[0] < s {
				waiting = waiting[1:]
			}
			if len(waiting) > 0 && waiting[0] == s {
				r.send.sacked.clear(s)
			} else {
				r.send.sack(s)
			}
		}
		r.send.high = max(r.send.high, upto-1)
	}
	r.told = upto
	r.retire(now)
	if len(r.atomics) > 0 && r.atomics[0] < upto && !r.send.recovering && r.rnrUntil == 0 && !r.send.recover() {
		r.fail(r.send.una, transport.RetryExceeded)
	}
}

// retire moves the cumulative point as far as the responder has said and all
// results have come.
func (r *Requester) retire(now transport.Time) {
	upto := r.told
	if len(r.atomics) > 0 {
		upto = min(upto, r.atomics[0])
	}
	if r.send.ack(now, upto) {
		r.rnrRetries, r.rnrUntil = r.qp.RNRRetryCount, 0
		r.quiet = now
	}
	r.queue.Retire(r.send.una)
}

// result takes an ATOMIC acknowledge.
func (r *Requester) result(now transport.Time, s psn.Seq, p *transport.Packet) {
	i := slices.Index(r.atomics, s)
	if i < 0 {
		return // told already, or never asked
	}
	if !r.queue.Answer(r.queue.Find(s), 0, p) {
		r.fail(s, transport.LocalLength)
		return
	}
	r.atomics = slices.Delete(r.atomics, i, i+1)
	r.send.sack(s)
	r.confirm(now, s+1)
	r.retire(now)
}

// recover enters recovery if the bitmap shows a hole, but for what the RNR
// timer will send again.
func (r *Requester) recover() {
	if !r.queue.Failed && r.rnrUntil == 0 && !r.send.lost() {
		r.fail(r.send.una, transport.RetryExceeded)
	}
}

// notReady obeys an RNR NAK for the oldest PSN in flight.
func (r *Requester) notReady(now transport.Time, s psn.Seq, syndrome codec.Syndrome) {
	if r.queue.Failed || s != r.send.una || s == r.send.nxt || r.rnrUntil != 0 || r.send.first {
		return // stale, or a second copy
	}
	if r.qp.RNRRetryCount != endless {
		if r.rnrRetries == 0 {
			r.fail(s, transport.RNRExceeded)
			return
		}
		r.rnrRetries--
	}
	r.rnrUntil = now + syndrome.RNRTimer()
	r.send.retries = r.qp.RetryCount // the responder is there
}

// fail moves the queue pair to the ERROR state.
func (r *Requester) fail(s psn.Seq, status transport.Status) {
	r.rnrUntil = 0
	r.queue.Fail(s, status)
	r.send.una, r.send.nxt = r.queue.Nxt, r.queue.Nxt
	r.send.recovering, r.send.first = false, false
	r.atomics = r.atomics[:0]
	r.responses.reads = transport.Ring[read]{}
}

// Ready implements transport.Machine.
func (r *Requester) Ready(now transport.Time) transport.Ready {
	if r.rnrUntil != 0 && r.rnrUntil <= now {
		r.rnrUntil = 0
		r.send.restart()
	}
	if r.rnrUntil == 0 && !r.send.timeout(now) {
		r.fail(r.send.una, transport.RetryExceeded)
	}
	if r.overdue() <= now {
		r.fail(r.responses.reads.At(0).at, transport.RetryExceeded)
	}
	if r.reports.queue.Len() > 0 {
		return transport.Reply
	}
	if r.rnrUntil > now {
		return transport.Idle
	}
	if _, ok := r.send.hole(); ok {
		return transport.Resend
	}
	if r.send.open() && r.queue.Fresh() != nil {
		return transport.Fresh
	}
	return transport.Idle
}

// Next implements transport.Machine.
func (r *Requester) Next(now transport.Time, p *transport.Packet) {
	if r.reports.queue.Len() > 0 {
		r.reports.next(p, r.qp.PKey, r.qp.DestQP)
		return
	}
	s, again := r.send.hole()
	if !again {
		s = r.send.nxt
	}
	m := r.queue.Find(s)
	r.fill(p, m, int(s-m.First))
	if !again {
		r.queue.Sent()
		switch {
		case m.Verb == transport.Read:
			r.responses.reads.Push(read{m.Answers, m.Answers + psn.Seq(m.WorkRequest.Packets(r.qp.MTU)), s})
		case m.Verb.Answered():
			r.atomics = append(r.atomics, s)
		}
	}
	r.send.sent(now, s)
}

// fill makes p the i-th packet of a message, in IRN's form: it says where in
// memory its own payload goes, or in which place of which message.
func (r *Requester) fill(p *transport.Packet, m *transport.Message, i int) {
	m.Fill(p, &r.qp, i)
	op := codec.Op(codec.IRN, p.BTH.Opcode.Operation())
	p.BTH.Opcode, p.Headers = op, op.Headers()
	p.BTH.AckReq = op.Ends()
	off := uint32(i * r.qp.MTU)
	p.IRNETH = codec.IRNETH{WQESN: m.WQESN}
	switch op.Verb() {
	case codec.VerbSend:
		p.IRNETH.Offset = off
	case codec.VerbWrite:
		p.RETH = codec.RETH{VA: m.Remote + uint64(off), RKey: m.RKey, DMALen: uint32(p.PayloadLen)}
	}
}

// Wake implements transport.Machine.
func (r *Requester) Wake() transport.Time {
	wake := r.overdue()
	if r.rnrUntil != 0 {
		return min(wake, r.rnrUntil)
	}
	return min(wake, r.send.deadline())
}
