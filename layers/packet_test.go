package layers_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/dissect"
	rdmalayers "github.com/rdmadump/rdmadump/layers"
)

// bothRoads locates the packet of a frame in its bytes and in gopacket's
// layers.
func bothRoads(f frame, number int) (own, viaLayers dissect.Packet, ownOK, viaOK bool) {
	in := dissect.Frame{Data: f.data, WireLen: f.info.Length, Time: f.info.Timestamp.UnixNano(),
		Link: dissect.LinkType(f.link), Number: number}
	ownOK = new(dissect.Locator).Locate(&in, &own) == dissect.Found

	p := gopacket.NewPacket(f.data, f.link, gopacket.Lazy)
	p.Metadata().CaptureInfo = f.info
	viaLayers, viaOK = rdmalayers.Packet(p)
	viaLayers.Number = number
	return own, viaLayers, ownOK, viaOK
}

func TestPacketCaptures(t *testing.T) {
	for name, frames := range shipped(t) {
		found := 0
		for i, f := range frames {
			own, via, ownOK, viaOK := bothRoads(f, i+1)
			if ownOK != viaOK || ownOK && !reflect.DeepEqual(own, via) {
				t.Fatalf("%s, frame %d: located %v, through gopacket %v\n own %+v\n via %+v", name, i+1, ownOK, viaOK, own, via)
			}
			if viaOK {
				found++
			}
		}
		if found == 0 {
			t.Errorf("%s: nothing located", name)
		}
	}
}

// Cut at every length, the roads agree as long as gopacket can decode the
// headers.
func TestPacketCarriers(t *testing.T) {
	for _, c := range carriers {
		link, _ := c.link.(layers.LinkType)
		for _, s := range stacks {
			whole := c.frame(transport(s.opcode, s.padCnt, s.body))
			for n := range len(whole) + 1 {
				f := frame{whole[:n], gopacket.CaptureInfo{Timestamp: time.Unix(1, 5), CaptureLength: n, Length: len(whole)}, link}
				own, via, ownOK, viaOK := bothRoads(f, 7)
				if ownOK != viaOK || ownOK && !reflect.DeepEqual(own, via) {
					t.Fatalf("%s, opcode %#x, %d of %d bytes: located %v, through gopacket %v\n own %+v\n via %+v",
						c.name, s.opcode, n, len(whole), ownOK, viaOK, own, via)
				}
			}
		}
	}
}

// tunnels are headers in front of a RoCEv2 packet in an Ethernet frame, or
// behind Ethernet and IP, that gopacket can decode.
func TestPacketTunnels(t *testing.T) {
	packet := transport(0x0a, 0, 16+64)
	ip := append(append(ipv4(len(packet)), udp(49152, 4791, len(packet))...), packet...)
	eth := ethernet(0x8100, []byte{0, 9, 8, 0}, ip)
	inIP := func(protocol byte, b []byte) []byte {
		outer := ipv4(len(b) - 8)
		outer[9] = protocol
		return ethernet(0x0800, outer, b)
	}
	inUDP := func(port uint16, b []byte) []byte { return inIP(17, append(udp(5, port, len(b)), b...)) }
	with := func(header string, b []byte) []byte { return append(fromHex(t, header), b...) }
	tests := []struct {
		name    string
		data    []byte
		tunnels dissect.Tunnels
		vlan    uint16
		vni     uint32
	}{
		{"VXLAN", inUDP(4789, with("0800000000123400", eth)), dissect.Tunnels{dissect.VXLAN}, 9, 0x1234},
		{"GENEVE", inUDP(6081, with("0000655800123400", eth)), dissect.Tunnels{dissect.GENEVE}, 9, 0x1234},
		{"GRE", inIP(47, with("00000800", ip)), dissect.Tunnels{dissect.GRE}, 0, 0},
		{"NVGRE", inIP(47, with("2000655800123401", eth)), dissect.Tunnels{dissect.GRE}, 9, 0x1234},
		{"ERSPAN II", inIP(47, with("100088be00000001"+"1001000000000000", eth)), dissect.Tunnels{dissect.ERSPAN2}, 9, 0},
		{"IP in IP", inIP(4, ip), dissect.Tunnels{dissect.IPIP}, 0, 0},
		{"MPLS", ethernet(0x8847, fromHex(t, "0001004000020140"), ip), dissect.Tunnels{dissect.MPLS, dissect.MPLS}, 0, 0},
		{"VXLAN in a VLAN", ethernet(0x8100, fromHex(t, "00030800"), inUDP(4789, with("0800000000000500", ethernet(0x0800, ip)))[14:]),
			dissect.Tunnels{dissect.VXLAN}, 0, 5},
		{"VXLAN, cut by a mirror", inUDP(4789, with("0800000000123400", eth[:len(eth)-9])), dissect.Tunnels{dissect.VXLAN}, 9, 0x1234},
		{"GRE, cut by a mirror", inIP(47, with("00000800", ip[:len(ip)-30])), dissect.Tunnels{dissect.GRE}, 0, 0},
		{"QinQ", ethernet(0x88a8, fromHex(t, "00058100"+"00070800"), ip), dissect.Tunnels{}, 7, 0},
	}
	for _, c := range tests {
		f := frame{c.data, gopacket.CaptureInfo{CaptureLength: len(c.data), Length: len(c.data)}, layers.LinkTypeEthernet}
		own, via, _, ok := bothRoads(f, 1)
		if !ok || via.Tunnels != c.tunnels || via.VLAN != c.vlan || via.VNI != c.vni {
			t.Errorf("%s: ok %v, %+v", c.name, ok, via)
		}
		if cut := strings.Contains(c.name, "cut"); via.Cut != cut || cut != (len(via.Transport()) < via.WireLen) {
			t.Errorf("%s: cut %v, %d of %d bytes", c.name, via.Cut, len(via.Transport()), via.WireLen)
		}
		if !reflect.DeepEqual(own, via) {
			t.Errorf("%s:\n own %+v\n via %+v", c.name, own, via)
		}
	}
}

// A UDP length that exceeds its IP packet does not count, and what follows the
// packet in the frame is not part of it.
func TestPacketLengths(t *testing.T) {
	packet := transport(0x04, 0, 8)
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"UDP length too large", ethernet(0x0800, ipv4(len(packet)), udp(1, 4791, len(packet)+9), packet, make([]byte, 20))},
		{"UDP length 0", ethernet(0x0800, ipv4(len(packet)), udp(1, 4791, -8), packet, make([]byte, 20))},
		{"RoCEv1 with padding", ethernet(0x8915, grh(len(packet)), packet, make([]byte, 20))},
	} {
		p := gopacket.NewPacket(c.data, layers.LayerTypeEthernet, gopacket.Default)
		q, ok := rdmalayers.Packet(p)
		if !ok || q.WireLen != len(packet) || len(q.Covered) != q.BTH+len(packet) || len(q.Trailer) != 20 {
			t.Errorf("%s: %v %+v", c.name, ok, q)
		}
	}
	// The layers end with the ICRC too, so that the padding is no payload.
	data := ethernet(0x8915, grh(len(packet)), packet, make([]byte, 20))
	p := newParser(layers.LayerTypeEthernet)
	if err := p.DecodeLayers(data, &p.decoded); err != nil || len(p.payload) != 8 {
		t.Errorf("payload of %d bytes, %v", len(p.payload), err)
	}
}

// What gopacket takes for a tunnel by its source port is none.
func TestPacketNotRDMA(t *testing.T) {
	for name, data := range map[string][]byte{
		"nothing":             nil,
		"port 4791 as source": ethernet(0x0800, ipv4(40), udp(4791, 9, 40), make([]byte, 40)),
		"VXLAN's port as source": ethernet(0x0800, ipv4(8+14+28+32), udp(4789, 9, 8+14+28+32), fromHex(t, "0800000000123400"),
			ethernet(0x0800, ipv4(32), udp(1, 4791, 32), transport(0x04, 0, 16))),
		"fragment": ethernet(0x0800, fromHex(t, "450000341234200040110000c0000201c0000202"), udp(1, 4791, 24), transport(0x04, 0, 8)),
	} {
		p := gopacket.NewPacket(data, layers.LinkTypeEthernet, gopacket.Default)
		if q, ok := rdmalayers.Packet(p); ok || !reflect.DeepEqual(q, dissect.Packet{}) {
			t.Errorf("%s: %v %+v", name, ok, q)
		}
	}
}
