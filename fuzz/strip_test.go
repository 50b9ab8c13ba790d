package fuzz

import (
	"bytes"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// FuzzStrip strips arbitrary frames: what comes out is the same packet in the
// same place, and stripping it again changes nothing but an ICRC.
func FuzzStrip(f *testing.F) {
	seedFrames(f)
	stripper, again := dissect.Stripper{}, dissect.Stripper{}
	f.Fuzz(func(t *testing.T, link uint16, data []byte, cut uint16) {
		frame := dissect.Frame{Data: data, WireLen: len(data) + int(cut), Link: dissect.LinkType(link), Number: 1}
		var (
			locator dissect.Locator
			was, is dissect.Packet
			a, b    codec.Packet
		)
		outcome := locator.Locate(&frame, &was)
		bare := stripper.Strip(&frame)
		if there := outcome == dissect.Found || outcome == dissect.Cut; there != (bare != nil) {
			t.Fatalf("%v, stripped: %v", outcome, bare)
		}
		if outcome == dissect.Cut && (len(bare.Data) != len(data) || locator.Locate(bare, &is) != outcome) {
			t.Fatalf("cut within the BTH, stripped % x", bare.Data)
		}
		if outcome != dissect.Found {
			return
		}
		if locator.Locate(bare, &is) != dissect.Found || is.BTH != was.BTH || is.WireLen != was.WireLen || is.Src != was.Src ||
			is.Dst != was.Dst || is.Tunnels != was.Tunnels || len(bare.Data) != len(data) || bare.WireLen != frame.WireLen {
			t.Fatalf("was %+v\nis %+v", was, is)
		}
		if state := was.ICRC(); state == dissect.ICRCGood && is.ICRC() != state {
			t.Fatalf("ICRC is %v", is.ICRC())
		}
		failed, fails := a.Decode(was.Transport(), was.WireLen), b.Decode(is.Transport(), is.WireLen)
		if (failed == nil) != (fails == nil) || a.Headers != b.Headers {
			t.Fatalf("%v %v, stripped %v %v", a.Headers, failed, b.Headers, fails)
		}
		for _, h := range codec.Headers() {
			if !bytes.Equal(a.HeaderBytes(h), b.HeaderBytes(h)) {
				t.Fatalf("%v: % x, stripped % x", h, a.HeaderBytes(h), b.HeaderBytes(h))
			}
		}
		if b.BTH.DestQP != 1 && len(bytes.Trim(b.Payload, "\x00")) > 0 {
			t.Fatalf("payload % x", b.Payload)
		}
		icrc := len(b.ICRC) + len(b.CutICRC)
		end := len(is.Link) + len(is.Covered) - icrc
		twice := again.Strip(bare)
		if twice == nil || !bytes.Equal(twice.Data[:end], bare.Data[:end]) {
			t.Fatalf("% x, again % x", bare.Data, twice)
		}
	})
}
