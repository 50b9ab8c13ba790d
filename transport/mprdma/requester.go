package mprdma

import (
	"math/rand/v2"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// endless is the RNR retry count that is never used up (IBA 9.7.5.2.8).
const endless = 7

// burst is how many packets an acknowledgement releases at most, on its path.
const burst = 2

// Requester sends the work that is posted to it over several paths.
type Requester struct {
	qp     transport.QP
	config Config
	queue  transport.SendQueue
	flight flight
	window window
	random *rand.Rand

	grants  transport.Ring[uint16] // paths on which a packet may leave
	clock   transport.Time         // when the last acknowledgement came, or window was sprayed
	active  transport.Time         // when something was last sent or heard
	probing bool                   // the next packet looks for a new path
	probeAt transport.Time         // when the next round-trip time's probe is drawn
	rtt     transport.Time         // smoothed
	newest  int                    // the number of the newest packet acknowledged (snd_ooh), and one

	recovering bool
	recovery   psn.Seq // recovery ends when the cumulative point passes what was the next new PSN
	resend     psn.Seq // snd_retx: unacknowledged packets from here on are to be resent
	now        span    // what is resent without waiting for an acknowledgement

	since      transport.Time // when the cumulative point last moved, or the timer ended
	retries    int
	rnrRetries int
	rnrUntil   transport.Time // when it may send again; zero when it does not wait

	lastSent transport.Time // when the last new packet left
	answers  answers
}

// span is a run of PSNs that are resent if they are not acknowledged, on one path
// or on random ones.
type span struct {
	next, end psn.Seq
	path      int // -1 for random ones
}

// NewRequester makes a requester. QP.AckTimeout is its timer of last resort.
func NewRequester(qp transport.QP, c Config) *Requester {
	c = c.withDefaults()
	r := &Requester{qp: qp, config: c, rtt: c.RTT, retries: qp.RetryCount, rnrRetries: qp.RNRRetryCount}
	r.random = rand.New(rand.NewPCG(c.Seed, 0x4d50))
	r.queue = transport.NewSendQueue(&r.qp)
	r.window.cwnd = c.Window
	r.clock, r.active = -1<<62, -1<<62
	r.probeAt = c.RTT
	r.answers.timer, r.answers.limit = qp.AckTimeout, qp.RetryCount
	return r
}

// Post appends work. The error is transport.ErrTooLong.
func (r *Requester) Post(w transport.WorkRequest) error {
	m, err := r.queue.Post(w, w.Packets(r.qp.MTU))
	if m != nil {
		m.Owed = w.Verb.Answered()
	}
	return err
}

// Window is the congestion window in packets.
func (r *Requester) Window() float64 { return r.window.cwnd }

// Receive implements transport.Machine.
func (r *Requester) Receive(now transport.Time, p *transport.Packet) {
	if r.queue.Failed {
		return
	}
	r.active = now
	s := r.queue.Unwrap(p.BTH.PSN)
	switch op := p.BTH.Opcode; {
	case op.Verb() == codec.VerbReadResponse, op.Verb() == codec.VerbAtomicAck:
		r.answer(now, s, p)
	case op == codec.OpcodeMPRDMAAck:
		r.ack(now, s, p)
	case op == codec.OpcodeMPRDMANack:
		r.nack(now, s, p)
	case op != codec.Op(codec.RC, codec.Acknowledge):
	case p.AETH.Syndrome.Kind() == codec.KindRNRNAK:
		r.cumulative(now, s)
		r.notReady(now, s, p.AETH.Syndrome)
	case p.AETH.Syndrome.Kind() == codec.KindNAK && !p.AETH.Syndrome.IsSequenceNAK():
		r.cumulative(now, s)
		if s >= r.queue.Una && s < r.queue.Nxt {
			r.fail(s, transport.NAKStatus(p.AETH.Syndrome))
		}
	}
}

// ack takes the acknowledgement of one packet.
func (r *Requester) ack(now transport.Time, s psn.Seq, p *transport.Packet) {
	if s >= r.queue.Nxt {
		return // never sent
	}
	r.clock = now
	r.window.ack(p.MPETH.ECE)
	r.window.aged(now, r.rtt)
	slow := !p.MPETH.ReTxEcho && r.flight.number(s) < r.newest-1-r.config.Delta
	if slow {
		r.window.shrink()
	}
	r.newest = max(r.newest, r.flight.number(s)+1)
	if i, ok := r.flight.find(s); ok {
		v := r.flight.At(i)
		if !v.acked {
			if !p.MPETH.ReTxEcho { // it answers the first copy
				r.rtt += (now - v.first - r.rtt) / 8
			}
			v.acked = true
			r.window.inflate++
		}
	} else {
		r.window.late()
	}
	r.cumulative(now, psn.Unwrap(r.queue.Una, p.MPETH.AACK)+1)
	if r.queue.Failed {
		return
	}
	if !slow {
		r.release(now, p.Path)
	}
}

// cumulative takes everything before upto for received in order.
func (r *Requester) cumulative(now transport.Time, upto psn.Seq) {
	if upto <= r.queue.Una || upto > r.queue.Nxt {
		return
	}
	passed, unheard := 0, 0
	for r.flight.Len() > 0 && r.flight.At(0).psn < upto {
		if v := r.flight.Pop(); !v.acked {
			unheard++
		}
		passed++
	}
	r.flight.passed += passed
	r.newest = max(r.newest, r.flight.passed)
	r.window.moved(passed, unheard, r.flight.Len())
	r.since, r.retries, r.rnrRetries, r.rnrUntil = now, r.qp.RetryCount, r.qp.RNRRetryCount, 0
	r.resend, r.now.next = max(r.resend, upto), max(r.now.next, upto)
	if r.recovering && upto >= r.recovery {
		r.recovering = false
	}
	if r.flight.Len() > 0 && r.flight.At(0).refused && r.now.next >= r.now.end {
		r.now = span{upto, upto + 1, -1} // its turn has come
	}
	r.answers.acknowledged(now, upto)
	r.queue.Retire(upto)
}

// release lets packets leave on the path of an acknowledgement.
func (r *Requester) release(now transport.Time, path uint16) {
	n := min(r.window.awnd(r.flight.Len())-r.grants.Len(), burst)
	if r.recovering {
		if r.grants.Len() < r.flight.Len() {
			n = max(n, 1)
		}
	} else if r.queue.Fresh() == nil {
		r.window.shrink() // nothing to send: the path's window is not trusted
		if v, _ := r.flight.old(now, r.rtt); v == nil {
			return
		}
	}
	for range n {
		r.grants.Push(path)
	}
}

// nack takes a refusal: of a packet for which there is no slot, with the PSN
// that the receiver's head waits for, or of a synchronise packet that came
// early, with its own.
func (r *Requester) nack(now transport.Time, s psn.Seq, p *transport.Packet) {
	r.clock = now
	r.cumulative(now, psn.Unwrap(r.queue.Una, p.MPETH.AACK)+1)
	if r.queue.Failed || r.rnrUntil != 0 {
		return
	}
	i, ok := r.flight.find(s)
	if !ok || r.flight.At(i).acked {
		return // it has come since
	}
	v := r.flight.At(i)
	m := r.queue.Find(s)
	early := m.Synchronise && m.First == s
	switch since := now - v.at; {
	case !r.recovering:
		r.recovering, r.recovery, r.resend = true, r.queue.Nxt, s+1
		r.now = span{s, s + 1, int(p.Path)}
	case s >= r.resend || r.now.next < r.now.end || since < r.rtt/2:
		r.release(now, p.Path) // it is on its way, or will be
	case early && s > r.queue.Una:
		v.refused = true // once more would be too early again
	case early || since >= r.rtt:
		r.now = span{s, s + 1, int(p.Path)} // the copy that was resent was refused too, or is lost
	default:
		r.release(now, p.Path)
	}
}

// notReady obeys an RNR NAK for the oldest PSN.
func (r *Requester) notReady(now transport.Time, s psn.Seq, syndrome codec.Syndrome) {
	i, ok := r.flight.find(s)
	if r.queue.Failed || !ok || i > 0 || r.rnrUntil != 0 {
		return // stale, or a second copy
	}
	if r.qp.RNRRetryCount != endless {
		if r.rnrRetries == 0 {
			r.fail(s, transport.RNRExceeded)
			return
		}
		r.rnrRetries--
	}
	r.retries = r.qp.RetryCount // the responder is there
	r.rnrUntil = now + syndrome.RNRTimer()
	if v := r.flight.At(i); v.acked {
		r.window.inflate--
		r.flight.doubt(v)
	}
}

// timeout is the last resort: everything unacknowledged is resent.
func (r *Requester) timeout(now transport.Time) {
	if r.retries == 0 {
		r.fail(r.queue.Una, transport.RetryExceeded)
		return
	}
	r.retries--
	r.since = now
	r.flight.doubt(r.flight.At(0)) // the cumulative point says that it is missing
	r.recovering, r.recovery = true, r.queue.Nxt
	r.now, r.resend = span{r.queue.Una, r.queue.Nxt, -1}, r.queue.Nxt
	r.window.inflate, r.window.owe = 0, owe{since: now}
	for i := range r.flight.Len() {
		if r.flight.At(i).acked {
			r.window.inflate++
		}
	}
}

// fail moves the queue pair to the ERROR state.
func (r *Requester) fail(s psn.Seq, status transport.Status) {
	r.rnrUntil, r.recovering, r.now = 0, false, span{}
	r.queue.Fail(s, status)
	for r.flight.Len() > 0 {
		r.flight.Pop()
	}
	r.answers.waiting = r.answers.waiting[:0]
	r.drop()
}

// drop forgets the grants that nothing was there to use.
func (r *Requester) drop() {
	for r.grants.Len() > 0 {
		r.grants.Pop()
	}
}

// deadline is when the timer of last resort ends.
func (r *Requester) deadline() transport.Time {
	if r.flight.Len() == 0 || r.qp.AckTimeout == 0 || r.rnrUntil != 0 {
		return transport.Never
	}
	return r.since + r.qp.AckTimeout
}

// choice is a packet to be sent: one in flight, again, or the next new one.
type choice struct {
	again *sent
	fresh bool
}

// choose is what goes next, if anything may.
func (r *Requester) choose(now transport.Time) choice {
	if v := r.flight.unacked(r.now.next, r.now.end); v != nil {
		return choice{again: v}
	}
	if r.grants.Len() == 0 {
		return choice{}
	}
	if r.recovering {
		if v := r.flight.unacked(r.resend, r.recovery); v != nil {
			return choice{again: v}
		}
	} else if m := r.queue.Fresh(); m != nil {
		return choice{fresh: r.ordered(m) <= now}
	}
	v, _ := r.flight.old(now, r.rtt) // FUSO: nothing new may leave, in recovery either
	return choice{again: v}
}

// ordered is when the message's next packet may leave: a synchronise operation
// keeps a distance from what is before it, in which packets on a path within
// the tolerance can come: alpha * Delta / rate, the rate being a window in a
// round-trip time.
func (r *Requester) ordered(m *transport.Message) transport.Time {
	if !m.Synchronise || m.First != r.queue.Nxt || r.flight.Len() == 0 {
		return 0
	}
	return r.lastSent + transport.Time(r.config.Alpha*float64(r.config.Delta)*float64(r.rtt)/r.window.cwnd)
}

// spray releases what the window allows over random paths, when no
// acknowledgement has come for half a round-trip time.
func (r *Requester) spray(now transport.Time) {
	if r.sprayAt(now) > now {
		return
	}
	if r.flight.Len() == 0 && now-r.active >= 3*r.rtt {
		r.window = window{cwnd: r.config.Window} // an idle connection starts over
	}
	r.window.aged(now, r.rtt)
	for range r.window.awnd(r.flight.Len()) - r.grants.Len() {
		r.clock = now
		r.grants.Push(r.path())
	}
}

// sprayAt is when there will be window to spray, and something to send.
func (r *Requester) sprayAt(now transport.Time) transport.Time {
	at := r.clock + r.rtt/2
	if room := r.window.awnd(r.flight.Len()) - r.grants.Len(); room+r.window.missing() < 1 {
		return transport.Never
	} else if room < 1 {
		at = max(at, r.window.ages(r.rtt))
	}
	if r.recovering {
		if r.flight.unacked(r.resend, r.recovery) != nil {
			return at
		}
	} else if m := r.queue.Fresh(); m != nil {
		return max(at, r.ordered(m))
	}
	_, next := r.flight.old(now, r.rtt)
	if next == transport.Never {
		return transport.Never
	}
	return max(at, next)
}

// path is a random one.
func (r *Requester) path() uint16 { return uint16(r.random.IntN(r.config.Paths)) }

// Ready implements transport.Machine.
func (r *Requester) Ready(now transport.Time) transport.Ready {
	if r.rnrUntil != 0 && r.rnrUntil <= now {
		r.rnrUntil, r.since = 0, now
		r.recovering, r.recovery, r.resend = true, r.queue.Nxt, r.queue.Una+1
		r.now = span{r.queue.Una, r.queue.Una + 1, -1}
	}
	if r.deadline() <= now {
		r.timeout(now)
	}
	for v := r.answers.overdue(now); v != nil; v = r.answers.overdue(now) {
		r.ask(now, v)
	}
	if r.rnrUntil > now {
		return transport.Idle
	}
	if r.answers.asking() != nil {
		return transport.Resend
	}
	r.spray(now)
	switch c := r.choose(now); {
	case c.again != nil:
		return transport.Resend
	case c.fresh:
		return transport.Fresh
	case r.queue.Fresh() == nil || r.recovering:
		r.drop()
	}
	return transport.Idle
}

// Next implements transport.Machine.
func (r *Requester) Next(now transport.Time, p *transport.Packet) {
	r.active = now
	if v := r.answers.asking(); v != nil {
		r.fill(p, r.queue.Find(v.next), v.next, r.path())
		p.BTH.ReTx = true
		v.ask = false
		v.at = now
		return
	}
	c := r.choose(now)
	s := r.queue.Nxt
	if c.again != nil {
		s = c.again.psn
	}
	r.fill(p, r.queue.Find(s), s, r.route(now, s, c))
	if c.again == nil {
		if r.flight.Len() == 0 {
			r.since = now
		}
		r.flight.add(now, s)
		if m := r.queue.Find(s); m.Verb.Answered() {
			r.answers.sent(now, m)
		}
		r.queue.Sent()
		r.lastSent = now
		return
	}
	p.BTH.ReTx = true
	c.again.at = now
	c.again.refused = false
	if r.unclocked(s) {
		r.now.next = s + 1
	} else if r.recovering {
		r.resend = max(r.resend, s+1)
	}
}

// route is the path of the packet to be sent, for which a grant is used up, or
// none if it goes without.
func (r *Requester) route(now transport.Time, s psn.Seq, c choice) uint16 {
	var path uint16
	switch {
	case c.again == nil || !r.unclocked(s):
		path = r.grants.Pop()
	case r.now.path < 0:
		return r.path()
	default:
		return uint16(r.now.path)
	}
	if now >= r.probeAt {
		r.probeAt = now + r.rtt
		r.probing = r.random.Float64() < r.config.Probe
	}
	if r.probing {
		r.probing = false
		return r.path()
	}
	return path
}

// unclocked reports whether a packet is resent without waiting for an
// acknowledgement.
func (r *Requester) unclocked(s psn.Seq) bool { return r.now.next <= s && s < r.now.end }

// fill makes p the packet with a PSN.
func (r *Requester) fill(p *transport.Packet, m *transport.Message, s psn.Seq, path uint16) {
	i := int(s - m.First)
	m.Fill(p, &r.qp, i)
	p.Path = path
	p.BTH.AckReq = p.BTH.Opcode.Ends()
	p.BTH.Synchronise = m.Synchronise && i == 0
}

// Wake implements transport.Machine.
func (r *Requester) Wake() transport.Time {
	wake := min(r.answers.wake(), r.deadline())
	if r.rnrUntil != 0 {
		return min(wake, r.rnrUntil)
	}
	if r.grants.Len() > 0 && !r.recovering {
		if m := r.queue.Fresh(); m != nil {
			wake = min(wake, r.ordered(m))
		}
	}
	return min(wake, r.sprayAt(max(r.active, r.clock)))
}
