package irn

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// responses is the requester's receiver of READ responses.
type responses struct {
	expected psn.Seq // the lowest rPSN that has not arrived
	arrived  bitmap
	reads    transport.Ring[read] // that were sent and are not complete
}

// read is a READ that was sent: the rPSNs of its responses, from first to the
// one before end, and the sPSN of its request.
type read struct {
	first, end psn.Seq
	at         psn.Seq
}

// of is the READ that an rPSN belongs to.
func (r *responses) of(q psn.Seq) *read {
	for i := range r.reads.Len() {
		if v := r.reads.At(i); v.first <= q && q < v.end {
			return v
		}
	}
	return nil
}

// response takes a READ response: its data goes to its place at once.
func (r *Requester) response(now transport.Time, p *transport.Packet) {
	in := &r.responses
	q := psn.Unwrap(in.expected, p.BTH.PSN)
	r.quiet = now
	switch {
	case q < in.expected:
		r.ackResponses()
		return
	case q >= in.expected+psn.Seq(r.config.Cap):
		return
	}
	v := in.of(q)
	if v == nil {
		return // not asked for
	}
	if !in.arrived.has(q) {
		m := r.queue.Find(v.at)
		if !r.queue.Answer(m, int(q-v.first), p) {
			r.fail(v.at, transport.LocalLength)
			return
		}
		in.arrived.set(q)
	}
	// Its request was executed, and all that came before.
	r.confirm(now, v.at+1)
	if r.queue.Failed {
		return
	}
	if q > in.expected {
		r.reports.push(report{op: codec.OpcodeIRNReadNack, at: in.expected.PSN(), sack: q.PSN(), syndrome: codec.SyndromePSNSequenceError})
		return
	}
	for in.arrived.has(in.expected) {
		in.arrived.clear(in.expected)
		in.expected++
	}
	r.ackResponses()
	for in.reads.Len() > 0 && in.reads.At(0).end <= in.expected {
		r.queue.Find(in.reads.Pop().at).Owed = false
	}
	r.queue.Retire(r.send.una)
}

// ackResponses acknowledges everything before the expected rPSN.
func (r *Requester) ackResponses() {
	r.reports.push(report{op: codec.OpcodeIRNReadAck, at: (r.responses.expected - 1).PSN(), syndrome: codec.SyndromeACK})
}

// overdue is when the requester stops waiting for the responses to a READ whose
// request is acknowledged.
func (r *Requester) overdue() transport.Time {
	if r.responses.reads.Len() == 0 || r.responses.reads.At(0).at >= r.send.una {
		return transport.Never
	}
	return r.quiet + r.config.patience(&r.qp)
}
