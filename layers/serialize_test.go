package layers_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/gopacket"

	"github.com/rdmadump/rdmadump/codec"
	rdmalayers "github.com/rdmadump/rdmadump/layers"
)

func TestFixLengths(t *testing.T) {
	for n := range 9 {
		bth := &rdmalayers.BTH{BTH: codec.BTH{Opcode: codec.Op(codec.RC, codec.SendOnly), PadCnt: 3}}
		grh := &rdmalayers.GRH{GRH: codec.GRH{IPVer: 6}}
		lrh := &rdmalayers.LRH{LRH: codec.LRH{LNH: codec.LNHGRH}}
		payload := gopacket.Payload(bytes.Repeat([]byte{0xee}, n))
		b := gopacket.NewSerializeBuffer()
		if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true},
			lrh, grh, bth, payload, &rdmalayers.ICRC{Value: 0x04030201}, &rdmalayers.VCRC{Bytes: [2]byte{5, 6}}); err != nil {
			t.Fatal(err)
		}
		pad := (4 - n%4) % 4
		want := append(bytes.Repeat([]byte{0xee}, n), make([]byte, pad)...)
		want = append(want, 1, 2, 3, 4, 5, 6)
		if got := b.Bytes()[60:]; !bytes.Equal(got, want) || int(bth.PadCnt) != pad {
			t.Errorf("%d bytes: %x with PadCnt %d, want %x", n, got, bth.PadCnt, want)
		}
		if int(grh.PayLen) != 12+n+pad+4 || int(lrh.PktLen) != (8+40+12+n+pad+4)/4 {
			t.Errorf("%d bytes: PayLen %d, PktLen %d", n, grh.PayLen, lrh.PktLen)
		}
	}
}

// With a Pad layer of its own, and without FixLengths, nothing is padded.
func TestPadIsKept(t *testing.T) {
	for _, fix := range []bool{false, true} {
		bth := &rdmalayers.BTH{BTH: codec.BTH{PadCnt: 1}}
		b := gopacket.NewSerializeBuffer()
		all := []gopacket.SerializableLayer{bth, gopacket.Payload{1, 2}}
		if fix {
			all = append(all, rdmalayers.Pad{9})
		}
		if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: fix}, all...); err != nil {
			t.Fatal(err)
		}
		if want := 12 + 2 + len(all) - 2; len(b.Bytes()) != want || bth.PadCnt != 1 {
			t.Errorf("FixLengths %v: %d bytes, PadCnt %d", fix, len(b.Bytes()), bth.PadCnt)
		}
	}
}

func TestSerializeOutOfRange(t *testing.T) {
	for _, l := range []gopacket.SerializableLayer{
		&rdmalayers.BTH{BTH: codec.BTH{PSN: 1 << 24}},
		&rdmalayers.AETH{AETH: codec.AETH{MSN: 1 << 24}},
		&rdmalayers.GRH{GRH: codec.GRH{IPVer: 16}},
	} {
		err := gopacket.SerializeLayers(gopacket.NewSerializeBuffer(), gopacket.SerializeOptions{}, l)
		if !errors.Is(err, codec.ErrRange) {
			t.Errorf("%v: %v", l.LayerType(), err)
		}
	}
	long := gopacket.Payload(make([]byte, 1<<16))
	err := gopacket.SerializeLayers(gopacket.NewSerializeBuffer(), gopacket.SerializeOptions{FixLengths: true}, &rdmalayers.LRH{}, long)
	if !errors.Is(err, codec.ErrRange) {
		t.Errorf("LRH before 64 KiB: %v", err)
	}
}
