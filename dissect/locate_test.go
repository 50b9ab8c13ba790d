package dissect

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
)

func TestLocateVectors(t *testing.T) {
	var l Locator
	for _, v := range readVectors(t) {
		var p Packet
		var c codec.Packet
		outcome := l.Locate(&v.frame, &p)
		grade := Implausible
		if outcome == Found {
			err := c.Decode(p.Transport(), p.WireLen)
			if errors.Is(err, codec.ErrTruncated) && !c.Has(codec.HeaderBTH) {
				t.Errorf("line %d: found without a BTH", v.line)
			}
			grade = p.Judge(&c.BTH, p.ICRC())
		}
		if v.want == nil {
			if grade != Implausible {
				t.Errorf("line %d (%s): taken for RDMA: %v, %s", v.line, v.note, outcome, grade)
			}
			continue
		}
		if outcome != Found {
			t.Errorf("line %d (%s): %v", v.line, v.note, outcome)
			continue
		}
		if grade == Implausible {
			t.Errorf("line %d (%s): implausible", v.line, v.note)
		}
		var tunnels []string
		for _, tunnel := range p.Tunnels[:p.Tunnels.Len()] {
			tunnels = append(tunnels, tunnel.String())
		}
		got := map[string]string{
			"carrier": p.Carrier.String(), "src": p.Src.String(), "dst": p.Dst.String(), "sport": fmt.Sprint(p.SrcPort),
			"opcode": fmt.Sprint(uint8(c.BTH.Opcode)), "destqp": fmt.Sprint(c.BTH.DestQP), "psn": fmt.Sprint(c.BTH.PSN),
			"payload_len": fmt.Sprint(c.PayloadLen), "icrc": p.ICRC().String(), "grade": grade.String(),
			"tunnel": strings.Join(tunnels, ","), "vlan": fmt.Sprint(p.VLAN), "vni": fmt.Sprint(p.VNI),
		}
		for key, want := range v.want {
			if got[key] != want {
				t.Errorf("line %d (%s): %s is %s, want %s", v.line, v.note, key, got[key], want)
			}
		}
		if len(tunnels) > 0 && v.want["tunnel"] == "" {
			t.Errorf("line %d (%s): tunnels %v", v.line, v.note, tunnels)
		}
	}
}

// built are frames that hold the packet send, and what surrounds it.
type built struct {
	name    string
	link    LinkType
	data    []byte
	carrier codec.Carrier
	tunnels []Tunnel
	vlan    uint16
	vni     uint32
	trailer int
}

func builtFrames() []built {
	padding := make([]byte, 11)
	inner := ethernet("0800", rocev2over4())
	const v4, v6 = codec.RoCEv2IPv4, codec.RoCEv2IPv6
	all := []built{
		{"Ethernet IPv4", LinkEthernet, inner, v4, nil, 0, 0, 0},
		{"Ethernet IPv6", LinkEthernet, ethernet("86dd", rocev2over6()), v6, nil, 0, 0, 0},
		{"padding", LinkEthernet, slices.Concat(inner, padding), v4, nil, 0, 0, 11},
		{"padding IPv6", LinkEthernet, slices.Concat(ethernet("86dd", rocev2over6()), padding), v6, nil, 0, 0, 11},
		{"RoCEv1", LinkEthernet, slices.Concat(ethernet("8915", rocev1()), padding), codec.RoCEv1, nil, 0, 0, 11},
		{"802.1Q", LinkEthernet, ethernet("8100 e064 0800", rocev2over4()), v4, nil, 100, 0, 0},
		{"802.1ad", LinkEthernet, ethernet("88a8 0064 8100 6fff 86dd", rocev2over6()), v6, nil, 0xfff, 0, 0},
		{"0x9100", LinkEthernet, ethernet("9100 0064 8100 0002 8915", rocev1()), codec.RoCEv1, nil, 2, 0, 0},
		{"0x9200", LinkEthernet, ethernet("9200 0003 0800", rocev2over4()), v4, nil, 3, 0, 0},

		{"hop-by-hop", LinkEthernet, ethernet("86dd", extended(0, "1100 050200000100")), v6, nil, 0, 0, 0},
		{"routing", LinkEthernet, ethernet("86dd", extended(43, "1102 0400 00000000 20010db8000000000000000000000003")), v6, nil, 0, 0, 0},
		{"destination, routing, destination", LinkEthernet, ethernet("86dd", extended(60, "2b00 010400000000 3c00 030000000000 1101 010c000000000000000000000000")), v6, nil, 0, 0, 0},
		{"atomic fragment", LinkEthernet, ethernet("86dd", extended(44, "1100 0000 00000001")), v6, nil, 0, 0, 0},
		{"AH", LinkEthernet, ethernet("86dd", extended(51, "1104 0000 00000001 00000002 000102030405060708090a0b")), v6, nil, 0, 0, 0},

		{"cooked v1", LinkLinuxSLL, behind("0000 0001 0006 0200000000010000 0800", rocev2over4()), v4, nil, 0, 0, 0},
		{"cooked v1, tag", LinkLinuxSLL, behind("0000 0001 0006 0200000000010000 8100 0007 86dd", rocev2over6()), v6, nil, 7, 0, 0},
		{"cooked v2", LinkLinuxSLL2, behind("0800 0000 00000002 0001 00 06 0200000000010000", rocev2over4()), v4, nil, 0, 0, 0},
		{"cooked v2 RoCEv1", LinkLinuxSLL2, behind("8915 0000 00000002 0001 00 06 0200000000010000", rocev1()), codec.RoCEv1, nil, 0, 0, 0},
		{"raw IPv4", LinkRaw, rocev2over4(), v4, nil, 0, 0, 0},
		{"raw IPv6", LinkRaw, rocev2over6(), v6, nil, 0, 0, 0},
		{"IPv4", LinkIPv4, rocev2over4(), v4, nil, 0, 0, 0},
		{"IPv6", LinkIPv6, rocev2over6(), v6, nil, 0, 0, 0},
		{"null, little endian", LinkNull, behind("02000000", rocev2over4()), v4, nil, 0, 0, 0},
		{"null, big endian", LinkNull, behind("00000002", rocev2over4()), v4, nil, 0, 0, 0},
		{"null IPv6, macOS", LinkNull, behind("1e000000", rocev2over6()), v6, nil, 0, 0, 0},
		{"loop IPv6, OpenBSD", LinkLoop, behind("00000018", rocev2over6()), v6, nil, 0, 0, 0},
		{"InfiniBand", LinkInfiniBand, infiniband(), codec.InfiniBand, nil, 0, 0, 2},
		{"InfiniBand GRH", LinkInfiniBand, infinibandGRH(), codec.InfiniBandGRH, nil, 0, 0, 2},
		{"ERF InfiniBand", LinkERF, erf(21, 0, infiniband()), codec.InfiniBand, nil, 0, 0, 2},
		{"ERF InfiniBand, extension headers", LinkERF, erf(21, 3, infinibandGRH()), codec.InfiniBandGRH, nil, 0, 0, 2},
		{"ERF Ethernet", LinkERF, erf(2, 0, behind("0000", inner)), v4, nil, 0, 0, 0},
		{"ERF Ethernet, colour, extension header", LinkERF, erf(11, 1, behind("0000", inner)), v4, nil, 0, 0, 0},
		{"ERF IPv6", LinkERF, erf(23, 0, rocev2over6()), v6, nil, 0, 0, 0},

		{"VXLAN", LinkEthernet, ethernet("0800", ipv4(17, udp(4789, behind("08000000 00138800", inner)))), v4, []Tunnel{VXLAN}, 0, 5000, 0},
		{"VXLAN over IPv6, tags", LinkEthernet, ethernet("8100 0009 86dd", ipv6(17, udp(8472, behind("08000000 ffffff00", ethernet("8100 0008 8915", rocev1()))))), codec.RoCEv1, []Tunnel{VXLAN}, 8, 0xffffff, 0},
		{"VXLAN, tag outside", LinkEthernet, ethernet("8100 0009 86dd", ipv6(17, udp(4789, behind("08000000 00000100", inner)))), v4, []Tunnel{VXLAN}, 0, 1, 0},
		{"GENEVE, options", LinkEthernet, ethernet("0800", ipv4(17, udp(6081, behind("0200 6558 00138800 0102800100000000", inner)))), v4, []Tunnel{GENEVE}, 0, 5000, 0},
		{"GENEVE IP", LinkEthernet, ethernet("0800", ipv4(17, udp(6081, behind("0000 86dd 00138800", rocev2over6())))), v6, []Tunnel{GENEVE}, 0, 5000, 0},
		{"GRE", LinkEthernet, ethernet("0800", ipv4(47, behind("0000 86dd", rocev2over6()))), v6, []Tunnel{GRE}, 0, 0, 0},
		{"GRE, checksum, key, sequence", LinkEthernet, ethernet("86dd", ipv6(47, behind("b000 0800 00000000 00012345 00000001", rocev2over4()))), v4, []Tunnel{GRE}, 0, 0, 0},
		{"GRE Ethernet", LinkEthernet, ethernet("0800", ipv4(47, behind("0000 6558", inner))), v4, []Tunnel{GRE}, 0, 0, 0},
		{"NVGRE", LinkEthernet, ethernet("0800", ipv4(47, behind("2000 6558 00123456", inner))), v4, []Tunnel{GRE}, 0, 0x1234, 0},
		{"NVGRE, checksum, RoCEv1", LinkEthernet, ethernet("0800", ipv4(47, behind("a000 6558 00000000 00123456", ethernet("8915", rocev1())))), codec.RoCEv1, []Tunnel{GRE}, 0, 0x1234, 0},
		{"ERSPAN I", LinkEthernet, ethernet("0800", ipv4(47, behind("0000 88be", inner))), v4, []Tunnel{ERSPAN1}, 0, 0, 0},
		{"ERSPAN II", LinkEthernet, ethernet("0800", ipv4(47, behind("1000 88be 00000001 1064 0064 00000005", inner))), v4, []Tunnel{ERSPAN2}, 0, 0, 0},
		{"ERSPAN III", LinkEthernet, ethernet("0800", ipv4(47, behind("1000 22eb 00000001 2064 0064 00000005 0000 0000", inner))), v4, []Tunnel{ERSPAN3}, 0, 0, 0},
		{"ERSPAN III, subheader", LinkEthernet, ethernet("0800", ipv4(47, behind("1000 22eb 00000001 2064 0064 00000005 0000 8001 0000000000000000", inner))), v4, []Tunnel{ERSPAN3}, 0, 0, 0},
		{"ERSPAN III, IP", LinkEthernet, ethernet("0800", ipv4(47, behind("1000 22eb 00000001 2064 0064 00000005 0000 0800", rocev2over6()))), v6, []Tunnel{ERSPAN3}, 0, 0, 0},
		{"IPv4 in IPv4", LinkEthernet, ethernet("0800", ipv4(4, rocev2over4())), v4, []Tunnel{IPIP}, 0, 0, 0},
		{"IPv6 in IPv4", LinkEthernet, ethernet("0800", ipv4(41, rocev2over6())), v6, []Tunnel{IPIP}, 0, 0, 0},
		{"IPv4 in IPv6", LinkEthernet, ethernet("86dd", ipv6(4, rocev2over4())), v4, []Tunnel{IPIP}, 0, 0, 0},
		{"IPv6 in IPv6, options", LinkEthernet, ethernet("86dd", ipv6(60, behind("2900 040104000000", rocev2over6()))), v6, []Tunnel{IPIP}, 0, 0, 0},
		{"MPLS", LinkEthernet, ethernet("8847 00010140", rocev2over4()), v4, []Tunnel{MPLS}, 0, 0, 0},
		{"MPLS, three labels", LinkEthernet, ethernet("8848 00010040 00020040 00030140", rocev2over6()), v6, []Tunnel{MPLS, MPLS, MPLS}, 0, 0, 0},
		{"MPLS, pseudowire", LinkEthernet, ethernet("8847 00010140", inner), v4, []Tunnel{MPLS}, 0, 0, 0},
		{"MPLS, pseudowire, control word", LinkEthernet, ethernet("8847 00010140 00000000", inner), v4, []Tunnel{MPLS}, 0, 0, 0},
		{"MPLS in IP", LinkEthernet, ethernet("0800", ipv4(137, behind("00010140", rocev2over4()))), v4, []Tunnel{MPLS}, 0, 0, 0},
		{"ERSPAN II of VXLAN", LinkEthernet, slices.Concat(ethernet("0800", ipv4(47, behind("1000 88be 00000001 1064 0064 00000005",
			ethernet("8100 0005 0800", ipv4(17, udp(4789, behind("08000000 00138800", inner))))))), padding), v4, []Tunnel{ERSPAN2, VXLAN}, 0, 5000, 11},
	}
	nested := rocev2over4()
	for range 8 {
		nested = ipv4(4, nested)
	}
	return append(all, built{"eight deep", LinkRaw, nested, v4, slices.Repeat([]Tunnel{IPIP}, 8), 0, 0, 0})
}

func TestLocateEncapsulations(t *testing.T) {
	var l Locator
	for _, tc := range builtFrames() {
		p := dirty(t)
		f := Frame{Data: tc.data, WireLen: len(tc.data), Time: 5, Link: tc.link, Number: 7, File: 2}
		if outcome := l.Locate(&f, &p); outcome != Found {
			t.Errorf("%s: %v", tc.name, outcome)
			continue
		}
		var want Tunnels
		copy(want[:], tc.tunnels)
		if p.Carrier != tc.carrier || p.Tunnels != want || p.VLAN != tc.vlan || p.VNI != tc.vni {
			t.Errorf("%s: carrier %d, tunnels %v, VLAN %d, VNI %d", tc.name, p.Carrier, p.Tunnels, p.VLAN, p.VNI)
		}
		if len(p.Trailer) != tc.trailer {
			t.Errorf("%s: trailer of %d bytes", tc.name, len(p.Trailer))
		}
		if got := p.Transport(); len(got) != len(send)+4 || string(got[:len(send)]) != string(send) {
			t.Errorf("%s: transport packet %x", tc.name, got)
		}
		if p.WireLen != len(send)+4 || p.ICRC() != ICRCGood {
			t.Errorf("%s: %d bytes on the wire, ICRC %v", tc.name, p.WireLen, p.ICRC())
		}
		type around struct {
			src, dst, sgid, dgid string
			port, id             uint16
			traffic, hops        uint8
		}
		got := around{p.Src.String(), p.Dst.String(), p.SGID.String(), p.DGID.String(), p.SrcPort, p.IPID, p.Traffic, p.HopLimit}
		const a, b = "2001:db8::1", "2001:db8::2"
		wantAround := map[codec.Carrier]around{
			codec.RoCEv2IPv4:    {"192.0.2.1", "192.0.2.2", "", "", 0xc123, 0x1234, 0x1a, 61},
			codec.RoCEv2IPv6:    {a, b, "", "", 0xc123, 0, 0x1a, 61},
			codec.RoCEv1:        {a, b, "", "", 0, 0, 0x1a, 61},
			codec.InfiniBand:    {"lid:8", "lid:5", "", "", 0, 0, 0, 0},
			codec.InfiniBandGRH: {"lid:8", "lid:5", a, b, 0, 0, 0x1a, 61},
		}[tc.carrier]
		if got != wantAround {
			t.Errorf("%s: %+v, want %+v", tc.name, got, wantAround)
		}
		if p.Number != 7 || p.File != 2 || p.Time != 5 {
			t.Errorf("%s: frame %d of file %d at %d", tc.name, p.Number, p.File, p.Time)
		}
	}
}

func TestLocateRefusals(t *testing.T) {
	nested := rocev2over4()
	for range 9 {
		nested = ipv4(4, nested)
	}
	labels := "8847" + strings.Repeat("00010040", 8) + "00010140"
	whole := rocev2over4()
	short := func(n int) []byte { // a datagram with n bytes in it
		return ethernet("0800", ipv4(17, udp(RoCEv2Port, send[:n])))
	}
	patch := func(b []byte, at int, value string) []byte {
		b = slices.Clone(b)
		copy(b[at:], unhex(value))
		return b
	}
	for _, tc := range []struct {
		name string
		link LinkType
		data []byte
		want Outcome
	}{
		{"nothing", LinkEthernet, nil, NotRDMA},
		{"unknown link type", 147, ethernet("0800", whole), NotRDMA},
		{"no link type at all", 65535, ethernet("0800", whole), NotRDMA},
		{"source port", LinkEthernet, ethernet("0800", ipv4(17, behind("12b7 0035 0024 0000", slices.Concat(send, spare)))), NotRDMA},
		{"TCP", LinkEthernet, ethernet("0800", ipv4(6, datagram())), NotRDMA},
		{"802.3 length", LinkEthernet, ethernet("0040", whole), NotRDMA},
		{"quoted in ICMP", LinkEthernet, ethernet("0800", ipv4(1, behind("0303 0000 00000000", whole))), NotRDMA},
		{"quoted in ICMPv6", LinkEthernet, ethernet("86dd", ipv6(58, behind("0104 0000 00000000", rocev2over6()))), NotRDMA},
		{"ESP", LinkEthernet, ethernet("0800", ipv4(50, datagram())), NotRDMA},
		{"no next header", LinkEthernet, ethernet("86dd", ipv6(59, datagram())), NotRDMA},
		{"empty datagram", LinkEthernet, short(0), NotRDMA},
		{"11 bytes of BTH", LinkEthernet, short(11), NotRDMA},
		{"11 bytes of BTH, padded", LinkEthernet, slices.Concat(short(11), make([]byte, 20)), NotRDMA},
		{"BTH alone", LinkEthernet, short(12), Found},
		{"UDP length below its header", LinkRaw, patch(whole, 24, "0007"), NotRDMA},
		{"IPv4 length below its header", LinkRaw, patch(whole, 2, "0013"), NotRDMA},
		{"IPv4 ends within the UDP header", LinkRaw, patch(whole, 2, "001b"), NotRDMA},
		{"IHL 4", LinkRaw, patch(whole, 0, "44"), NotRDMA},
		{"IHL 15 without options", LinkRaw, patch(whole[:50], 0, "4f"), NotRDMA},
		{"version 5", LinkIPv4, patch(whole, 0, "55"), NotRDMA},
		{"first fragment", LinkEthernet, ethernet("0800", ipv4Fragment(17, "2000", datagram())), Fragment},
		{"last fragment", LinkEthernet, ethernet("0800", ipv4Fragment(17, "0003", send)), Fragment},
		{"fragment of GRE", LinkEthernet, ethernet("0800", ipv4Fragment(47, "2000", send)), Fragment},
		{"fragment of TCP", LinkEthernet, ethernet("0800", ipv4Fragment(6, "2000", send)), NotRDMA},
		{"fragment inside VXLAN", LinkEthernet, ethernet("0800", ipv4(17, udp(4789, behind("08000000 00000100", ethernet("0800", ipv4Fragment(17, "0003", send)))))), Fragment},
		{"first IPv6 fragment", LinkEthernet, ethernet("86dd", ipv6(44, behind("1100 0001 00000001", datagram()))), Fragment},
		{"last IPv6 fragment", LinkEthernet, ethernet("86dd", ipv6(44, behind("1100 0018 00000001", send))), Fragment},
		{"IPv6 fragment of TCP", LinkEthernet, ethernet("86dd", ipv6(44, behind("0600 0001 00000001", send))), NotRDMA},
		{"RoCEv1 with another next header", LinkEthernet, ethernet("8915", ipv6(17, datagram())), NotRDMA},
		{"RoCEv1 of 11 bytes", LinkEthernet, ethernet("8915", ipv6(0x1b, send[:11])), NotRDMA},
		{"raw InfiniBand, IPv6", LinkInfiniBand, patch(infiniband(), 1, "01"), NotRDMA},
		{"raw InfiniBand, Ethertype", LinkInfiniBand, patch(infiniband(), 1, "00"), NotRDMA},
		{"InfiniBand of 2 words", LinkInfiniBand, patch(infiniband(), 4, "0002"), NotRDMA},
		{"InfiniBand of no length", LinkInfiniBand, patch(infiniband(), 4, "0000"), NotRDMA},
		{"InfiniBand with a GRH and no length", LinkInfiniBand, patch(infinibandGRH(), 4, "0000"), NotRDMA},
		{"ERF of another type", LinkERF, erf(1, 0, infiniband()), NotRDMA},
		{"ERF Ethernet that ends before its offset", LinkERF, erf(2, 0, nil), NotRDMA},
		{"ERF extension headers without end", LinkERF, unhex("0000000000000000 95 04 0020 0000 0010 8000000000000000 8000000000000000"), NotRDMA},
		{"VXLAN without a VNI", LinkEthernet, ethernet("0800", ipv4(17, udp(4789, behind("00000000 00138800", ethernet("0800", whole))))), NotRDMA},
		{"GENEVE version 1", LinkEthernet, ethernet("0800", ipv4(17, udp(6081, behind("4000 6558 00138800", ethernet("0800", whole))))), NotRDMA},
		{"GRE version 1", LinkEthernet, ethernet("0800", ipv4(47, behind("0001 0800", whole))), NotRDMA},
		{"GRE with source routes", LinkEthernet, ethernet("0800", ipv4(47, behind("4000 0800", whole))), NotRDMA},
		{"ERSPAN II with another version", LinkEthernet, ethernet("0800", ipv4(47, behind("1000 88be 00000001 2064 0064 00000005", ethernet("0800", whole)))), NotRDMA},
		{"nine deep", LinkRaw, nested, NotRDMA},
		{"nine labels", LinkEthernet, ethernet(labels, whole), NotRDMA},
	} {
		p := dirty(t)
		f := Frame{Data: tc.data, WireLen: len(tc.data), Link: tc.link, Number: 3}
		var l Locator
		if got := l.Locate(&f, &p); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
		if tc.want != Found && !reflect.DeepEqual(p, Packet{Number: 3}) {
			t.Errorf("%s: left %+v", tc.name, p)
		}
	}
}

// Lengths come from the innermost header that has one, and a length of zero
// leaves it to the header around.
func TestLocateLengths(t *testing.T) {
	frame := func(ipLen, udpLen uint16, extra int) []byte {
		b := slices.Concat(ethernet("0800", rocev2over4()), make([]byte, extra))
		be.PutUint16(b[16:], ipLen)
		be.PutUint16(b[38:], udpLen)
		return b
	}
	const wire = 24 // of send and its ICRC
	for _, tc := range []struct {
		name          string
		ipLen, udpLen uint16
		extra         int // bytes behind the packet
		captured      int // of the frame, 0 for all
		want          int
	}{
		{"as sent", 28 + wire, 8 + wire, 0, 0, wire},
		{"padding", 28 + wire, 8 + wire, 9, 0, wire},
		{"no IP length", 0, 8 + wire, 9, 0, wire},
		{"no UDP length", 28 + wire, 0, 9, 0, wire},
		{"no length at all", 0, 0, 0, 0, wire},
		{"UDP ends before IP", 28 + wire, 8 + 16, 0, 0, 16},
		{"UDP ends behind IP", 28 + wire, 8 + wire + 4, 9, 0, wire},
		{"IP ends behind the frame", 28 + 1000, 8 + 1000, 0, 0, 1000},
		{"no IP length, UDP ends behind the frame", 0, 8 + 1000, 0, 0, wire},
		{"cut", 28 + wire, 8 + wire, 0, 60, wire},
		{"cut, no UDP length", 28 + wire, 0, 0, 60, wire},
		{"cut, no length at all", 0, 0, 0, 60, wire},
	} {
		b := frame(tc.ipLen, tc.udpLen, tc.extra)
		f := Frame{Data: b, WireLen: len(b), Link: LinkEthernet}
		if tc.captured > 0 {
			f.Data = b[:tc.captured]
		}
		var l Locator
		var p Packet
		if got := l.Locate(&f, &p); got != Found || p.WireLen != tc.want {
			t.Errorf("%s: %v, %d bytes on the wire, want %d", tc.name, got, p.WireLen, tc.want)
			continue
		}
		if got, want := len(p.Transport()), min(tc.want, len(f.Data)-42); got != want {
			t.Errorf("%s: %d bytes captured, want %d", tc.name, got, want)
		}
		if tc.captured > 0 && p.ICRC() != ICRCAbsent {
			t.Errorf("%s: ICRC of a cut frame is %v", tc.name, p.ICRC())
		}
	}
}

// The LRH's length has 11 bits; what is reserved before it is none of it.
func TestLocateLRHLength(t *testing.T) {
	b := infiniband()
	b[4] |= 0xf8
	var l Locator
	var p Packet
	if got := l.Locate(&Frame{Data: b, WireLen: len(b), Link: LinkInfiniBand}, &p); got != Found || p.WireLen != 24 || len(p.Trailer) != 2 {
		t.Errorf("%v, %d bytes on the wire, trailer %d", got, p.WireLen, len(p.Trailer))
	}
}

// Where the headers leave the length open an ERF record says what is its own
// padding.
func TestLocateERFPadding(t *testing.T) {
	ip := rocev2over4()
	be.PutUint16(ip[2:], 0)
	be.PutUint16(ip[24:], 0)
	b := append(erf(22, 0, ip), 0, 0, 0, 0)
	be.PutUint16(b[10:], uint16(len(b)))
	var l Locator
	var p Packet
	if got := l.Locate(&Frame{Data: b, WireLen: len(b), Link: LinkERF}, &p); got != Found || p.WireLen != 24 || len(p.Trailer) != 4 {
		t.Errorf("%v, %d bytes on the wire, trailer %d", got, p.WireLen, len(p.Trailer))
	}
}

// A mirror that cuts its frames short ends where the outer packet ends, not
// where its padding does.
func TestLocateCutInsideTunnel(t *testing.T) {
	inner := ethernet("0800", rocev2over4())
	cut := inner[:len(inner)-6]
	b := slices.Concat(ethernet("0800", ipv4(47, behind("1000 88be 00000001 1064 0064 00000005", cut))), make([]byte, 20))
	f := Frame{Data: b, WireLen: len(b), Link: LinkEthernet}
	var l Locator
	var p Packet
	if got := l.Locate(&f, &p); got != Found {
		t.Fatal(got)
	}
	if !p.Cut || p.WireLen != 24 || len(p.Transport()) != 18 || len(p.Trailer) != 20 || p.ICRC() != ICRCAbsent {
		t.Errorf("%d of %d bytes, trailer %d, ICRC %v", len(p.Transport()), p.WireLen, len(p.Trailer), p.ICRC())
	}
}

// Where the outer packet ends within the BTH, its padding is still part of the
// frame.
func TestLocateCutBTHInsideTunnel(t *testing.T) {
	inner := ethernet("0800", rocev2over4())
	b := slices.Concat(ethernet("0800", ipv4(47, behind("1000 88be 00000001 1064 0064 00000005", inner[:46]))), make([]byte, 20))
	var l Locator
	var p Packet
	if got := l.Locate(&Frame{Data: b, WireLen: len(b), Link: LinkEthernet}, &p); got != Cut {
		t.Fatal(got)
	}
	if all := slices.Concat(p.Link, p.Covered, p.Trailer); len(p.Transport()) != 4 || len(p.Trailer) != 20 || string(all) != string(b) {
		t.Errorf("%d bytes of the BTH, trailer %d, parts make %x", len(p.Transport()), len(p.Trailer), all)
	}
}

func TestLocateUDPPorts(t *testing.T) {
	at := func(port int) *Frame {
		b := ethernet("0800", ipv4(17, udp(port, slices.Concat(send, spare))))
		return &Frame{Data: b, WireLen: len(b), Link: LinkEthernet}
	}
	l := Locator{UDPPorts: []uint16{1021, 4789}}
	var p Packet
	for port, want := range map[int]Outcome{4791: Found, 1021: Found, 4789: Found, 1022: NotRDMA, 6081: NotRDMA} {
		if got := l.Locate(at(port), &p); got != want {
			t.Errorf("port %d: %v, want %v", port, got, want)
		}
	}
}

// dirty is a packet of which no field is as Locate leaves it for anything.
func dirty(tb testing.TB) Packet {
	junk := AddressFrom4([]byte{9, 9, 9, 9})
	p := Packet{-1, -1, -1, 99, junk, junk, 9, 9, 9, 9, 9, 9, Tunnels{9, 9, 9, 9, 9, 9, 9, 9}, junk, junk,
		[]byte{9}, []byte{9}, []byte{9}, true, -1, -1}
	v := reflect.ValueOf(p)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			tb.Fatalf("%s is not dirty", v.Type().Field(i).Name)
		}
	}
	return p
}

// everyFrame are all frames at hand, whole.
func everyFrame(tb testing.TB) []Frame {
	var all []Frame
	for _, v := range readVectors(tb) {
		all = append(all, v.frame)
	}
	for _, b := range builtFrames() {
		all = append(all, Frame{Data: b.data, WireLen: len(b.data), Link: b.link, Number: 1})
	}
	return all
}

// A capture that was cut anywhere leads to the same packet, as far as it goes,
// or to none; and the fast path says what the slow one says.
func TestLocatePrefixes(t *testing.T) {
	var l Locator
	for _, whole := range everyFrame(t) {
		var want Packet
		outcome := l.Locate(&whole, &want)
		for n := range len(whole.Data) + 1 {
			f := whole
			f.Data = whole.Data[:n:n]
			p, slow := dirty(t), dirty(t)
			got := l.Locate(&f, &p)
			if other := l.follow(&f, &slow); other != got || !reflect.DeepEqual(p, slow) {
				t.Fatalf("%x: fast path %v %+v\nslow path %v %+v", f.Data, got, p, other, slow)
			}
			if got == Found {
				if outcome != Found || p.WireLen != want.WireLen || p.BTH != want.BTH || len(p.Link) != len(want.Link) {
					t.Fatalf("%x: %v of %d bytes, whole: %v of %d", f.Data, got, p.WireLen, outcome, want.WireLen)
				}
				if len(p.Covered) < p.BTH+12 || len(p.Transport()) > p.WireLen {
					t.Fatalf("%x: %d bytes covered, BTH at %d, %d on the wire", f.Data, len(p.Covered), p.BTH, p.WireLen)
				}
				if all := slices.Concat(p.Link, p.Covered, p.Trailer); string(all) != string(f.Data) {
					t.Fatalf("%x: parts do not make the frame: %x", f.Data, all)
				}
			}
			if outcome == Found && n >= len(want.Link)+want.BTH+12 && got != Found {
				t.Fatalf("%x: %v, though the BTH is there", f.Data, got)
			}
			f.WireLen = n
			l.Locate(&f, &p)
		}
	}
}

func TestLocateCut(t *testing.T) {
	b := ethernet("0800", rocev2over4())
	for n, want := range map[int]Outcome{41: NotRDMA, 42: Cut, 53: Cut, 54: Found} {
		var l Locator
		var p Packet
		if got := l.Locate(&Frame{Data: b[:n], WireLen: len(b), Link: LinkEthernet}, &p); got != want {
			t.Errorf("%d bytes: %v, want %v", n, got, want)
		}
		if want != NotRDMA && (len(p.Transport()) != n-42 || p.WireLen != len(b)-42 || p.Src.String() == "" || p.SrcPort == 0) {
			t.Errorf("%d bytes: %+v", n, p)
		}
	}
}

func TestLocateDoesNotAllocate(t *testing.T) {
	l := Locator{UDPPorts: []uint16{1021}}
	frames := everyFrame(t)
	var p Packet
	if n := testing.AllocsPerRun(10, func() {
		for i := range frames {
			l.Locate(&frames[i], &p)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLocate(b *testing.B) {
	inner := ethernet("0800", rocev2over4())
	for _, tc := range []struct {
		name string
		link LinkType
		data []byte
	}{
		{"common", LinkEthernet, inner},
		{"vlan", LinkEthernet, ethernet("8100 0064 0800", rocev2over4())},
		{"ipv6", LinkEthernet, ethernet("86dd", rocev2over6())},
		{"vxlan", LinkEthernet, ethernet("0800", ipv4(17, udp(4789, behind("08000000 00138800", inner))))},
		{"infiniband", LinkInfiniBand, infiniband()},
		{"tcp", LinkEthernet, ethernet("0800", ipv4(6, datagram()))},
	} {
		b.Run(tc.name, func(b *testing.B) {
			f := Frame{Data: tc.data, WireLen: len(tc.data), Link: tc.link}
			var l Locator
			var p Packet
			var h codec.BTH
			b.ReportAllocs()
			for b.Loop() {
				if l.Locate(&f, &p) == Found {
					_ = h.Decode(p.Transport())
				}
			}
		})
	}
}
