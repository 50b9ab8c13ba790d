package dissect

import (
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// Role is what a packet is to the requests of its connection.
type Role uint8

// The roles. Aside is a packet that no flow takes: a datagram, a CNP, RD, what
// waits for its partner or for its PSN to be believed.
const (
	Aside        Role = iota
	Request           // it is one of them
	ReadResponse      // it answers one with data
	Acknowledges      // it is feedback on them
	ReadFeedback      // IRN: feedback on the READ responses, sent by who asked
)

// Followed is a packet that an Analyzer has followed, and what it took it for.
// Mirrored copies and what is no RDMA never come.
type Followed struct {
	Packet  *Packet
	BTH     *codec.BTH
	ICRC    ICRCState
	Damaged bool // its ICRC is bad, and the ICRC of its sender can be trusted
	Sent    Flow // what its sender sends to its destination; zero if nothing follows that

	Role  Role
	Flow  Flow    // the requests that it is one of, or is about; zero where Role is Aside
	Seq   psn.Seq // its PSN among these requests; of IRN's READ responses and their feedback, among the responses
	Epoch int     // of the stream that Seq is in, from 1
}

// Flow is the requests of one end of a connection: a handle to what an Analyzer
// knows of them, which changes from packet to packet.
type Flow struct{ half *half }

// Valid reports whether there is a flow.
func (f Flow) Valid() bool { return f.half != nil }

// Note is a place that belongs to whoever follows the packets: the Analyzer keeps
// it as long as the flow and never looks at it.
func (f Flow) Note() *any { return &f.half.note }

// Connection is the number of the connection, as in events; 0 while it has none.
func (f Flow) Connection() int {
	if p := f.half.partner; f.half.number == 0 && p != nil {
		return int(p.number)
	}
	return int(f.half.number)
}

// Ends are where the requests come from and the queue pair that they go to.
func (f Flow) Ends() (src, dst Address, destQP QPN) {
	return f.half.key.src, f.half.key.dst, QPN(f.half.key.qpn)
}

// Transport is how the connection recovers, as far as it is known: one of Transports.
func (f Flow) Transport() string { return transportNames[f.half.transport] }

// Service is the transport service.
func (f Flow) Service() codec.Service { return f.half.service }

// Reverse is the requests of the other end, zero while nothing follows them.
func (f Flow) Reverse() Flow { return Flow{f.half.partner} }

// Twice reports whether a frame of the requests was seen twice. A mirror may have
// done that, or the network, and then both arrive.
func (f Flow) Twice() bool { return f.half.copies > 0 }

// Rivals reports whether others go the same way, so that feedback may be of
// another connection than it was taken for.
func (f Flow) Rivals() bool {
	h := f.half
	return h.pairedBy == byFeedback && (h.crowded() || h.partner != nil && h.partner.crowded())
}

// Sure reports whether it is certain whose feedback this end gets: connection
// management or the user says so, or the PSNs of one direction leave no other.
func (f Flow) Sure() bool {
	h := f.half
	switch h.pairedBy {
	case byCM, byUser:
		return true
	case byFeedback:
		return h.distinct() || h.partner != nil && h.partner.distinct()
	}
	return false
}

func (h *half) crowded() bool { return h.among != nil && len(h.among.all) > 1 }

// mostRivals is among how many a half is held to be the only one with its PSNs.
const mostRivals = 1 << 13

// distinct reports whether the PSNs of the requests are those of no other half
// between the same addresses.
func (h *half) distinct() bool {
	if !h.req.on || h.among == nil || len(h.among.all) > mostRivals {
		return false
	}
	first, top := h.req.first.PSN(), h.req.top.PSN()
	for _, o := range h.among.all {
		if o != h && o.req.on && o.service == h.service && o.req.first.PSN().Sub(top) <= 0 && first.Sub(o.req.top.PSN()) <= 0 {
			return false
		}
	}
	return true
}

// Selective reports whether the requester was seen to resend only what was
// missing.
func (f Flow) Selective() bool { return f.half.req.selects() }

// Tap is where the capture point is, seen from the requests: next to their
// sender, next to their receiver, or "" while that is not known.
func (f Flow) Tap() Tap {
	switch f.half.req.side() {
	case senderSide:
		return TapSender
	case receiverSide:
		return TapReceiver
	}
	return ""
}

// Packets is how many PSNs a READ of size bytes takes; ok is false while the path
// MTU leaves that open.
func (f Flow) Packets(size uint32) (n int, ok bool) { return f.half.mtus().exact(size) }

// MTU is the path MTU in bytes, 0 while it is not known.
func (f Flow) MTU() int {
	m := f.half.mtus()
	if m == 0 || m&(m-1) != 0 {
		return 0
	}
	n := 256
	for ; m > 1; m >>= 1 {
		n *= 2
	}
	return n
}

// MTUShown reports whether the path MTU is certain: payload, a response or
// connection management has shown it. Else it follows from where the request
// behind a READ begins, and one between them may have been lost.
func (f Flow) MTUShown() bool {
	p := f.half.partner
	return f.half.mtuShown || p != nil && p.mtuShown
}

// AckTimeout is that of the requester as connection management set it, 0 while
// it is not known.
func (f Flow) AckTimeout() time.Duration { return time.Duration(f.half.timer()) }

// RetryCount is that of the requester as connection management set it, -1 while
// it is not known.
func (f Flow) RetryCount() int { return int(f.half.retries) }

// RTT is the smallest round trip seen from here, 0 while there is none.
func (f Flow) RTT() time.Duration { return time.Duration(f.half.req.rttMin) }

// tellFollowed tells who follows the packets what was made of one; h is its half,
// nil if it has none.
func (a *Analyzer) tellFollowed(p *Packet, h *half, icrc ICRCState) {
	if a.config.Follow == nil || a.narrows() && (h == nil || !a.chosen(h)) {
		return
	}
	f := &a.followed
	*f = Followed{Packet: p, BTH: &a.bth, ICRC: icrc}
	if h != nil {
		f.Sent, f.Damaged = Flow{h}, a.in.damaged
		f.place(h)
	}
	a.config.Follow(f)
}

// leave tells who follows the packets that a half is let go.
func (a *Analyzer) leave(h *half) {
	if a.config.Leave != nil {
		a.config.Leave(Flow{h})
	}
}

// place finds the stream that the packet of a half is in, or is about.
func (f *Followed) place(h *half) {
	op := f.BTH.Opcode
	requests, s, role := h, &h.req, Request
	switch {
	case h.service == codec.RD || h.limbo != nil:
		return
	case !forms[op].response:
	case op == codec.OpcodeIRNReadAck || op == codec.OpcodeIRNReadNack:
		if h.partner == nil || h.partner.resp == nil {
			return
		}
		role, s = ReadFeedback, h.partner.resp
	default:
		if requests = h.partner; requests == nil {
			return
		}
		role, s = Acknowledges, &requests.req
		if forms[op].verb == codec.VerbReadResponse {
			role = ReadResponse
			if op.Service() == codec.IRN && h.resp != nil {
				s = h.resp
			}
		}
	}
	if !s.on || s.moved != nil {
		return
	}
	f.Role, f.Flow, f.Epoch = role, Flow{requests}, int(s.epochs)
	f.Seq = psn.Unwrap(s.top, f.BTH.PSN)
}
