package dissect

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

const reth = codec.HeaderRETH

// half is everything that one end sends to one queue pair of another: the
// requests of a stream, the READ responses and the feedback on the stream that
// comes the other way. Two halves that answer each other are a connection.
//
// With many connections its cost is that of fetching it from memory, so fields
// lie in the order in which packets need them, by lines of 64 bytes.
type half struct {
	key      halfKey
	lastTime int64

	good, bad int64 // packets by their ICRC
	idSteps   int64 // packets with another IP identification than the one before
	idStays   int64
	packets   int64
	marked    int64 // packets with a CE mark
	partner   *half
	id        uint32 // in order of appearance, from 1
	hash      uint32

	req stream // its requests

	resp      *stream // its READ responses, nil while there are none
	number    int32   // of the connection, 0 while none was given
	lastID    uint16
	idBefore  uint16 // that of the packet before the last
	service   codec.Service
	transport transportKind
	mtu       mtus
	pairedBy  pairing
	gone      bool // evicted
	over      bool // it was told that the connection is closed
	agreed    bool // connection management announced the first packet
	renew     bool // it announced that the queue pair begins anew
	matched   bool // one of its packets is what Selection.Packets wants

	fb         feedback  // on the partner's requests
	readFB     *feedback // IRN's, on the partner's READ responses; nil while there is none
	*courtship           // never nil, but shared and empty unless needed

	promised   *halfKey // the partner, as the user says
	among      *neighbours
	bucket     *[]*half // where its requests are listed, nil while they are not
	place      int32
	spot       int32
	ackTimer   int64    // ACK timeout that connection management set, nanoseconds
	weight     int64    // bytes that it held when it was weighed last
	start      psn.PSN  // first PSN of the requests, where agreed says so
	retries    int8     // retry count that connection management set, -1 unknown
	rnrRetries int8     // the same for RNR NAKs, endless is without end
	sought     uint8    // times it looked for what it acknowledges among the unproven
	hearsay    *hearsay // feedback on requests that nobody knows, nil while there is none
	limbo      *limbo   // the connection is in, nil while it is in none
	life       int32    // how often the queue pair was set up anew, as far as seen
	ended      bool     // the connection failed or was closed: what comes is another one
	cnps       int64    // that it sent to the queue pair
	note       any      // of Config.Follow
	mtuShown   bool     // payload, a response or connection management has shown the MTU
	copyAge    int64    // the most time between a frame and its second sight, nanoseconds
	copies     uint32   // frames of it that were seen twice: a mirror did that, or the network
}

// transportKind is how a connection recovers.
type transportKind uint8

const (
	goBackN transportKind = iota
	irnTransport
	windowless
	mpRDMA
)

var transportNames = [...]string{"go-back-n", "irn", "windowless", "mp-rdma"}

// transportName is how the connection recovers: "none" for UC, which does not.
func (h *half) transportName() string {
	if h.service == codec.UC {
		return "none"
	}
	return transportNames[h.transport]
}

// ICRC of software captures. Where more than half of at least fewest packets of
// a half have no valid ICRC it says nothing.
const fewestICRC = 8

// uselessICRC reports whether the ICRC says nothing about packets of this half:
// it was not filled in yet when they were captured, or never is.
func (h *half) uselessICRC() bool {
	if n := h.good + h.bad; n >= fewestICRC {
		return h.bad*2 > n
	}
	return h.good == 0
}

// timer is the ACK timeout of the queue pair that sends the requests, 0 while
// it is not known.
func (h *half) timer() int64 { return h.ackTimer }

// window is how soon after a packet its mirrored copy may follow.
func (h *half) window() int64 {
	if h.idSteps > 16*h.idStays {
		return distinctWindow
	}
	rtt := h.req.rttMin
	if p := h.partner; p != nil && p.req.rttMin > 0 && (rtt == 0 || p.req.rttMin < rtt) {
		rtt = p.req.rttMin
	}
	if rtt == 0 {
		return mirrorWindow
	}
	return rtt / 2
}

// identified notes the IP identification of a packet, to learn whether the
// sender numbers its packets, and where the packet stands in their order. That is
// followed from the first trouble on, and from the step that made it.
func (h *half) identified(id uint16) (p place) {
	if d := h.req.d; d != nil {
		if !d.numbers.on && h.packets > 1 {
			d.numbers.take(h.idBefore)
			d.numbers.take(h.lastID)
		}
		p = d.numbers.take(id)
	}
	if id != h.lastID {
		h.idSteps++
	} else {
		h.idStays++
	}
	h.idBefore, h.lastID = h.lastID, id
	return p
}

// take follows one packet of the half.
func (h *half) take(in *arrival) {
	h.lastTime = in.time
	h.packets++
	if in.ce {
		h.marked++
	}
	if h.limbo != nil {
		h.hold(in)
		return
	}
	h.follow(in)
}

// follow takes a packet to its stream.
func (h *half) follow(in *arrival) {
	f := &forms[in.op]
	switch {
	case h.service == codec.RD:
		h.req.packets++
	case in.damaged:
		h.damage(in)
	case !f.response:
		h.request(in)
	case f.verb == codec.VerbReadResponse:
		if h.partner == nil && h.req.a.pairByFeedback(h, in) == waits {
			return
		}
		h.response(in)
	case in.op == codec.OpcodeIRNReadAck || in.op == codec.OpcodeIRNReadNack:
		if h.readFB == nil {
			h.readFB = &feedback{}
		}
		h.readFB.count(in)
		if h.partner != nil && h.partner.resp != nil {
			h.partner.resp.acknowledged(in)
		}
	default:
		h.fb.count(in)
		if h.partner == nil && h.req.a.pairByFeedback(h, in) != paired {
			h.overhear(in)
			return
		}
		h.partner.req.acknowledged(in)
	}
}

// request follows a packet of the requests.
func (h *half) request(in *arrival) {
	if h.number == 0 {
		h.req.a.open(h, in)
	}
	if s := &h.req; h.agreed && (h.renew || !s.on) {
		h.anew(in)
	} else if s.on && in.psn != s.top.PSN() {
		switch yes, perhaps := h.restarts(in); {
		case yes:
			s.moved = nil
			s.newEpoch(in)
		case perhaps:
			h.doubt(in)
			return
		}
	}
	h.send(in)
}

// send follows a request of which it is known that it begins no new life.
func (h *half) send(in *arrival) {
	if forms[in.op].fetches {
		h.req.readRequest(in)
		return
	}
	h.req.implied = forms[in.op].verb == codec.VerbAtomic && h.req.answerMissed(in)
	h.req.arrive(in, 1)
	h.req.implied = false
	h.learnMTU(in)
}

// response follows a READ response. It acknowledges the requests before it too.
func (h *half) response(in *arrival) {
	h.learnMTU(in)
	if h.resp == nil {
		h.resp = &stream{a: h.req.a, half: h, response: true, flow: &h.req.a.unbegun}
	}
	s := h.resp
	req := s.requests()
	if req != nil && req.vouches(in) {
		req.move()
	}
	if req != nil && s.asked == 0 {
		s.asked = req.epochs // they came alone so far
	}
	if req != nil && s.on && s.asked != req.epochs && s.answers(req, in) {
		s.endEpoch()
		s.moved = nil
		if h.transport != irnTransport {
			s.beginAmong(req, in)
		}
		if s.asked != req.epochs {
			s.begin(in, in.psn)
		}
	}
	if h.transport == irnTransport {
		s.arrive(in, 1) // in a PSN space of its own
		return
	}
	if req != nil && !s.on {
		s.beginAmong(req, in)
	}
	s.arrive(in, 1)
	if h.partner == nil {
		return
	}
	if req = &h.partner.req; req.tail.waiting {
		req.growTail(in)
	}
	req.acknowledged(in)
}

// answers reports whether a response is to READs of the present epoch of the
// requests.
func (s *stream) answers(req *stream, in *arrival) bool {
	if s.half.transport == irnTransport {
		ahead := in.psn.Sub(req.first.PSN()) // where the responses begin too
		return ahead >= 0 && ahead < togetherPSNs
	}
	seq := psn.Unwrap(req.top, in.psn)
	if t := &req.tail; t.waiting && seq >= t.seq && int64(seq-t.seq) < t.most() {
		return true
	}
	return seq >= req.first && seq < req.top
}

// beginAmong begins the responses where the READs that they answer begin, so
// that responses missing in front of the first one seen are missed.
func (s *stream) beginAmong(req *stream, in *arrival) {
	seq := psn.Unwrap(req.top, in.psn)
	if seq < req.first {
		return
	}
	for _, read := range req.reads {
		if read.First <= seq {
			s.begin(in, read.First.PSN())
			return
		}
	}
}

// growTail learns from a response how many PSNs the newest READ takes at least.
func (s *stream) growTail(in *arrival) {
	seq := psn.Unwrap(s.top, in.psn)
	if seq < s.tail.seq || int64(seq-s.tail.seq) >= s.tail.most() {
		return
	}
	if forms[in.op].ends {
		if s.tail.sized {
			if fit := s.half.mtus().fitting(s.tail.size, int64(seq-s.tail.seq)+1); fit != 0 {
				s.half.showMTUs(fit)
			}
		}
		s.endTail(seq + 1)
	}
}

// damage follows a packet with a bad ICRC. Its receiver throws it away without a
// word: it does not advance the sequence, and its PSN is missing from here on.
func (h *half) damage(in *arrival) {
	s := &h.req
	if f := &forms[in.op]; f.response {
		if f.verb != codec.VerbReadResponse || h.resp == nil {
			return
		}
		s = h.resp
	}
	if !s.on || s.moved != nil || !s.near(in.psn) {
		return
	}
	d := s.recovery()
	d.damaged++
	s.packets++
	s.bytes += int64(in.payload)
	silent := s.lastActivity()
	s.settleRun(psn.Unwrap(s.top, in.psn), in.time)
	s.lastTime = in.time
	seq := psn.Unwrap(s.top, in.psn)
	one := psn.Span{First: seq, Last: seq}
	s.watch = true
	s.bound()
	s.find("icrc-damage", "packets came with a bad ICRC: they were damaged before this point, and their receiver drops them", "rx_icrc_encapsulated", in.number)
	damage := gap{run: d.run.id, evidence: EvidenceICRC, where: Upstream, opened: in.sight()}
	if seq >= s.top {
		// Its own PSN may be what is damaged: nothing before it is missed yet.
		if seq > s.top || s.next < s.top {
			d.spoilt.Insert(one)
			s.sentUpTo(in)
			return
		}
		s.refute()
		s.miss(one, damage)
		d.name(one)
		s.top, s.next = seq+1, seq+1
		s.sentUpTo(in)
		return
	}
	s.refute()
	if seq < s.next && !d.holes.Contains(seq) {
		s.newRun(seq, in.sight(), in.time-silent)
	}
	if seq > s.next {
		s.passOver(psn.Span{First: s.next, Last: seq - 1}, in.sight(), false)
	}
	d.resent.add(1, int64(in.payload), d.run.reason, isUnknown)
	if seq < s.acked && d.holes.Contains(seq) {
		d.name(one)
	} else if seq < s.acked {
		s.loseHarmless(one, EvidenceICRC, in.sight(), in.sight())
	} else {
		damage.run = d.run.id
		if d.holes.Contains(seq) {
			d.lose(one)
			d.vouch(one)
			d.again.Insert(one)
			if i, inside := d.gapAt(seq); inside {
				d.gaps[i].suspect = false
				s.missAgain(&d.gaps[i], one)
			}
		} else {
			s.miss(one, damage)
			d.name(one)
		}
	}
	s.next = max(s.next, seq+1)
	s.sentUpTo(in)
	s.quiet()
}
