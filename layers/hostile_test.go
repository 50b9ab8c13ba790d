package layers_test

import (
	"bytes"
	"testing"

	"github.com/google/gopacket"
	"pgregory.net/rapid"

	rdmalayers "github.com/rdmadump/rdmadump/layers"
)

// Any change to any byte, and any cut, leaves layers that serialise to what was
// decoded, and never panics.
func TestHostileBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(carriers).Draw(t, "carrier")
		op := rapid.Byte().Draw(t, "opcode")
		pad := byte(rapid.IntRange(0, 3).Draw(t, "pad"))
		body := rapid.IntRange(int(pad), 64).Draw(t, "body")
		if c.link == rdmalayers.LinkTypeInfiniBand {
			body = body&^3 + 4 // the LRH counts words
		}
		b := transport(op, pad, body)
		start := len(c.frame(b)) - len(b)
		data := c.frame(b)
		if c.link == rdmalayers.LinkTypeInfiniBand {
			start -= 2
		}
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			// Behind the outer headers, whose oddities gopacket does not keep.
			i := rapid.IntRange(start, len(data)-1).Draw(t, "place")
			data[i] = rapid.Byte().Draw(t, "value")
		}
		data = data[:rapid.IntRange(start, len(data)).Draw(t, "length")]
		p := gopacket.NewPacket(data, c.link, gopacket.DecodeOptions{SkipDecodeRecovery: true})
		if e := p.ErrorLayer(); e != nil && p.Layer(rdmalayers.LayerTypeBTH) == nil {
			return // cut before the BTH's end
		}
		var all []gopacket.SerializableLayer
		for _, l := range p.Layers() {
			if s, ok := l.(gopacket.SerializableLayer); ok {
				all = append(all, s)
			}
		}
		buf := gopacket.NewSerializeBuffer()
		if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{}, all...); err != nil {
			t.Fatal(err)
		}
		// gopacket fills an Ethernet frame up to 60 bytes.
		want := data
		if n := len(want); n < 60 && len(buf.Bytes()) == 60 {
			want = append(bytes.Clone(want), make([]byte, 60-n)...)
		}
		if !bytes.Equal(buf.Bytes(), want) {
			t.Fatalf("\n got %x\nwant %x", buf.Bytes(), want)
		}
	})
}
