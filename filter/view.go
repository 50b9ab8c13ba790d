package filter

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// view is a packet that is asked about. It is decoded as far as questions need
// it.
type view struct {
	*dissect.Packet
	codec codec.Packet
	fault error // of decoding
	cm    codec.CM
	state dissect.ICRCState

	decoded, managed, checked bool // codec, cm and state are of this packet
}

// take begins with another packet.
func (v *view) take(p *dissect.Packet) {
	v.Packet = p
	v.decoded, v.managed, v.checked = false, false, false
}

// packet decodes the headers.
func (v *view) packet() *codec.Packet {
	if !v.decoded {
		v.decoded = true
		v.fault = v.codec.Decode(v.Transport(), v.WireLen)
	}
	return &v.codec
}

// icrc checks the ICRC.
func (v *view) icrc() dissect.ICRCState {
	if !v.checked {
		v.checked = true
		v.state = v.ICRC()
	}
	return v.state
}

// opcode is that of the BTH; ok is false where that was cut.
func (v *view) opcode() (op codec.Opcode, ok bool) {
	t := v.Transport()
	if len(t) < codec.HeaderBTH.Len() {
		return 0, false
	}
	return codec.Opcode(t[0]), true
}

// header is the bytes of a header, nil if the packet does not have it.
func (v *view) header(h codec.Header) []byte {
	switch {
	case h == codec.HeaderBTH:
		n := h.Len()
		if t := v.Transport(); len(t) >= n {
			return t[:n]
		}
		return nil
	case h == codec.HeaderLRH:
		return v.lrh()
	case h == codec.HeaderGRH:
		if v.Carrier == codec.RoCEv1 || v.Carrier == codec.InfiniBandGRH {
			return v.Covered[:v.BTH]
		}
		return nil
	case h >= codec.HeaderMAD:
		return v.management(h)
	}
	return v.packet().HeaderBytes(h)
}

// lrh is the Local Route Header of native InfiniBand.
func (v *view) lrh() []byte {
	switch n := codec.HeaderLRH.Len(); {
	case v.Carrier == codec.InfiniBand:
		return v.Covered[:v.BTH]
	case v.Carrier == codec.InfiniBandGRH && len(v.Link) >= n:
		return v.Link[len(v.Link)-n:]
	}
	return nil
}

// management is the bytes of a header of a management datagram, which is the
// payload of a packet to queue pair 0 or 1 (IBA 13.5.1).
func (v *view) management(h codec.Header) []byte {
	p := v.packet()
	if !v.managed {
		v.managed = true
		v.cm.Headers = 0
		if v.fault == nil && p.BTH.Opcode == codec.Op(codec.UD, codec.SendOnly) && p.BTH.DestQP <= 1 {
			_ = v.cm.Decode(p.Payload) // what is cut off, or of another class, is no header
		}
	}
	if !v.cm.Has(h) {
		return nil
	}
	at := (v.cm.Headers & (1<<h - 1)).Len()
	return p.Payload[at : at+h.Len()]
}

// ip is the IP header with its options or extension headers, and udp the UDP
// header; nil without, as in a Packet that nobody located.
func (v *view) ip(version uint8) []byte {
	switch {
	case v.BTH < 8:
	case version == 4 && v.Carrier == codec.RoCEv2IPv4, version == 6 && v.Carrier == codec.RoCEv2IPv6:
		return v.Covered[:v.BTH-8]
	}
	return nil
}

func (v *view) udp() []byte {
	if v.BTH < 8 {
		return nil
	}
	if v.Carrier == codec.RoCEv2IPv4 || v.Carrier == codec.RoCEv2IPv6 {
		return v.Covered[v.BTH-8 : v.BTH]
	}
	return nil
}
