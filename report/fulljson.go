package report

import (
	"encoding/binary"
	"net/netip"
	"strconv"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// appendOuter appends what stands before the BTH: the link header, in fields
// where it is Ethernet and in hex where it is not, what lies between it and the
// IP header (tunnels), and the headers that the ICRC covers.
func appendOuter(b []byte, p *Packet) []byte {
	b = appendNumber(b, "link", uint64(p.Frame.Link))
	b = appendNumber(b, "caplen", uint64(len(p.Frame.Data)))
	b = appendNumber(b, "wirelen", uint64(p.Frame.WireLen))
	head := p.Outer.Link
	covered := p.Outer.Covered[:p.Outer.BTH]
	var lrh []byte
	if p.Outer.Carrier == codec.InfiniBandGRH && len(head) >= 8 {
		head, lrh = head[:len(head)-8], head[len(head)-8:]
	}
	if p.Frame.Link == dissect.LinkEthernet && len(head) >= 14 {
		b, head = appendEthernet(b, head)
	}
	b = appendBytes(b, "encap", head)
	switch p.Outer.Carrier {
	case codec.RoCEv2IPv4:
		b = appendIPv4(b, covered)
		b = appendUDP(b, covered[len(covered)-8:])
	case codec.RoCEv2IPv6:
		b = appendIPv6(b, covered)
		b = appendUDP(b, covered[len(covered)-8:])
	case codec.RoCEv1:
		b = appendAll(b, codec.HeaderGRH, covered)
	case codec.InfiniBandGRH:
		b = appendAll(b, codec.HeaderLRH, lrh)
		b = appendAll(b, codec.HeaderGRH, covered)
	case codec.InfiniBand:
		b = appendAll(b, codec.HeaderLRH, covered)
	}
	return b
}

// appendInner appends the bytes behind the headers, and what the frame holds
// behind the packet.
func appendInner(b []byte, p *Packet) []byte {
	b = append(b, `,"payload":`...)
	b = appendHex(b, p.Payload)
	b = append(b, `,"pad":`...)
	b = appendHex(b, p.Pad)
	b = append(b, `,"icrc_bytes":`...)
	b = appendHex(b, p.rest())
	return appendBytes(b, "trailer", p.Outer.Trailer)
}

func appendNumber(b []byte, key string, v uint64) []byte {
	b = appendKey(b, key)
	return strconv.AppendUint(b, v, 10)
}

// appendBytes appends hex, and nothing at all where there are no bytes.
func appendBytes(b []byte, key string, data []byte) []byte {
	if len(data) == 0 {
		return b
	}
	return appendHex(appendKey(b, key), data)
}

func appendKey(b []byte, key string) []byte {
	b = append(b, ',', '"')
	b = append(b, key...)
	return append(b, '"', ':')
}

// appendAll appends a header with all its fields.
func appendAll(b []byte, h codec.Header, raw []byte) []byte {
	b = appendKey(b, h.Key())
	b = append(b, '{')
	from := len(b)
	b = appendFields(b, h, raw, len(h.Fields()), true)
	return endObject(b, from)
}

// endObject takes the comma away that stands before the first member.
func endObject(b []byte, from int) []byte {
	if len(b) > from && b[from] == ',' {
		b = append(b[:from], b[from+1:]...)
	}
	return append(b, '}')
}

// appendEthernet appends the outermost Ethernet header and its VLAN tags, and
// returns what follows them in head.
func appendEthernet(b, head []byte) (_, rest []byte) {
	b = append(b, `,"eth":{"dst":`...)
	b = appendMAC(b, head)
	b = append(b, `,"src":`...)
	b = appendMAC(b, head[6:])
	kind, rest := binary.BigEndian.Uint16(head[12:]), head[14:]
	tags := 0
	var vlan []byte
	for isVLAN(kind) && len(rest) >= 4 {
		tci := binary.BigEndian.Uint16(rest)
		if tags > 0 {
			vlan = append(vlan, ',')
		}
		vlan = append(vlan, `{"tpid":`...)
		vlan = strconv.AppendUint(vlan, uint64(kind), 10)
		vlan = appendNumber(vlan, "pcp", uint64(tci>>13))
		vlan = appendNumber(vlan, "dei", uint64(tci>>12&1))
		vlan = appendNumber(vlan, "id", uint64(tci&0xfff))
		vlan = append(vlan, '}')
		kind, rest = binary.BigEndian.Uint16(rest[2:]), rest[4:]
		tags++
	}
	b = appendNumber(b, "type", uint64(kind))
	b = append(b, '}')
	if tags > 0 {
		b = append(b, `,"vlan":[`...)
		b = append(b, vlan...)
		b = append(b, ']')
	}
	return b, rest
}

// isVLAN reports the Ethertypes that a VLAN tag begins with: 802.1Q, 802.1ad
// and the older QinQ ones.
func isVLAN(kind uint16) bool {
	switch kind {
	case 0x8100, 0x88a8, 0x9100, 0x9200:
		return true
	}
	return false
}

func appendMAC(b, mac []byte) []byte {
	b = append(b, '"')
	for i, c := range mac[:6] {
		if i > 0 {
			b = append(b, ':')
		}
		b = append(b, hexDigits[c>>4], hexDigits[c&15])
	}
	return append(b, '"')
}

func appendIPv4(b, h []byte) []byte {
	u16 := func(i int) uint64 { return uint64(binary.BigEndian.Uint16(h[i:])) }
	b = append(b, `,"ip":{"version":4`...)
	b = appendNumber(b, "hdr_len", uint64(h[0]&15)*4)
	b = appendNumber(b, "dsfield", uint64(h[1]))
	b = appendNumber(b, "len", u16(2))
	b = appendNumber(b, "id", u16(4))
	b = appendNumber(b, "flags", u16(6)>>13)
	b = appendNumber(b, "frag_offset", u16(6)&0x1fff)
	b = appendNumber(b, "ttl", uint64(h[8]))
	b = appendNumber(b, "proto", uint64(h[9]))
	b = appendNumber(b, "checksum", u16(10))
	b = appendIP(b, `,"src":`, netip.AddrFrom4([4]byte(h[12:])))
	b = appendIP(b, `,"dst":`, netip.AddrFrom4([4]byte(h[16:])))
	b = appendBytes(b, "options", h[20:len(h)-8])
	return append(b, '}')
}

func appendIPv6(b, h []byte) []byte {
	word := binary.BigEndian.Uint32(h)
	b = append(b, `,"ip":{"version":6`...)
	b = appendNumber(b, "tclass", uint64(word>>20&0xff))
	b = appendNumber(b, "flow", uint64(word&0xfffff))
	b = appendNumber(b, "plen", uint64(binary.BigEndian.Uint16(h[4:])))
	b = appendNumber(b, "nxt", uint64(h[6]))
	b = appendNumber(b, "hlim", uint64(h[7]))
	b = appendIP(b, `,"src":`, netip.AddrFrom16([16]byte(h[8:])))
	b = appendIP(b, `,"dst":`, netip.AddrFrom16([16]byte(h[24:])))
	b = appendBytes(b, "extensions", h[40:len(h)-8])
	return append(b, '}')
}

func appendIP(b []byte, key string, ip netip.Addr) []byte {
	b = append(b, key...)
	b = append(b, '"')
	b = ip.AppendTo(b)
	return append(b, '"')
}

func appendUDP(b, h []byte) []byte {
	u16 := func(i int) uint64 { return uint64(binary.BigEndian.Uint16(h[i:])) }
	b = append(b, `,"udp":{"srcport":`...)
	b = strconv.AppendUint(b, u16(0), 10)
	b = appendNumber(b, "dstport", u16(2))
	b = appendNumber(b, "length", u16(4))
	b = appendNumber(b, "checksum", u16(6))
	return append(b, '}')
}
