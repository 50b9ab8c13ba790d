package capture

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/rdmadump/rdmadump/dissect"
)

func TestOpenFaults(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		path string
		kind error
		text string
	}{
		{filepath.Join(dir, "missing.pcap"), fs.ErrNotExist, ": no such file or directory"},
		{dir, nil, ": is a directory"},
		{file("empty.pcap", ""), ErrEmpty, ": empty file"},
		{file("short.pcap", "\xd4\xc3\xb2"), ErrFormat, ": not a capture: has 3 bytes only"},
		{file("text.pcap", "#!/bin/sh\n"), ErrFormat, ": not a capture: begins with 23 21 2f 62, neither pcap nor pcapng"},
		{file("x.pcap.xz", "\xfd7zXZ\x00\x00"), ErrFormat, ": not a capture that can be read: xz data, decompress it first"},
		{file("empty.pcap.gz", string(gzipped(nil))), ErrEmpty, ": empty file"},
		{file("cut.pcap.gz", "\x1f\x8b\x08"), ErrCut, ": gzip data ends too early"},
		{file("bad.pcap.gz", "\x1f\x8b\x09\x00\x00\x00\x00\x00\x00\x00"), ErrDamaged, ": gzip data is damaged: invalid header"},
	} {
		r, err := Open(c.path)
		if r != nil || err == nil {
			t.Fatalf("%s: reader %v, error %v", c.path, r, err)
		}
		var e *Error
		if !errors.As(err, &e) || c.kind != nil && !errors.Is(err, c.kind) {
			t.Errorf("%s: kind of %v", c.path, err)
		}
		if want := c.path + c.text; err.Error() != want && !strings.HasPrefix(err.Error(), want+" (at byte") {
			t.Errorf("says  %s\nwant  %s", err, want)
		}
	}
}

func TestOpenByContent(t *testing.T) {
	s := small()["pcapng big"]
	path := filepath.Join(t.TempDir(), "x.pcap.gz") // it is neither
	if err := os.WriteFile(path, s.file, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := readAll(r)
	if err != nil {
		t.Error(err)
	}
	sameFrames(t, frames, s.frames)
	var f dissect.Frame
	if err := r.Next(&f); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestNextAfterClose(t *testing.T) {
	r, err := NewReader(bytes.NewReader(small()["pcap µs big"].file), "x")
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	var f dissect.Frame
	if err := r.Next(&f); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// However its bytes come, a capture reads the same.
func TestShortReads(t *testing.T) {
	for name, s := range small() {
		for how, src := range map[string]io.Reader{
			"bytes one by one": iotest.OneByteReader(bytes.NewReader(s.file)),
			"halves":           iotest.HalfReader(bytes.NewReader(s.file)),
			"end with data":    iotest.DataErrReader(bytes.NewReader(s.file)),
			"gzip, one by one": iotest.OneByteReader(bytes.NewReader(gzipped(s.file))),
			"zstd, one by one": iotest.OneByteReader(bytes.NewReader(zstandard(s.file))),
		} {
			r, err := NewReader(src, "-")
			if err != nil {
				t.Fatal(name, how, err)
			}
			frames, err := readAll(r)
			if err != nil {
				t.Error(name, how, err)
			}
			sameFrames(t, frames, s.frames)
			r.Close()
		}
	}
}

// A frame is there as soon as its last byte is, as a live pipe needs.
func TestPipeDoesNotWait(t *testing.T) {
	for name, s := range small() {
		if strings.HasPrefix(name, "pcapng") {
			continue // blocks between the packets would have to be written too
		}
		pr, pw := io.Pipe()
		go pw.Write(s.file[:s.ends[0]])
		r, err := NewReader(pr, "-")
		if err != nil {
			t.Fatal(name, err)
		}
		for i := range s.frames {
			go pw.Write(s.file[s.ends[i]:s.ends[i+1]])
			var f dissect.Frame
			if err := r.Next(&f); err != nil || f.Number != i+1 {
				t.Fatal(name, f, err)
			}
		}
		pw.Close()
		var f dissect.Frame
		if err := r.Next(&f); err != io.EOF {
			t.Error(name, err)
		}
	}
}

var errDisk = errors.New("disk on fire")

// An input that cannot be read is neither cut nor damaged, wherever it fails and
// whatever is around it.
func TestReadError(t *testing.T) {
	for name, s := range small() {
		for n := range s.file {
			r, err := NewReader(io.MultiReader(bytes.NewReader(s.file[:n]), iotest.ErrReader(errDisk)), "x")
			if err == nil {
				_, err = readAll(r)
			}
			if !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "disk on fire") {
				t.Fatalf("%s, %d bytes: %v", name, n, err)
			}
		}
		for how, file := range map[string][]byte{"gzip": gzipped(s.file), "zstd": zstandard(s.file)} {
			for n := range file {
				r, err := NewReader(io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(errDisk)), "x")
				if err == nil {
					_, err = readAll(r)
				}
				if !errors.Is(err, errDisk) {
					t.Fatalf("%s, %s, %d bytes: %v", name, how, n, err)
				}
			}
		}
	}
}

// Bytes that arrive set the size of the buffer, not lengths that are stated.
func TestLyingLengthAllocatesLittle(t *testing.T) {
	p := pcapBuilder{order: little, magic: 0xa1b2c3d4}
	classic := p.record(p.file(1, 0), 1, 1, 60, data(60, 0))
	little.PutUint32(classic[24+8:], maxRecord)
	ng := ngBuilder{order: little}
	ng.section()
	ng.iface(1, 0)
	ng.enhanced(0, 1, 60, data(60, 0))
	little.PutUint32(ng.out[28+20+4:], maxRecord)
	for _, file := range [][]byte{classic, ng.out} {
		r, err := NewReader(bytes.NewReader(file), "x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readAll(r); !errors.Is(err, ErrCut) {
			t.Error(err)
		}
		if len(r.win.buf) > windowSize {
			t.Errorf("buffer of %d bytes for a file of %d", len(r.win.buf), len(file))
		}
	}
}

// A packet far larger than the buffer is read whole, and what follows it too.
func TestLargePacket(t *testing.T) {
	p := pcapBuilder{order: little, magic: 0xa1b2c3d4}
	file := p.record(p.file(1, 0), 1, 0, 9, data(maxRecord, 0))
	file = p.record(file, 1, 0, 9, data(9, 0))
	frames, _, err := readBytes(file)
	if err != nil {
		t.Fatal(err)
	}
	sameFrames(t, frames, []dissect.Frame{
		{Data: data(maxRecord, 0), WireLen: maxRecord, Time: 1e9, Link: 1, Number: 1},
		{Data: data(9, 0), WireLen: 9, Time: 1e9, Link: 1, Number: 2},
	})
}

func TestNextDoesNotAllocate(t *testing.T) {
	const frames, perRun = 20000, 1000 // of 512 bytes: each run refills the window twice
	for name, file := range map[string][]byte{
		"pcap": benchPcap(frames, 512), "pcapng": benchPcapng(frames, 512), "pcap.gz": gzipped(benchPcap(frames, 512)),
	} {
		r, err := NewReader(bytes.NewReader(file), name)
		if err != nil {
			t.Fatal(err)
		}
		var f dissect.Frame
		n := testing.AllocsPerRun(frames/perRun-2, func() {
			for range perRun {
				if err := r.Next(&f); err != nil {
					t.Fatal(err)
				}
			}
		})
		// The decompressor, beside the reader, makes new tables now and then.
		if n > 0 && name != "pcap.gz" || n > perRun/100 {
			t.Errorf("%s: %v allocations in %d frames", name, n, perRun)
		}
		r.Close()
	}
}
