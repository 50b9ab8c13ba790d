package layers

import (
	"math"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// tracer is the way through the layers of one packet, from the outside in.
type tracer struct {
	dissect.Packet
	depth    int  // of Tunnels
	inIP     bool // nothing but extension headers since the last IP header
	udpPort  layers.UDPPort
	cover    []byte // begins where the ICRC's coverage does
	coverLen int    // from there to the end of the ICRC on the wire
	behind   int    // how much of the frame's memory lies behind the end of what the headers so far contain
}

// trace follows the layers to an RDMA packet.
func trace(all []gopacket.Layer) (dissect.Packet, bool) {
	t := tracer{behind: math.MinInt}
	for i, l := range all {
		ok := true
		switch l := l.(type) {
		case *layers.Ethernet, *layers.Loopback, *layers.LinuxSLL, *layers.IPSecAH,
			*layers.IPv6HopByHop, *layers.IPv6Routing, *layers.IPv6Destination:
		case *layers.Dot1Q:
			t.VLAN = l.VLANIdentifier
		case *layers.IPv4:
			ok = t.ipv4(l)
		case *layers.IPv6:
			ok = t.ipv6(l)
		case *layers.UDP:
			t.inIP, t.udpPort = false, l.DstPort
			if l.DstPort == UDPPortRoCEv2 {
				return t.rocev2(l)
			}
			if l.Length >= 8 { // as far as it does not exceed its IP packet
				t.behind = max(t.behind, cap(l.Contents)-int(l.Length))
			}
		case *layers.VXLAN:
			// gopacket goes by the source port as well.
			ok = t.udpPort == 4789 && l.ValidIDFlag && t.enter(dissect.VXLAN)
			t.VNI = l.VNI
		case *layers.Geneve:
			ok = t.udpPort == 6081 && l.Version == 0 && t.enter(dissect.GENEVE)
			t.VNI = l.VNI
		case *layers.GRE:
			ok = t.gre(l)
		case *layers.ERSPANII:
			ok = l.Version == layers.ERSPANIIVersion && t.enter(dissect.ERSPAN2)
		case *layers.MPLS:
			ok = t.enter(dissect.MPLS)
		case *LRH:
			t.Src, t.Dst = dissect.AddressFromLID(l.SLID), dissect.AddressFromLID(l.DLID)
			t.Carrier, t.cover, t.coverLen = codec.InfiniBand, l.Contents, codec.HeaderLRH.Len()+l.payLen()
			if l.LNH == codec.LNHBTH {
				return t.transport(l.Payload, l.payLen())
			}
		case *GRH:
			return t.grh(l, i > 0 && all[i-1].LayerType() == LayerTypeLRH)
		default:
			ok = false
		}
		if !ok {
			break
		}
	}
	return dissect.Packet{}, false
}

// bound notes where a header of n bytes with its contents ends. Where the header
// around it ends before, a mirror cut the frame.
func (t *tracer) bound(header []byte, n int) {
	behind := cap(header) - n
	if behind < t.behind {
		t.Cut = true
	}
	t.behind = behind
}

// enter goes into a tunnel. A tag outside tells nothing of the network inside.
func (t *tracer) enter(tunnel dissect.Tunnel) bool {
	if t.depth == len(t.Tunnels) {
		return false
	}
	t.Tunnels[t.depth] = tunnel
	t.depth++
	t.VLAN, t.inIP = 0, false
	return true
}

func (t *tracer) ipv4(l *layers.IPv4) bool {
	if l.Version != 4 || len(l.SrcIP) != 4 || t.inIP && !t.enter(dissect.IPIP) {
		return false
	}
	t.inIP = true
	t.Src, t.Dst = dissect.AddressFrom4(l.SrcIP), dissect.AddressFrom4(l.DstIP)
	t.Traffic, t.HopLimit, t.IPID = l.TOS, l.TTL, l.Id
	t.Carrier, t.cover, t.coverLen = codec.RoCEv2IPv4, l.Contents, int(l.Length)
	t.bound(l.Contents, int(l.Length))
	return true
}

func (t *tracer) ipv6(l *layers.IPv6) bool {
	if l.Version != 6 || len(l.SrcIP) != 16 || t.inIP && !t.enter(dissect.IPIP) {
		return false
	}
	t.inIP = true
	t.Src, t.Dst = dissect.AddressFrom16(l.SrcIP), dissect.AddressFrom16(l.DstIP)
	t.Traffic, t.HopLimit, t.IPID = l.TrafficClass, l.HopLimit, 0
	t.Carrier, t.cover, t.coverLen = codec.RoCEv2IPv6, l.Contents, len(l.Contents)+int(l.Length)
	t.bound(l.Contents, t.coverLen)
	return true
}

// gre passes a GRE header. One of ERSPAN is counted with the header that
// follows it; ERSPAN type I has none, and gopacket does not know it.
func (t *tracer) gre(l *layers.GRE) bool {
	switch {
	case l.RoutingPresent, l.Version != 0:
		return false
	case l.Protocol == layers.EthernetTypeERSPAN:
		return l.SeqPresent
	case l.Protocol == layers.EthernetTypeTransparentEthernetBridging && l.KeyPresent:
		t.VNI = l.Key >> 8 // NVGRE
	}
	return t.enter(dissect.GRE)
}

func (t *tracer) rocev2(l *layers.UDP) (dissect.Packet, bool) {
	t.SrcPort = uint16(l.SrcPort)
	if l.Length == 0 {
		return t.transport(l.Payload, math.MaxInt) // IP alone says how long it is
	}
	return t.transport(l.Payload, int(l.Length)-8)
}

// grh ends at a GRH, behind an LRH or an Ethertype.
func (t *tracer) grh(l *GRH, behindLRH bool) (dissect.Packet, bool) {
	if l.IPVer != 6 || l.NxtHdr != codec.NxtHdrIBA {
		return dissect.Packet{}, false
	}
	src, dst := dissect.AddressFrom16(l.SGID[:]), dissect.AddressFrom16(l.DGID[:])
	t.Traffic, t.HopLimit, t.IPID, t.cover = l.TClass, l.HopLmt, 0, l.Contents
	n := len(l.Contents)
	if behindLRH {
		t.Carrier, t.SGID, t.DGID = codec.InfiniBandGRH, src, dst
		t.coverLen -= codec.HeaderLRH.Len()
	} else {
		t.Carrier, t.Src, t.Dst = codec.RoCEv1, src, dst
		t.coverLen = n + int(l.PayLen)
		t.bound(l.Contents, t.coverLen)
	}
	return t.transport(l.Payload, t.coverLen-n)
}

// transport ends at the BTH with which b begins, of a packet that has wireLen
// bytes on the wire as far as its own headers say.
func (t *tracer) transport(b []byte, wireLen int) (dissect.Packet, bool) {
	// Layers are cut from one frame and share its end.
	off := cap(t.cover) - cap(b)
	wireLen = min(wireLen, t.coverLen-off)
	if wireLen < codec.HeaderBTH.Len() || len(b) < codec.HeaderBTH.Len() || off < 0 {
		return dissect.Packet{}, false
	}
	frame := t.cover[:cap(t.cover)]
	if &frame[off] != &b[0] {
		return dissect.Packet{}, false // put together from several
	}
	t.Covered = frame[:off+min(wireLen, len(b))]
	t.BTH, t.WireLen = off, wireLen
	return t.Packet, true
}
