package dissect

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// connectionManagement remembers what REQ and REP said: which queue pairs talk
// to each other, where their PSNs begin, and how they are set up. It is the
// strongest evidence for a pair.
type connectionManagement struct {
	requests map[commID]request
	agreed   map[halfKey]agreement // by the half that it is about
	attempts map[attempt]halfKey   // the active half of each
	message  codec.CM
	datagram codec.Packet
}

// commID is an end's name for a connection attempt.
type commID struct {
	address Address
	id      uint32
}

// request is a REQ that waits for its REP.
type request struct {
	dst     Address
	network uint32
	req     codec.REQ
}

// agreement is what one end of a connection will send, and to whom.
type agreement struct {
	other    halfKey // the half that comes the other way
	start    psn.PSN
	mtu      mtus
	ackTimer int64
	retries  int8      // after a timeout or a sequence NAK
	rnr      int8      // after an RNR NAK
	attempt  [2]uint32 // the two communication IDs
}

// maxAgreements bounds what is remembered of connection management.
const maxAgreements = 1 << 14

// manage reads a datagram to QP 1.
func (a *Analyzer) manage(p *Packet) {
	c := &a.cm
	if c.datagram.Decode(p.Transport(), p.WireLen) != nil {
		return
	}
	if c.message.Decode(c.datagram.Payload) != nil {
		return
	}
	network := uint32(0)
	switch {
	case a.config.ByVLAN:
		network = uint32(p.VLAN)
	case a.config.ByVNI:
		network = p.VNI
	}
	m := &c.message
	switch {
	case m.Has(codec.HeaderREQ):
		if c.requests == nil || len(c.requests) >= maxAgreements {
			c.requests = map[commID]request{}
		}
		c.requests[commID{p.Src, m.REQ.LocalCommID}] = request{p.Dst, network, m.REQ}
	case m.Has(codec.HeaderREP):
		r, ok := c.requests[commID{p.Dst, m.REP.RemoteCommID}]
		if ok && r.dst == p.Src && r.network == network {
			a.agree(p, &r, &m.REP)
		}
	case m.Has(codec.HeaderDREQ):
		a.disconnected(halfKey{p.Src, p.Dst, m.DREQ.RemoteQPN, network}, sight{p.Time, p.Number, p.File})
	case m.Has(codec.HeaderDREP):
		a.undone(p.Src, p.Dst, network, m.DREP.LocalCommID, m.DREP.RemoteCommID, sight{p.Time, p.Number, p.File})
	case m.Has(codec.HeaderREJ):
		if asked := (commID{p.Dst, m.REJ.RemoteCommID}); c.requests[asked].dst == p.Src {
			delete(c.requests, asked)
		}
		a.undone(p.Src, p.Dst, network, m.REJ.LocalCommID, m.REJ.RemoteCommID, sight{p.Time, p.Number, p.File})
	}
}

// agree joins the two halves of a connection that p, a REP, completes.
func (a *Analyzer) agree(p *Packet, r *request, rep *codec.REP) {
	c := &a.cm
	active := halfKey{p.Dst, p.Src, rep.LocalQPN, r.network} // what the end that asked will send
	passive := halfKey{p.Src, p.Dst, r.req.LocalQPN, r.network}
	ids := [2]uint32{r.req.LocalCommID, rep.LocalCommID}
	if old, ok := c.agreed[active]; ok && old.attempt == ids && old.other == passive {
		return // the REP came again
	}
	if c.agreed == nil || len(c.agreed) >= maxAgreements || len(c.attempts) >= maxAgreements {
		c.agreed, c.attempts = map[halfKey]agreement{}, map[attempt]halfKey{}
	}
	c.attempts[attempt{p.Dst, p.Src, ids, r.network}] = active
	both := agreement{mtu: mtuOf(codec.MTU(r.req.PathMTU)), retries: int8(r.req.RetryCount), attempt: ids,
		ackTimer: codec.AckTimeout(r.req.Primary.LocalAckTimeout).Nanoseconds()}
	one, other := both, both
	// Each end says how often the other one may retry when it is not ready itself.
	one.other, one.start, one.rnr = passive, r.req.StartingPSN, int8(rep.RNRRetryCount)
	other.other, other.start, other.rnr = active, rep.StartingPSN, int8(r.req.RNRRetryCount)
	c.agreed[active], c.agreed[passive] = one, other
	for _, key := range [2]halfKey{active, passive} {
		if h := a.table.find(&key, a.table.hash(&key)); h != nil {
			h.renew = true
			a.meet(h)
		}
	}
}

// meet tells a half what connection management agreed on for it.
func (a *Analyzer) meet(h *half) {
	g, ok := a.cm.agreed[h.key]
	if !ok {
		return
	}
	h.ackTimer, h.retries, h.rnrRetries = g.ackTimer, g.retries, g.rnr
	h.agreed, h.start = true, g.start
	if g.mtu != 0 {
		h.mtu, h.mtuShown = g.mtu, true
	}
	if h.promised != nil {
		return // what the user says is stronger
	}
	other := a.table.find(&g.other, a.table.hash(&g.other))
	if other != nil && other.promised != nil {
		return
	}
	if other == nil || other == h.partner {
		if other != nil {
			h.pairedBy, other.pairedBy = byCM, byCM
		}
		return
	}
	for _, side := range [2]*half{h, other} {
		side.release()
		if side.partner != nil {
			side.partner.partner, side.partner.pairedBy = nil, unpaired
			side.partner.number = 0 // it is of another connection, if of any
			side.partner.list()
			side.partner = nil
		}
	}
	a.pair(h, other, byCM)
}

// anew begins the epoch that connection management announced.
func (h *half) anew(in *arrival) {
	s := &h.req
	if s.on {
		s.moved = nil
		s.endEpoch()
		defer s.a.reopen(h, in)
	}
	start := in.psn
	if ahead := in.psn.Sub(h.start); ahead >= 0 && ahead < togetherPSNs {
		start = h.start
	}
	s.begin(in, start)
	h.renew, h.agreed = false, false
}
