package sim

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/transport"
)

// mad is a management datagram of a connection.
type mad struct {
	pair    *pair
	message codec.Attribute
	payload []byte
}

// service is what the connections are for: port 18515, which examples use, of the
// RDMA IP CM service over TCP's port space (IBA annex A11).
const service codec.ServiceID = 0x0000000001064853

const (
	managementQP  = 1
	managementKey = 0x80010000
	cmTimeout     = 20 // code: 4.3 s
	cmRetries     = 15
)

// request has the sender ask for a connection.
func (r *run) request(p *pair) { r.order(0, p, codec.AttributeREQ) }

// close ends the connection of a pair whose work is done.
func (r *run) close(p *pair) {
	if r.s.Handshake {
		r.order(0, p, codec.AttributeDREQ)
	}
}

func (r *run) order(end int, p *pair, message codec.Attribute) {
	r.hosts[end].urgent.push(order{mad: &mad{pair: p, message: message}})
}

// manage takes a management datagram.
func (r *run) manage(h *host, m *mad) {
	switch m.message {
	case codec.AttributeREQ:
		r.order(h.end, m.pair, codec.AttributeREP)
	case codec.AttributeREP:
		r.order(h.end, m.pair, codec.AttributeRTU)
		r.established(m.pair, h.end)
	case codec.AttributeRTU:
		r.established(m.pair, h.end)
	case codec.AttributeDREQ:
		r.order(h.end, m.pair, codec.AttributeDREP)
	}
}

// datagram makes the packet of a management datagram.
func (r *run) datagram(h *host, f *flight) {
	m := f.mad
	payload, err := r.message(h, m).AppendBinary(make([]byte, 0, codec.MADLen))
	if err != nil {
		r.fail(err)
	}
	m.payload = payload[:codec.MADLen]
	op := codec.Op(codec.UD, codec.SendOnly)
	f.packet = transport.Packet{Packet: codec.Packet{Headers: op.Headers(), Payload: m.payload, PayloadLen: codec.MADLen}}
	f.packet.BTH = codec.BTH{Opcode: op, PKey: 0xffff, DestQP: managementQP, PSN: h.psn}
	h.psn = h.psn.Add(1)
	f.packet.DETH = codec.DETH{QKey: managementKey, SrcQP: managementQP}
}

// message is the message that the datagram carries.
func (r *run) message(h *host, m *mad) *codec.CM {
	p, s := m.pair, r.s
	here, there := h.end, 1-h.end
	c := &codec.CM{Headers: codec.Set(codec.HeaderMAD)}
	c.MAD = codec.MAD{BaseVersion: 1, Class: codec.ClassCM, ClassVersion: 2, Method: 3, Attribute: m.message,
		TransactionID: uint64(p.comm[0])}
	resources := uint8(s.Pairs.ReadLimit)
	switch m.message {
	case codec.AttributeREQ:
		c.Headers |= codec.Set(codec.HeaderREQ)
		c.REQ = codec.REQ{
			LocalCommID: p.comm[here], ServiceID: service, LocalCAGUID: guid(here),
			LocalQPN: p.qpn[here], ResponderResources: resources, InitiatorDepth: resources,
			RemoteCMTimeout: cmTimeout, LocalCMTimeout: cmTimeout, MaxCMRetries: cmRetries,
			StartingPSN: p.start[here], PKey: 0xffff, PathMTU: mtuCode(s.Pairs.MTU),
			RetryCount: uint8(s.Pairs.RetryCount), RNRRetryCount: uint8(s.Pairs.RNRRetryCount),
			Primary: codec.Path{LocalLID: h.LID, RemoteLID: h.peer.LID, LocalGID: s.gid(h.Host), RemoteGID: s.gid(h.peer.Host),
				HopLimit: hopLimit, TrafficClass: s.DSCP << 2, LocalAckTimeout: s.Pairs.AckTimeout},
		}
		if s.Carrier == CarrierIPv4 || s.Carrier == CarrierIPv6 {
			c.Headers |= codec.Set(codec.HeaderIPCM)
			c.IPCM = r.addresses(h, p)
		} else {
			c.REQ.ServiceID = 0x10000000_00000000 | service&0xffff
		}
		r.advertise(c, here)
	case codec.AttributeREP:
		c.Headers |= codec.Set(codec.HeaderREP)
		c.REP = codec.REP{
			LocalCommID: p.comm[here], RemoteCommID: p.comm[there], LocalQPN: p.qpn[here], StartingPSN: p.start[here],
			ResponderResources: resources, InitiatorDepth: resources, RNRRetryCount: uint8(s.Pairs.RNRRetryCount),
			LocalCAGUID: guid(here),
		}
		r.advertise(c, here)
	case codec.AttributeRTU:
		c.Headers |= codec.Set(codec.HeaderRTU)
		c.RTU = codec.RTU{LocalCommID: p.comm[here], RemoteCommID: p.comm[there]}
	case codec.AttributeDREQ:
		c.Headers |= codec.Set(codec.HeaderDREQ)
		c.DREQ = codec.DREQ{LocalCommID: p.comm[here], RemoteCommID: p.comm[there], RemoteQPN: p.qpn[there]}
	case codec.AttributeDREP:
		c.Headers |= codec.Set(codec.HeaderDREP)
		c.DREP = codec.DREP{LocalCommID: p.comm[here], RemoteCommID: p.comm[there]}
	}
	return c
}

// addresses are what the private data of a REQ begin with over IP.
func (r *run) addresses(h *host, p *pair) codec.IPCM {
	a := codec.IPCM{IPVersion: 4, SrcPort: p.port}
	src, dst := r.s.address(h.Host), r.s.address(h.peer.Host)
	if src.Is4() {
		from, to := src.As4(), dst.As4()
		copy(a.SrcAddr[12:], from[:])
		copy(a.DstAddr[12:], to[:])
		return a
	}
	a.IPVersion, a.SrcAddr, a.DstAddr = 6, src.As16(), dst.As16()
	return a
}

// advertise puts the packet rate of a windowless sender into the private data.
func (r *run) advertise(c *codec.CM, end int) {
	if pps := r.s.packetsPerSecond(end); pps > 0 {
		c.Headers |= codec.Set(codec.HeaderRate)
		c.Rate = codec.Rate{Magic: codec.RateMagic, Version: codec.RateVersion, PacketsPerSecond: pps}
	}
}

// guid is made up, in the range of locally administered ones.
func guid(end int) uint64 { return 0x0200_00ff_fe00_0001 + uint64(end) }

// mtuCode is the code that codec.MTU reads.
func mtuCode(mtu int) uint8 {
	code := uint8(1)
	for codec.MTU(code) < mtu {
		code++
	}
	return code
}
