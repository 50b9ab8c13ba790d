// Package fuzz holds the fuzz targets and what they have found.
package fuzz

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
)

// FuzzCapture reads any bytes as a capture, in one piece and byte by byte. Both
// give the same frames and error, each frame is a part of the input, and memory
// stays within what the reader and its decompressors may hold.
func FuzzCapture(f *testing.F) {
	for _, seed := range captureSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > 64<<10 {
			t.Skip("larger than any branch needs")
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		compressed := bytes.HasPrefix(file, []byte{0x1f, 0x8b}) || isZstd(file)
		whole, wholeErr := readCapture(t, bytes.NewReader(file), file, compressed)
		runtime.ReadMemStats(&after)
		// What is not compressed cannot fill the first buffer. Compressed, there
		// may be a window of 32 MiB, those before it, and four zstd windows.
		bound := uint64(2 << 20)
		if compressed {
			bound = 4*(130<<20) + 64<<20
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > bound {
			t.Errorf("%d bytes allocated for %d", used, len(file))
		}

		single, singleErr := readCapture(t, iotest.OneByteReader(bytes.NewReader(file)), file, compressed)
		if !bytes.Equal(whole, single) {
			t.Error("frames depend on how their bytes come")
		}
		if wholeErr.Error() != singleErr.Error() {
			t.Errorf("error depends on how bytes come: %q and %q", wholeErr, singleErr)
		}
		if compressed {
			return
		}
		for how, around := range map[string][]byte{"gzip": gzipped(file), "zstd": encoder.EncodeAll(file, nil)} {
			inside, insideErr := readCapture(t, bytes.NewReader(around), file, false)
			if !bytes.Equal(whole, inside) || wholeErr.Error() != insideErr.Error() {
				t.Errorf("read through %s: %q, as it is: %q", how, insideErr, wholeErr)
			}
		}
	})
}

var encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))

// maxFrames ends the reading of what decompresses to millions of packets.
const maxFrames = 20000

// readCapture reads to the end and returns what the frames say, byte for byte,
// and the error that ended them.
func readCapture(t *testing.T, src io.Reader, file []byte, compressed bool) ([]byte, error) {
	r, err := capture.NewReader(src, "x")
	if err != nil {
		wellFormed(t, err)
		return nil, err
	}
	defer r.Close()
	const untouched = -77
	var seen []byte
	links := map[int]dissect.LinkType{}
	for n := 1; n <= maxFrames; n++ {
		f := dissect.Frame{File: untouched}
		if err := r.Next(&f); err != nil {
			if err != io.EOF {
				wellFormed(t, err)
			}
			if f.Data != nil || f.Number != 0 {
				t.Error("a frame with an error")
			}
			if again := r.Next(&f); again != err {
				t.Errorf("%v, and then %v", err, again)
			}
			info := r.Info()
			if info.Frames != n-1 {
				t.Errorf("%d frames, counted %d", n-1, info.Frames)
			}
			for i, link := range links {
				if i < 0 || i >= len(info.Interfaces) || info.Interfaces[i].Link != link {
					t.Errorf("a frame has link type %v and interface %d of %+v", link, i, info.Interfaces)
				}
			}
			return seen, err
		}
		links[f.Interface] = f.Link
		switch {
		case f.Number != n:
			t.Errorf("frame %d has number %d", n, f.Number)
		case f.WireLen < len(f.Data):
			t.Errorf("frame %d: %d bytes of %d", n, len(f.Data), f.WireLen)
		case f.File != untouched:
			t.Error("file index was set")
		case !compressed && !bytes.Contains(file, f.Data):
			t.Errorf("frame %d is no part of the input", n)
		}
		if !compressed || len(seen) < 1<<20 {
			seen = append(seen, f.Data...)
		}
		for _, v := range []int{len(f.Data), f.WireLen, int(f.Time), int(f.Link), f.Interface} {
			seen = binary.LittleEndian.AppendUint64(seen, uint64(v))
		}
	}
	return seen, io.EOF
}

// wellFormed checks an error that is not the end.
func wellFormed(t *testing.T, err error) {
	var e *capture.Error
	if !errors.As(err, &e) || e.File != "x" || e.Msg == "" || bytes.ContainsAny([]byte(err.Error()), "\n\x00") {
		t.Errorf("error %q", err)
	}
	for _, kind := range []error{capture.ErrCut, capture.ErrDamaged, capture.ErrEmpty, capture.ErrFormat} {
		if errors.Is(err, kind) {
			return
		}
	}
	t.Errorf("error %q is of no kind", err)
}

func isZstd(b []byte) bool {
	return len(b) >= 4 && (b[0] == 0x28 && b[1] == 0xb5 || b[0]&0xf0 == 0x50 && b[1] == 0x2a)
}

// captureSeeds are captures of every form, written out by hand.
func captureSeeds() [][]byte {
	const pcap = "\xd4\xc3\xb2\xa1\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x01\x00\x00\x00" +
		"\x00\xf1\x53\x65\x01\x00\x00\x00\x04\x00\x00\x00\x3c\x00\x00\x00abcd" +
		"\x00\xf1\x53\x65\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
		"\x00\xf1\x53\x65\x03\x00\x00\x00\x05\x00\x00\x00\x01\x00\x00\x00efghi"
	const pcapBig = "\xa1\xb2\x3c\x4d\x00\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x40\x00\x00\xf7" +
		"\x65\x53\xf1\x00\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x3cabcd"
	const modified = "\x34\xcd\xb2\xa1\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x01\x00\x00\x00" +
		"\x00\xf1\x53\x65\x01\x00\x00\x00\x04\x00\x00\x00\x3c\x00\x00\x00\x02\x00\x00\x00\x08\x00\x00\x00abcd"
	const section = "\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x4d\x3c\x2b\x1a\x01\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\x1c\x00\x00\x00"
	const iface = "\x01\x00\x00\x00\x30\x00\x00\x00\x01\x00\x00\x00\x06\x00\x00\x00" +
		"\x09\x00\x01\x00\x94\x00\x00\x00\x0e\x00\x08\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x02\x00eth\x00\x30\x00\x00\x00"
	const enhanced = "\x06\x00\x00\x00\x34\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x40\x00\x00\x00abc\x00" +
		"\x04\x00\x08\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x34\x00\x00\x00"
	const obsolete = "\x02\x00\x00\x00\x24\x00\x00\x00\x00\x00\x07\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x40\x00\x00\x00abc\x00\x24\x00\x00\x00"
	const simple = "\x03\x00\x00\x00\x18\x00\x00\x00\x40\x00\x00\x00abcdef\x00\x00\x18\x00\x00\x00"
	const statistics = "\x05\x00\x00\x00\x30\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00" +
		"\x05\x00\x08\x00\x03\x00\x00\x00\x00\x00\x00\x00\x07\x00\x08\x00\x04\x00\x00\x00\x00\x00\x00\x00\x30\x00\x00\x00"
	const custom = "\xad\x0b\x00\x00\x10\x00\x00\x00\x01\x02\x03\x04\x10\x00\x00\x00"
	const sectionBig = "\x0a\x0d\x0d\x0a\x00\x00\x00\x1c\x1a\x2b\x3c\x4d\x00\x01\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x1c" +
		"\x00\x00\x00\x01\x00\x00\x00\x14\x00\x71\x00\x00\x00\x00\x00\x00\x00\x00\x00\x14" +
		"\x00\x00\x00\x06\x00\x00\x00\x24\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x40abc\x00\x00\x00\x00\x24"
	const blocks = section + iface + enhanced + custom + obsolete + simple + statistics
	var seeds [][]byte
	for _, s := range []string{pcap, pcapBig, modified, section, blocks, blocks + sectionBig, sectionBig + blocks} {
		b := []byte(s)
		seeds = append(seeds, b, b[:len(b)-7], gzipped(b), encoder.EncodeAll(b, nil), encoder.EncodeAll(gzipped(b), nil))
	}
	return append(seeds, nil, []byte("not a capture"), append(gzipped([]byte(pcap[:30])), gzipped([]byte(pcap[30:]))...))
}

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	z.Write(b)
	z.Close()
	return out.Bytes()
}
