package fuzz

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/dissect"
	rdmalayers "github.com/rdmadump/rdmadump/layers"
)

// FuzzLayers decodes a transport packet behind UDP, behind a GRH and on an
// InfiniBand link. Nothing panics, the layers hold every byte in its order, and
// the packet located through them is the one located in the bytes.
func FuzzLayers(f *testing.F) {
	f.Add([]byte{0x0a, 0, 0xff, 0xff, 0, 0, 0, 0x11, 0x80, 0, 0, 7, 28: 9})
	f.Add([]byte{0x11, 0x20, 0xff, 0xff, 0, 0, 0, 0x11, 0, 0, 0, 7, 51: 0})
	f.Add([]byte{0x81, 0, 0xff, 0xff, 0x40, 0, 0, 0x11, 31: 0})
	f.Add([]byte{0xf1, 0, 0xff, 0xff, 0, 0, 0, 0x11, 23: 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 4200 {
			t.Skip("longer than a packet")
		}
		n := len(b)
		udp := []byte{0xc0, 0, 4791 >> 8, 4791 & 255, byte((8 + n) >> 8), byte(8 + n), 0, 0}
		ip := []byte{0x45, 0, byte((28 + n) >> 8), byte(28 + n), 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2}
		grh := append([]byte{0x60, 0, 0, 0, byte(n >> 8), byte(n), 0x1b, 64}, make([]byte, 32)...)
		words := (8 + n) / 4
		lrh := []byte{0, 2, 0, 2, byte(words >> 8), byte(words), 0, 1}
		mac := make([]byte, 12)
		decodeLayers(t, layers.LinkTypeRaw, bytes.Join([][]byte{ip, udp, b}, nil))
		decodeLayers(t, layers.LinkTypeEthernet, bytes.Join([][]byte{mac, {0x89, 0x15}, grh, b}, nil))
		decodeLayers(t, rdmalayers.LinkTypeInfiniBand, append(lrh, b...))
	})
}

func decodeLayers(t *testing.T, link layers.LinkType, data []byte) {
	p := gopacket.NewPacket(data, link, gopacket.DecodeOptions{SkipDecodeRecovery: true})
	via, viaOK := rdmalayers.Packet(p)
	var own dissect.Packet
	frame := dissect.Frame{Data: data, WireLen: len(data), Link: dissect.LinkType(link)}
	ownOK := new(dissect.Locator).Locate(&frame, &own) == dissect.Found
	via.Time = 0
	if ownOK != viaOK || ownOK && !reflect.DeepEqual(own, via) {
		t.Errorf("link type %d: located %v, through gopacket %v\n own %+v\n via %+v", link, ownOK, viaOK, own, via)
	}
	var whole []byte
	for _, l := range p.Layers() {
		if l.LayerType() != gopacket.LayerTypeDecodeFailure {
			whole = append(whole, l.LayerContents()...)
		}
	}
	if viaOK && !bytes.Equal(whole, data[:len(whole)]) {
		t.Errorf("link type %d: layers hold %x of %x", link, whole, data)
	}
	if bth, ok := p.Layer(rdmalayers.LayerTypeBTH).(*rdmalayers.BTH); ok && len(bth.Packet.ICRC) != 0 && len(bth.Packet.ICRC) != 4 {
		t.Errorf("link type %d: ICRC %x", link, bth.Packet.ICRC)
	}
}
