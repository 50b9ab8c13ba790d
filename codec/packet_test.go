package codec

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// packets draws well-formed packets of any opcode that is known.
func packets(t *rapid.T) *Packet {
	op := Opcode(rapid.Byte().Filter(func(b byte) bool { return Opcode(b).Known() }).Draw(t, "opcode"))
	p := &Packet{Headers: op.Headers()}
	if set := Set(HeaderAETH); (op == Op(RC, Acknowledge) || op == Op(XRC, Acknowledge) || op == Op(RC, AtomicAcknowledge) || op == Op(XRC, AtomicAcknowledge)) &&
		p.Headers&set != 0 && rapid.Bool().Draw(t, "windowless") {
		p.Headers |= Set(HeaderTCAETH)
	}
	for set := p.Headers; set != 0; set &= set - 1 {
		h := set.first()
		n := h.Len()
		if h == HeaderTCAETH && rapid.Bool().Draw(t, "short") {
			n = 27
		}
		if err := p.structOf(h).(wire).Decode(rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, h.Key())); err != nil {
			t.Fatal(err)
		}
	}
	p.BTH.Opcode = op
	pad := int(p.BTH.PadCnt)
	if op == OpcodeCNP {
		pad = 0
	}
	p.Pad = rapid.SliceOfN(rapid.Byte(), pad, pad).Draw(t, "pad")
	p.Payload = []byte{}
	if op.Payload() {
		p.Payload = rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "payload")
	}
	p.PayloadLen = len(p.Payload)
	p.ICRC = rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "ICRC")
	return p
}

// same compares what counts of two packets: headers that are there, and bytes.
func same(a, b *Packet) bool {
	for set := a.Headers; set != 0; set &= set - 1 {
		if h := set.first(); !reflect.DeepEqual(a.structOf(h), b.structOf(h)) {
			return false
		}
	}
	return a.Headers == b.Headers && a.PayloadLen == b.PayloadLen && bytes.Equal(a.Payload, b.Payload) &&
		bytes.Equal(a.Pad, b.Pad) && bytes.Equal(a.ICRC, b.ICRC) && bytes.Equal(a.CutICRC, b.CutICRC)
}

func TestPacketRoundTrip(t *testing.T) {
	var got Packet // dirty from the packet before
	rapid.Check(t, func(t *rapid.T) {
		want := packets(t)
		raw, err := want.AppendBinary(bytes.Repeat([]byte{0xa5}, 100)[:3])
		if err != nil {
			t.Fatal(err)
		}
		raw = raw[3:]
		// What follows the packet, Ethernet padding or an FCS, is not its business.
		if err := got.Decode(append(bytes.Clone(raw), 1, 2, 3), len(raw)); err != nil {
			t.Fatalf("%x: %v", raw, err)
		}
		if !same(&got, want) {
			t.Fatalf("%x decodes to %+v, made from %+v", raw, got, *want)
		}
	})
}

// Any bytes decode or fail, and encode to themselves either way.
func TestPacketEncodesWhatItDecoded(t *testing.T) {
	var p Packet
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Byte(), 0, 90).Draw(t, "bytes")
		wireLen := len(raw) + rapid.IntRange(-4, 20).Draw(t, "more on the wire")
		if err := p.Decode(raw, wireLen); err != nil && !isOurs(err) {
			t.Fatal(err)
		}
		want := raw[:max(0, min(len(raw), wireLen))]
		if out, err := p.AppendBinary(nil); err != nil || !bytes.Equal(out, want) {
			t.Fatalf("%x encodes to %x, %v", want, out, err)
		}
	})
}

func TestPacketRefusesWhatDoesNotFit(t *testing.T) {
	p := Packet{Headers: Set(HeaderBTH, HeaderAETH)}
	p.AETH.MSN = 1 << 24
	if out, err := p.AppendBinary([]byte{1, 2}); !errors.Is(err, ErrRange) || !bytes.Equal(out, []byte{1, 2}) {
		t.Errorf("MSN too large: %x, %v", out, err)
	}
	for _, h := range []Header{HeaderLRH, HeaderGRH, HeaderMAD, HeaderRate} {
		p := Packet{Headers: Set(HeaderBTH, h)}
		if out, err := p.AppendBinary([]byte{1, 2}); !errors.Is(err, ErrRange) || !bytes.Equal(out, []byte{1, 2}) {
			t.Errorf("%s in a transport packet: %x, %v", h, out, err)
		}
	}
}

func TestPacketDoesNotAllocate(t *testing.T) {
	var p Packet
	buf := make([]byte, 0, 1024)
	for _, v := range vectors(t, "packets.txt") {
		if p.Decode(v.raw, v.wire) != nil {
			continue // errors are formatted when read, or rare
		}
		n := testing.AllocsPerRun(10, func() {
			_ = p.Decode(v.raw, v.wire)
			_, _ = p.AppendBinary(buf)
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", v.at, n)
		}
	}
}
