package dissect

import (
	"slices"

	"github.com/rdmadump/rdmadump/codec"
)

// Selection says which packets are wanted. A packet must meet every kind of
// condition that is given, and any one of those of the same kind. The zero
// Selection takes all packets. Its JSON form stands in reports.
type Selection struct {
	QPNs  []QPN  `json:"qpns,omitempty"`  // either end's
	Hosts []Host `json:"hosts,omitempty"` // on either side
	From  *Time  `json:"from,omitempty"`  // not before; nil is from the beginning
	To    *Time  `json:"to,omitempty"`    // before, not at; nil is to the end

	// Packets says which packets are wanted by what is in them, nil for all of
	// them; Filter says the same in words. An analysis takes connections whole: those
	// of which a packet is wanted.
	Packets func(*Packet) bool `json:"-"`
	Filter  string             `json:"filter,omitempty"`

	matching map[halfKey]bool // halves of connections that have such a packet, as far as learned

	ends map[halfKey]QPN // halves of connections with these QPNs, as far as learned: who sends

	metQPNs, metHosts []bool // those that a packet or a connection had
}

// Unmet lists the QPNs and hosts that nothing had of what was asked for so far:
// where others had, a mistyped one would not show.
func (s *Selection) Unmet() (queues []QPN, hosts []Host) {
	for i, n := range s.QPNs {
		if i >= len(s.metQPNs) || !s.metQPNs[i] {
			queues = append(queues, n)
		}
	}
	for i, h := range s.Hosts {
		if i >= len(s.metHosts) || !s.metHosts[i] {
			hosts = append(hosts, h)
		}
	}
	return queues, hosts
}

// Everything reports whether no condition is given.
func (s *Selection) Everything() bool {
	return len(s.QPNs) == 0 && len(s.Hosts) == 0 && s.From == nil && s.To == nil && s.Packets == nil
}

// Learn adds the other ends of the connections that the QPNs are ends of. A
// packet names its destination alone; without this, what the end with the QPN
// sent is not selected by it.
func (s *Selection) Learn(r *Report) {
	for i := range r.Connections {
		c := &r.Connections[i]
		if c.A == nil || c.B == nil || len(s.QPNs) > 0 && !s.connection(c) {
			continue
		}
		if s.ends == nil {
			s.ends = map[halfKey]QPN{}
		}
		s.ends[halfKey{src: c.A.Address, dst: c.B.Address, qpn: uint32(c.B.QPN)}] = c.A.QPN
		s.ends[halfKey{src: c.B.Address, dst: c.A.Address, qpn: uint32(c.A.QPN)}] = c.B.QPN
	}
	s.metQPNs = nil // by what was read ahead, which other conditions may leave out
}

// Takes reports whether a located packet is wanted. QPNs are those that it names
// itself (DestQP of the BTH, SrcQP of a DETH, and what a REQ, REP or DREQ of
// connection management says), and what was learned.
func (s *Selection) Takes(p *Packet) bool {
	return s.during(p.Time) && s.between(p) && s.TakesQPNs(p) && s.TakesPacket(p)
}

// TakesHosts is Takes by the hosts alone.
func (s *Selection) TakesHosts(p *Packet) bool { return s.between(p) }

// TakesQPNs is Takes by the QPNs alone.
func (s *Selection) TakesQPNs(p *Packet) bool { return len(s.QPNs) == 0 || s.names(p) }

// TakesPacket is Takes by what is in the packet alone.
func (s *Selection) TakesPacket(p *Packet) bool { return s.Packets == nil || s.Packets(p) }

func (s *Selection) during(time int64) bool {
	return (s.From == nil || Time(time) >= *s.From) && (s.To == nil || Time(time) < *s.To)
}

// between goes by addresses.
func (s *Selection) between(p *Packet) bool {
	if len(s.Hosts) == 0 {
		return true
	}
	has := false
	for i := range s.Hosts {
		if h := &s.Hosts[i]; h.Has(p.Src) || h.Has(p.Dst) || h.Has(p.SGID) || h.Has(p.DGID) {
			has = true
			meet(&s.metHosts, len(s.Hosts), i)
		}
	}
	return has
}

// meet notes that the i-th of n conditions was met.
func meet(met *[]bool, n, i int) {
	if len(*met) < n {
		*met = append(*met, make([]bool, n-len(*met))...)
	}
	(*met)[i] = true
}

// names goes by QPNs.
func (s *Selection) names(p *Packet) bool {
	t := p.Transport()
	if len(t) < 12 {
		return false
	}
	qpn := be.Uint32(t[4:]) & 0xffffff
	if s.end(p.Src, p.Dst, qpn) {
		return true
	}
	source, ok := sourceQP(t)
	if !ok || s.qpn(source) {
		return ok
	}
	if qpn != 1 {
		return false
	}
	about, ok := managedEnd(p)
	return ok && s.end(about.src, about.dst, about.qpn)
}

// end reports whether a queue pair at dst, to which src sends, is wanted.
func (s *Selection) end(src, dst Address, qpn uint32) bool {
	named := s.qpn(qpn)
	if len(s.ends) == 0 {
		return named
	}
	from, learned := s.ends[halfKey{src: src, dst: dst, qpn: qpn}]
	if learned {
		s.qpn(uint32(from)) // it is met too
	}
	return named || learned
}

// managedEnd is the end that a datagram of connection management to QP 1 is
// about, as the half that goes there.
func managedEnd(p *Packet) (halfKey, bool) {
	const payload = 12 + 8 // BTH and DETH
	t := p.Transport()
	var m codec.CM
	if len(t) < payload || m.Decode(t[payload:]) != nil {
		return halfKey{}, false
	}
	switch {
	case m.Has(codec.HeaderREQ):
		return halfKey{src: p.Dst, dst: p.Src, qpn: m.REQ.LocalQPN}, true
	case m.Has(codec.HeaderREP):
		return halfKey{src: p.Dst, dst: p.Src, qpn: m.REP.LocalQPN}, true
	case m.Has(codec.HeaderDREQ):
		return halfKey{src: p.Src, dst: p.Dst, qpn: m.DREQ.RemoteQPN}, true
	}
	return halfKey{}, false
}

func (s *Selection) qpn(n uint32) bool {
	i := slices.Index(s.QPNs, QPN(n))
	if i >= 0 {
		meet(&s.metQPNs, len(s.QPNs), i)
	}
	return i >= 0
}

// connection reports whether an end has one of the QPNs.
func (s *Selection) connection(c *Connection) bool {
	a, b := c.A != nil && s.qpn(uint32(c.A.QPN)), c.B != nil && s.qpn(uint32(c.B.QPN))
	return a || b
}

// sourceQP is the SrcQP of a packet with a DETH.
func sourceQP(t []byte) (qpn uint32, ok bool) {
	headers := codec.Opcode(t[0]).Headers()
	if !headers.Has(codec.HeaderDETH) {
		return 0, false
	}
	at := 12
	if headers.Has(codec.HeaderRDETH) {
		at += codec.HeaderRDETH.Len()
	}
	if len(t) < at+8 {
		return 0, false
	}
	return be.Uint32(t[at+4:]) & 0xffffff, true
}
