package layers_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
	rdmalayers "github.com/rdmadump/rdmadump/layers"
)

var ways = map[string]gopacket.DecodeOptions{
	"eager":  {SkipDecodeRecovery: true},
	"lazy":   {Lazy: true, SkipDecodeRecovery: true},
	"nocopy": {NoCopy: true, SkipDecodeRecovery: true},
}

// stackOf names the layers from the BTH on.
func stackOf(p gopacket.Packet) string {
	short := map[gopacket.LayerType]string{gopacket.LayerTypePayload: "P", rdmalayers.LayerTypePad: "p", rdmalayers.LayerTypeICRC: "C"}
	var names []string
	for _, l := range p.Layers() {
		t := l.LayerType()
		switch {
		case t == rdmalayers.LayerTypeVCRC, len(names) == 0 && t != rdmalayers.LayerTypeBTH:
		case short[t] != "":
			names = append(names, short[t])
		default:
			names = append(names, t.String())
		}
	}
	return strings.Join(names, " ")
}

func TestLayersFound(t *testing.T) {
	for _, c := range carriers {
		for _, s := range stacks {
			data := c.frame(transport(s.opcode, s.padCnt, s.body))
			for way, options := range ways {
				p := gopacket.NewPacket(data, c.link, options)
				if got := stackOf(p); got != s.want {
					t.Errorf("%s, %s, opcode %#x: layers %q, want %q", c.name, way, s.opcode, got, s.want)
				}
				if e := p.ErrorLayer(); e != nil {
					t.Errorf("%s, %s, opcode %#x: %v", c.name, way, s.opcode, e.Error())
				}
			}
		}
	}
}

func TestLayerFields(t *testing.T) {
	data := carriers[0].frame(transport(0x0b, 2, 16+4+2+2))
	p := gopacket.NewPacket(data, layers.LinkTypeEthernet, gopacket.Lazy)
	bth, _ := p.Layer(rdmalayers.LayerTypeBTH).(*rdmalayers.BTH)
	reth, _ := p.Layer(rdmalayers.LayerTypeRETH).(*rdmalayers.RETH)
	immdt, _ := p.Layer(rdmalayers.LayerTypeImmDt).(*rdmalayers.ImmDt)
	icrc, _ := p.Layer(rdmalayers.LayerTypeICRC).(*rdmalayers.ICRC)
	if bth == nil || reth == nil || immdt == nil || icrc == nil {
		t.Fatalf("layers are missing: %v", p)
	}
	if bth.PSN != 42 || bth.DestQP != 0x123 || !bth.AckReq || bth.PadCnt != 2 {
		t.Errorf("BTH: %v", bth)
	}
	if reth.VA != 0x0102030405060708 || reth.RKey != 0x090a0b0c || reth.DMALen != 0x0d0e0f10 {
		t.Errorf("RETH: %+v", reth.RETH)
	}
	if immdt.ImmediateData != 0x11121314 {
		t.Errorf("ImmDt: %#x", immdt.ImmediateData)
	}
	if icrc.Value != 0x1c1b1a19 {
		t.Errorf("ICRC: %#x", icrc.Value)
	}
	if a := p.ApplicationLayer(); a == nil || !bytes.Equal(a.Payload(), []byte{0x15, 0x16}) {
		t.Errorf("payload: %v", a)
	}
}

// serialize writes the layers of a packet, a decode failure left out.
func serialize(t *testing.T, p gopacket.Packet) []byte {
	t.Helper()
	var all []gopacket.SerializableLayer
	for _, l := range p.Layers() {
		if l.LayerType() == gopacket.LayerTypeDecodeFailure {
			continue
		}
		s, ok := l.(gopacket.SerializableLayer)
		if !ok {
			t.Fatalf("%v does not serialise", l.LayerType())
		}
		all = append(all, s)
	}
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{}, all...); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTripCaptures(t *testing.T) {
	for name, frames := range shipped(t) {
		found := 0
		for i, f := range frames {
			p := gopacket.NewPacket(f.data, f.link, gopacket.NoCopy)
			if p.Layer(rdmalayers.LayerTypeBTH) == nil {
				continue
			}
			found++
			if e := p.ErrorLayer(); e != nil {
				t.Errorf("%s, frame %d: %v", name, i+1, e.Error())
			}
			if got := serialize(t, p); !bytes.Equal(got, f.data) {
				t.Fatalf("%s, frame %d:\n got %x\nwant %x", name, i+1, got, f.data)
			}
		}
		if found == 0 {
			t.Errorf("%s: no RDMA packet", name)
		}
	}
}

func TestRoundTripOpcodes(t *testing.T) {
	for _, c := range carriers {
		for i := range 256 {
			op := codec.Opcode(i)
			if !op.Known() && !op.Manufacturer() {
				continue
			}
			body := op.Headers().Len() - 12
			if op.Payload() || !op.Known() {
				body += 8
			}
			data := c.frame(transport(byte(i), 0, body))
			p := gopacket.NewPacket(data, c.link, gopacket.NoCopy)
			if p.Layer(rdmalayers.LayerTypeBTH) == nil {
				t.Errorf("%s: no BTH in %s", c.name, op)
			}
			if got := serialize(t, p); !bytes.Equal(got, data) {
				t.Errorf("%s, %s:\n got %x\nwant %x", c.name, op, got, data)
			}
		}
	}
}

// A fault inside an RDMA packet is named, and no byte is lost.
func TestFaults(t *testing.T) {
	mrc := transport(0xc0, 0, 24)
	p := gopacket.NewPacket(carriers[0].frame(mrc), layers.LinkTypeEthernet, gopacket.Default)
	if e := p.ErrorLayer(); e == nil || !errors.Is(e.Error(), codec.ErrOpcode) {
		t.Errorf("opcode 0xc0: %v", e)
	}
	if got := stackOf(p); got != "BTH P C DecodeFailure" {
		t.Errorf("opcode 0xc0: layers %q", got)
	}
	short := transport(0x0a, 0, 8) // half a RETH, behind a GRH, which leaves no doubt
	p = gopacket.NewPacket(ethernet(0x8915, grh(len(short)), short), layers.LinkTypeEthernet, gopacket.Default)
	if e := p.ErrorLayer(); e == nil || !errors.Is(e.Error(), codec.ErrTruncated) {
		t.Errorf("half a RETH: %v", e)
	}
	if got := stackOf(p); got != "BTH P C DecodeFailure" {
		t.Errorf("half a RETH: layers %q", got)
	}
}

// A packet that was cut has no ICRC: its last bytes are something else.
func TestCut(t *testing.T) {
	for _, c := range carriers {
		whole := c.frame(transport(0x0a, 1, 16+31+1))
		end := len(whole)
		if c.link == rdmalayers.LinkTypeInfiniBand {
			end -= 2
		}
		start := end - (12 + 16 + 31 + 1 + 4)
		for n := start + 12; n < end; n++ {
			p := gopacket.NewPacket(whole[:n], c.link, gopacket.Default)
			if !p.Metadata().Truncated {
				t.Errorf("%s, %d of %d bytes: not marked truncated", c.name, n, end)
			}
			if p.Layer(rdmalayers.LayerTypeBTH) == nil {
				t.Errorf("%s, %d of %d bytes: no BTH", c.name, n, end)
			}
			if p.Layer(rdmalayers.LayerTypeICRC) != nil {
				t.Errorf("%s, %d of %d bytes: an ICRC", c.name, n, end)
			}
			if a := p.ApplicationLayer(); n > start+28 && len(a.Payload()) != min(n-start-28, 31) {
				t.Errorf("%s, %d of %d bytes: payload %x", c.name, n, end, a.Payload())
			}
			// gopacket pads frames shorter than 60 bytes.
			if got := serialize(t, p); n >= 60 && !bytes.Equal(got, whole[:n]) {
				t.Errorf("%s, %d of %d bytes: serialised to %x", c.name, n, end, got)
			}
		}
	}
}

func TestDoubt(t *testing.T) {
	rdma := transport(0x0a, 0, 16+8)
	dns := fromHex(t, "0a00010000010000000000000377777707657861"+"6d706c6503636f6d0000010001")
	for _, c := range []struct {
		name     string
		src, dst uint16
		data     []byte
	}{
		{"query to a DNS server on another port", 4791, 5353, dns},
		{"even an RDMA packet, to another port", 4791, 1234, rdma},
		{"answer that comes to the port", 5353, 4791, fromHex(t, "0a0f8180"+"000100010000000003777777")},
		{"zeros", 1, 4791, make([]byte, 64)},
		{"text", 1, 4791, []byte("M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\n")},
		{"too short", 1, 4791, []byte{4, 0, 0xff}},
	} {
		data := ethernet(0x0800, ipv4(len(c.data)), udp(c.src, c.dst, len(c.data)), c.data)
		for way, options := range ways {
			p := gopacket.NewPacket(data, layers.LinkTypeEthernet, options)
			if p.Layer(rdmalayers.LayerTypeBTH) != nil {
				t.Errorf("%s, %s: taken for a BTH", c.name, way)
			}
			if p.ErrorLayer() != nil {
				t.Errorf("%s, %s: %v", c.name, way, p.ErrorLayer().Error())
			}
			if a := p.ApplicationLayer(); a == nil || !bytes.Equal(a.Payload(), c.data) {
				t.Errorf("%s, %s: payload %v", c.name, way, a)
			}
		}
	}
}

// A good ICRC proves what looks incredible: here a P_Key of 0.
func TestICRCProves(t *testing.T) {
	b := transport(0x04, 0, 8)
	b[2], b[3] = 0, 0
	data := carriers[0].frame(b)
	if gopacket.NewPacket(data, layers.LinkTypeEthernet, gopacket.Default).Layer(rdmalayers.LayerTypeBTH) != nil {
		t.Error("a P_Key of 0 and a bad ICRC: taken for a BTH")
	}
	if err := rdmalayers.FixICRC(data); err != nil {
		t.Fatal(err)
	}
	if gopacket.NewPacket(data, layers.LinkTypeEthernet, gopacket.Default).Layer(rdmalayers.LayerTypeBTH) == nil {
		t.Error("a P_Key of 0 and a good ICRC: not taken for a BTH")
	}
}

// Every layer type decodes bytes that begin with its own header.
func TestAlone(t *testing.T) {
	data := bytes.Repeat([]byte{0x11}, 64)
	for lt := rdmalayers.LayerTypeRDETH; lt <= rdmalayers.LayerTypeVCRC; lt++ {
		p := gopacket.NewPacket(data, lt, gopacket.DecodeOptions{SkipDecodeRecovery: true})
		if p.ErrorLayer() != nil || len(p.Layers()) == 0 || p.Layers()[0].LayerType() != lt {
			t.Errorf("%v: %v", lt, p)
		}
		for n := range 64 {
			gopacket.NewPacket(data[:n], lt, gopacket.DecodeOptions{SkipDecodeRecovery: true})
		}
		if strings.Contains(lt.String(), "17") || strings.Contains(lt.String(), "18") {
			t.Errorf("layer type %d has no name", lt)
		}
	}
	if got := fmt.Sprint(gopacket.NewPacket(data[:2], rdmalayers.LayerTypeAETH, gopacket.Default).ErrorLayer().Error()); got != "AETH: truncated: 2 of 4 bytes" {
		t.Errorf("error %q", got)
	}
}
