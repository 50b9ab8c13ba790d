package layers_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
	rdmalayers "github.com/rdmadump/rdmadump/layers"
)

// parser decodes into structs that are made once.
type parser struct {
	*gopacket.DecodingLayerParser
	bth     rdmalayers.BTH
	grh     rdmalayers.GRH
	lrh     rdmalayers.LRH
	payload gopacket.Payload
	decoded []gopacket.LayerType
}

func newParser(first gopacket.LayerType) *parser {
	p := &parser{decoded: make([]gopacket.LayerType, 0, 16)}
	p.DecodingLayerParser = gopacket.NewDecodingLayerParser(first, &layers.Ethernet{}, &layers.Dot1Q{},
		&layers.IPv4{}, &layers.IPv6{}, &layers.UDP{}, &p.lrh, &p.grh, &p.bth, &p.payload)
	return p
}

func firstLayer(link gopacket.Decoder) gopacket.LayerType {
	if link == rdmalayers.LinkTypeInfiniBand {
		return rdmalayers.LayerTypeLRH
	}
	return layers.LayerTypeEthernet
}

// The parser finds what NewPacket finds.
func TestParser(t *testing.T) {
	for _, c := range carriers {
		p := newParser(firstLayer(c.link))
		for _, s := range stacks {
			data := c.frame(transport(s.opcode, s.padCnt, s.body))
			if err := p.DecodeLayers(data, &p.decoded); err != nil {
				t.Errorf("%s, opcode %#x: %v", c.name, s.opcode, err)
				continue
			}
			packet := gopacket.NewPacket(data, c.link, gopacket.Default)
			want := packet.Layer(rdmalayers.LayerTypeBTH).(*rdmalayers.BTH).Packet
			got := p.bth.Packet
			if got.Headers != want.Headers || got.BTH != want.BTH || got.PayloadLen != want.PayloadLen || !bytes.Equal(got.ICRC, want.ICRC) {
				t.Errorf("%s, opcode %#x:\n got %+v\nwant %+v", c.name, s.opcode, got, want)
			}
			if !bytes.Equal(p.bth.Payload, want.Payload) || len(want.Payload) > 0 && !bytes.Equal(p.payload, want.Payload) {
				t.Errorf("%s, opcode %#x: payload %x", c.name, s.opcode, p.bth.Payload)
			}
			if n := len(p.bth.Contents) + len(p.bth.Payload) + int(s.padCnt) + 4; n != 12+s.body+4 {
				t.Errorf("%s, opcode %#x: contents of %d bytes", c.name, s.opcode, len(p.bth.Contents))
			}
		}
	}
}

func TestParserDoesNotAllocate(t *testing.T) {
	for _, c := range carriers {
		p := newParser(firstLayer(c.link))
		var frames [][]byte
		for _, s := range stacks {
			frames = append(frames, c.frame(transport(s.opcode, s.padCnt, s.body)))
		}
		if n := testing.AllocsPerRun(100, func() {
			for _, data := range frames {
				if err := p.DecodeLayers(data, &p.decoded); err != nil {
					t.Fatal(err)
				}
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}

func TestParserCut(t *testing.T) {
	for _, s := range stacks {
		whole := carriers[0].frame(transport(s.opcode, s.padCnt, s.body))
		p := newParser(layers.LayerTypeEthernet)
		headers := codec.Opcode(s.opcode).Headers().Len()
		for n := 42 + headers; n < len(whole); n++ {
			if s.opcode == 0x11 || s.opcode == 0x12 {
				break // where a T/C AETH is cut nothing tells it
			}
			if err := p.DecodeLayers(whole[:n], &p.decoded); err != nil {
				t.Errorf("opcode %#x, %d bytes: %v", s.opcode, n, err)
			}
			if !p.Truncated || p.bth.Packet.ICRC != nil {
				t.Errorf("opcode %#x, %d bytes: truncated %v, ICRC %x", s.opcode, n, p.Truncated, p.bth.Packet.ICRC)
			}
			if p.bth.Packet.PayloadLen > s.body-(headers-12)+8 {
				t.Errorf("opcode %#x, %d bytes: payload of %d bytes", s.opcode, n, p.bth.Packet.PayloadLen)
			}
		}
	}
	// A cut T/C AETH is told by what is there of it.
	ack := carriers[0].frame(transport(0x11, 2, 36))
	p := newParser(layers.LayerTypeEthernet)
	if err := p.DecodeLayers(ack[:len(ack)-4], &p.decoded); err != nil || !p.bth.Packet.Has(codec.HeaderTCAETH) {
		t.Errorf("T/C AETH without ICRC: %v, %+v", err, p.bth.Packet)
	}
}

func TestParserDoubt(t *testing.T) {
	b := []byte("M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\n")
	p := newParser(layers.LayerTypeEthernet)
	data := ethernet(0x0800, ipv4(len(b)), udp(1, 4791, len(b)), b)
	if err := p.DecodeLayers(data, &p.decoded); !errors.Is(err, rdmalayers.ErrNotRDMA) {
		t.Errorf("error %v", err)
	}
	if len(p.decoded) != 3 {
		t.Errorf("decoded %v", p.decoded)
	}
}
