package main

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/expect"
)

// frames reads a capture, as far as it can be read.
func frames(t *testing.T, file string) []dissect.Frame {
	t.Helper()
	r, err := capture.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []dissect.Frame
	for {
		var f dissect.Frame
		if err := r.Next(&f); err != nil {
			if err != io.EOF {
				t.Log(err)
			}
			return all
		}
		f.Data = bytes.Clone(f.Data)
		all = append(all, f)
	}
}

// lossOf is what loss says, without the names of files.
func lossOf(t *testing.T, file string) expect.Object {
	t.Helper()
	out, errs, _ := execute("loss", "--json", "--gaps=all", file)
	var r expect.Object
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%s: %v, %s", file, err, errs)
	}
	for _, c := range r["captures"].([]any) {
		delete(c.(expect.Object), "file")
	}
	return r
}

// A stripped capture tells of the network what the whole one tells, and of what
// was sent nothing.
func TestStrippedCaptures(t *testing.T) {
	dir := t.TempDir()
	stripped := 0
	eachCase(t, func(t *testing.T, c expect.Case) {
		whole, bare := filepath.Join(dir, c.Name+"-whole.pcapng"), filepath.Join(dir, c.Name+"-bare.pcapng")
		if _, errs, exit := execute("read", "-w", whole, c.File); exit != 0 && !strings.Contains(errs, "frames written") {
			t.Skip(errs) // cannot be opened
		}
		_, errs, _ := execute("read", "-w", bare, "--strip-payload", c.File)
		if !strings.Contains(errs, "payload zeroed, ICRC made anew") {
			t.Error(errs)
		}
		if got, want := lossOf(t, bare), lossOf(t, whole); !reflect.DeepEqual(got, want) {
			t.Errorf("loss says of the stripped capture\n%v\nand of the whole\n%v", got, want)
		}
		before, after := frames(t, whole), frames(t, bare)
		if len(before) != len(after) {
			t.Fatalf("%d frames of %d", len(after), len(before))
		}
		for i := range after {
			stripped++
			checkStripped(t, &before[i], &after[i])
		}
	})
	if stripped < 5000 {
		t.Errorf("only %d frames", stripped)
	}
}

// checkStripped compares a frame with what is left of it.
func checkStripped(t *testing.T, whole, bare *dissect.Frame) {
	t.Helper()
	if len(bare.Data) != len(whole.Data) || bare.WireLen != whole.WireLen || bare.Time != whole.Time || bare.Link != whole.Link || bare.Interface != whole.Interface {
		t.Errorf("frame %d: %d of %d bytes, time %d, link type %v", bare.Number, len(bare.Data), bare.WireLen, bare.Time, bare.Link)
		return
	}
	var (
		locator      dissect.Locator
		was, is      dissect.Packet
		full, packet codec.Packet
	)
	if locator.Locate(whole, &was) != dissect.Found || locator.Locate(bare, &is) != dissect.Found {
		t.Fatalf("frame %d is no packet", bare.Number)
	}
	if was.ICRC() != is.ICRC() && was.ICRC() != dissect.ICRCAbsent {
		t.Errorf("frame %d: ICRC was %v and is %v", bare.Number, was.ICRC(), is.ICRC())
	}
	failed, fails := full.Decode(was.Transport(), was.WireLen), packet.Decode(is.Transport(), is.WireLen)
	if (failed == nil) != (fails == nil) || full.Headers != packet.Headers {
		t.Errorf("frame %d: was %v %v, is %v %v", bare.Number, full.Headers, failed, packet.Headers, fails)
	}
	for _, h := range codec.Headers() {
		if !bytes.Equal(full.HeaderBytes(h), packet.HeaderBytes(h)) {
			t.Errorf("frame %d: %v was changed", bare.Number, h)
		}
	}
	payload := packet.Payload
	if packet.BTH.DestQP == 1 {
		var m codec.CM
		if m.Decode(payload) == nil {
			payload = m.PrivateData
		}
	}
	if zero := make([]byte, len(payload)); !bytes.Equal(payload, zero) {
		t.Errorf("frame %d: payload % x", bare.Number, payload)
	}
	for name, part := range map[string][]byte{"pad": packet.Pad, "trailer": is.Trailer} {
		if bytes.ContainsFunc(part, func(r rune) bool { return r != 0 }) {
			t.Errorf("frame %d: %s % x", bare.Number, name, part)
		}
	}
}

// TestWholeCaptures compares what -w writes with what it was made from: the
// same packets, byte for byte, and nothing else.
func TestWholeCaptures(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.pcapng")
	eachCase(t, func(t *testing.T, c expect.Case) {
		if _, errs, exit := execute("read", "-w", out, c.File); exit != 0 && !strings.Contains(errs, "frames written") {
			t.Skip(errs)
		}
		wanted := map[int]bool{}
		printed, _, _ := execute("read", "--json", c.File)
		for _, o := range objects(t, printed) {
			wanted[int(o["frame"].(float64))] = true
		}
		var want []dissect.Frame
		for _, f := range frames(t, c.File) {
			if wanted[f.Number] {
				want = append(want, f)
			}
		}
		got := frames(t, out)
		if len(got) != len(want) {
			t.Fatalf("%d frames, want %d", len(got), len(want))
		}
		for i := range got {
			g, w := got[i], want[i]
			if !bytes.Equal(g.Data, w.Data) || g.Time != w.Time || g.WireLen != w.WireLen || g.Link != w.Link {
				t.Errorf("frame %d is not frame %d", g.Number, w.Number)
			}
		}
	})
}
