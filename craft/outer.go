package craft

import (
	"fmt"
	"net/netip"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/frame"
)

// What outer headers say where nothing else is said.
const (
	hopLimit = 64
	ect0     = 2
	srcPort  = 0xc000
	noFrag   = 2 // of the flags of IPv4: do not fragment
)

var (
	srcMAC, dstMAC = [6]byte{2, 0, 0, 0, 0, 1}, [6]byte{2, 0, 0, 0, 0, 2}
	srcIPv4        = netip.AddrFrom4([4]byte{10, 0, 0, 1})
	dstIPv4        = netip.AddrFrom4([4]byte{10, 0, 0, 2})
	srcIPv6        = netip.MustParseAddr("2001:db8::a00:1")
	dstIPv6        = netip.MustParseAddr("2001:db8::a00:2")
)

const srcLID, dstLID = 1, 2

// appendOuter appends everything before the BTH, which n bytes begin with.
func (m *making) appendOuter(b []byte, n int) ([]byte, error) {
	b, err := m.appendEthernet(b)
	if err != nil {
		return b, err
	}
	encap, err := m.bytes("encap")
	if err != nil {
		return b, err
	}
	b = append(b, encap...)
	m.covered, m.lrh = len(b), len(b)
	switch m.carrier {
	case codec.RoCEv2IPv4:
		return m.appendIPv4(b, n)
	case codec.RoCEv2IPv6:
		return m.appendIPv6(b, n)
	case codec.RoCEv1:
		return m.appendGRH(b, n)
	case codec.InfiniBand:
		return m.appendLRH(b, 8+n, codec.LNHBTH)
	}
	if b, err = m.appendLRH(b, 48+n, codec.LNHGRH); err != nil {
		return b, err
	}
	m.covered = len(b)
	return m.appendGRH(b, n)
}

func (m *making) appendEthernet(b []byte) ([]byte, error) {
	if !m.has("eth") && !m.has("vlan") && (m.link != dissect.LinkEthernet || m.complete) {
		return b, nil
	}
	dst, err := m.mac("eth.dst", dstMAC)
	if err != nil {
		return b, err
	}
	src, err := m.mac("eth.src", srcMAC)
	if err != nil {
		return b, err
	}
	b = append(append(b, dst...), src...)
	if b, err = m.appendTags(b); err != nil {
		return b, err
	}
	usual := map[codec.Carrier]uint64{codec.RoCEv2IPv4: 0x0800, codec.RoCEv2IPv6: 0x86dd, codec.RoCEv1: 0x8915}[m.carrier]
	kind, err := m.number("eth.type", 16, usual)
	return be.AppendUint16(b, uint16(kind)), err
}

// appendTags appends VLAN tags. Of several, all but the last are service tags
// (802.1ad) unless they say what they are.
func (m *making) appendTags(b []byte) ([]byte, error) {
	list, ok := m.get("vlan").([]any)
	if !ok && m.has("vlan") {
		return b, fault("vlan", "%s: want a list of objects of tpid, pcp, dei, id", clip(shown(m.get("vlan"))))
	}
	for i, v := range list {
		key := fmt.Sprintf("vlan[%d]", i)
		in, ok := v.(map[string]any)
		if !ok {
			return b, fault(key, "%s: want an object of tpid, pcp, dei, id", clip(shown(v)))
		}
		if err := strange(key, in, tagKeys); err != nil {
			return b, err
		}
		usual := uint64(0x8100)
		if i+1 < len(list) {
			usual = 0x88a8
		}
		values := [4]uint64{usual}
		for k, bits := range [4]int{16, 3, 1, 12} {
			var err error
			if values[k], err = parseNumber(in[tagKeys[k]], key+"."+tagKeys[k], bits, values[k]); err != nil {
				return b, err
			}
		}
		b = be.AppendUint16(b, uint16(values[0]))
		b = be.AppendUint16(b, uint16(values[1]<<13|values[2]<<12|values[3]))
	}
	return b, nil
}

// row is a number in an outer header.
type row struct {
	key       string
	bits      int
	otherwise uint64
}

// numbers reads rows. What is to be completed and does not fit is a fault of the
// frame's length.
func (m *making) numbers(rows []row) ([]uint64, error) {
	all := make([]uint64, len(rows))
	for i, r := range rows {
		if !m.has(r.key) && r.otherwise>>r.bits != 0 {
			return nil, fault(r.key, "%d: the frame is too long for its headers, want at most %d", r.otherwise, uint64(1)<<r.bits-1)
		}
		var err error
		if all[i], err = m.number(r.key, r.bits, r.otherwise); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (m *making) appendIPv4(b []byte, n int) ([]byte, error) {
	start := len(b)
	options, err := m.bytes("ip.options")
	if err != nil {
		return b, err
	}
	header := uint64(20)
	if len(options)%4 == 0 && len(options) <= 40 {
		header += uint64(len(options))
	}
	total := uint64(20 + len(options) + 8 + n)
	v, err := m.numbers([]row{{"ip.hdr_len", 6, header}, {"ip.dsfield", 8, ect0}, {"ip.len", 16, total}, {"ip.id", 16, 0}, {"ip.flags", 3, noFrag},
		{"ip.frag_offset", 13, 0}, {"ip.ttl", 8, hopLimit}, {"ip.proto", 8, 17}, {"ip.checksum", 16, 0}})
	if err != nil {
		return b, err
	}
	if v[0]%4 != 0 || v[0] > 60 {
		return b, fault("ip.hdr_len", "%d: want a multiple of 4 up to 60", v[0])
	}
	src, dst, err := m.ips(srcIPv4, dstIPv4)
	if err != nil {
		return b, err
	}
	b = append(b, byte(4<<4|v[0]/4), byte(v[1]))
	b = be.AppendUint16(b, uint16(v[2]))
	b = be.AppendUint16(b, uint16(v[3]))
	b = be.AppendUint16(b, uint16(v[4]<<13|v[5]))
	b = append(b, byte(v[6]), byte(v[7]))
	b = be.AppendUint16(b, uint16(v[8]))
	b = append(append(append(b, src...), dst...), options...)
	if !m.has("ip.checksum") {
		be.PutUint16(b[start+10:], frame.Checksum(b[start:min(start+int(v[0]), len(b))]))
	}
	return m.appendUDP(b, n)
}

func (m *making) appendIPv6(b []byte, n int) ([]byte, error) {
	extensions, err := m.bytes("ip.extensions")
	if err != nil {
		return b, err
	}
	v, err := m.numbers([]row{{"ip.tclass", 8, ect0}, {"ip.flow", 20, 0}, {"ip.plen", 16, uint64(len(extensions) + 8 + n)}, {"ip.nxt", 8, 17}, {"ip.hlim", 8, hopLimit}})
	if err != nil {
		return b, err
	}
	src, dst, err := m.ips(srcIPv6, dstIPv6)
	if err != nil {
		return b, err
	}
	b = be.AppendUint32(b, uint32(6<<28|v[0]<<20|v[1]))
	b = be.AppendUint16(b, uint16(v[2]))
	b = append(b, byte(v[3]), byte(v[4]))
	b = append(append(append(b, src...), dst...), extensions...)
	m.checksum = !m.has("udp.checksum")
	return m.appendUDP(b, n)
}

// ips are the addresses of the IP header: its own keys, else those of the packet.
func (m *making) ips(src, dst netip.Addr) (s, d []byte, err error) {
	var both [2][]byte
	for i, name := range [2]string{"src", "dst"} {
		a := [2]netip.Addr{src, dst}[i]
		key := "ip." + name
		if !m.has(key) {
			key = name
		}
		want := a.BitLen()
		if a, err = m.ip(key, a); err != nil {
			return nil, nil, err
		}
		if a.BitLen() != want {
			return nil, nil, fault(key, "%v: want an IPv%d address, as the other one is", a, map[int]int{32: 4, 128: 6}[want])
		}
		both[i] = a.AsSlice()
	}
	return both[0], both[1], nil
}

func (m *making) appendUDP(b []byte, n int) ([]byte, error) {
	port, err := m.number("sport", 16, srcPort)
	if err != nil {
		return b, err
	}
	v, err := m.numbers([]row{{"udp.srcport", 16, port}, {"udp.dstport", 16, frame.Port}, {"udp.length", 16, uint64(8 + n)}, {"udp.checksum", 16, 0}})
	for _, v := range v {
		b = be.AppendUint16(b, uint16(v))
	}
	return b, err
}

func (m *making) appendLRH(b []byte, n int, next uint64) ([]byte, error) {
	slid, dlid := uint64(0), uint64(0)
	var err error
	if !m.has("lrh.slid") {
		if slid, err = m.lid("src", srcLID); err != nil {
			return b, err
		}
	}
	if !m.has("lrh.dlid") {
		if dlid, err = m.lid("dst", dstLID); err != nil {
			return b, err
		}
	}
	return m.appendHeader(b, codec.HeaderLRH, map[string]uint64{"lnh": next, "pktlen": uint64(n) / 4, "slid": slid, "dlid": dlid})
}

func (m *making) appendGRH(b []byte, n int) ([]byte, error) {
	start := len(b)
	b, err := m.appendHeader(b, codec.HeaderGRH, map[string]uint64{"ipver": 6, "tclass": ect0, "paylen": uint64(n), "nxthdr": codec.NxtHdrIBA, "hoplmt": hopLimit})
	if err != nil {
		return b, err
	}
	src, dst := "sgid", "dgid"
	if m.carrier == codec.RoCEv1 {
		src, dst = "src", "dst"
	}
	for i, end := range []struct {
		key, of   string
		otherwise netip.Addr
	}{{"grh.sgid", src, srcIPv4}, {"grh.dgid", dst, dstIPv4}} {
		if m.has(end.key) {
			continue
		}
		a, err := m.ip(end.of, end.otherwise)
		if err != nil {
			return b, err
		}
		gid := a.As16()
		copy(b[start+8+16*i:], gid[:])
	}
	return b, nil
}
