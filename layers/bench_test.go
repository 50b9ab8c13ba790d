package layers_test

import (
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	rdmalayers "github.com/rdmadump/rdmadump/layers"
)

// BenchmarkDecode decodes a WRITE Only of 1 KiB in each of gopacket's ways, and
// up to the UDP header alone to compare with.
func BenchmarkDecode(b *testing.B) {
	data := carriers[0].frame(transport(0x0a, 0, 16+1024))
	b.Run("NewPacket", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			gopacket.NewPacket(data, layers.LayerTypeEthernet, gopacket.NoCopy)
		}
	})
	b.Run("Parser", func(b *testing.B) {
		p := newParser(layers.LayerTypeEthernet)
		b.ReportAllocs()
		for b.Loop() {
			if err := p.DecodeLayers(data, &p.decoded); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ParserToUDP", func(b *testing.B) {
		p := gopacket.NewDecodingLayerParser(layers.LayerTypeEthernet, &layers.Ethernet{}, &layers.IPv4{}, &layers.UDP{})
		p.IgnoreUnsupported = true
		var decoded []gopacket.LayerType
		b.ReportAllocs()
		for b.Loop() {
			if err := p.DecodeLayers(data, &decoded); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("FixICRC", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := rdmalayers.FixICRC(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
