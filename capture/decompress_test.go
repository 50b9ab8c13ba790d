package capture

import (
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/rdmadump/rdmadump/dissect"
)

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	z := stdgzip.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

func zstandard(b []byte) []byte {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true))
	if err != nil {
		panic(err)
	}
	return z.EncodeAll(b, nil)
}

func TestCompressed(t *testing.T) {
	skippable := []byte{0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3}
	for name, s := range small() {
		half := len(s.file) / 2
		for how, file := range map[string][]byte{
			"gzip":                gzipped(s.file),
			"zstd":                zstandard(s.file),
			"two members":         append(gzipped(s.file[:half]), gzipped(s.file[half:])...),
			"padded with zeros":   append(gzipped(s.file), make([]byte, 1000)...),
			"zeros in between":    slices.Concat(gzipped(s.file[:half]), []byte{0}, gzipped(s.file[half:])),
			"an empty member":     append(gzipped(nil), gzipped(s.file)...),
			"two zstd frames":     append(zstandard(s.file[:half]), zstandard(s.file[half:])...),
			"a skippable frame":   append(skippable, zstandard(s.file)...),
			"gzip in zstd":        zstandard(gzipped(s.file)),
			"zstd in gzip":        gzipped(zstandard(s.file)),
			"gzip, four times":    gzipped(gzipped(gzipped(gzipped(s.file)))),
			"gzip, not deflated ": stored(s.file),
		} {
			frames, info, err := readBytes(file)
			if err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
			}
			sameFrames(t, frames, s.frames)
			if info.Frames != len(s.frames) {
				t.Error(info)
			}
		}
	}
	_, _, err := readBytes(gzipped(gzipped(gzipped(gzipped(gzipped(small()["pcapng big"].file))))))
	fault(t, err, ErrFormat, 0, noOffset, "")
}

func stored(b []byte) []byte {
	var out bytes.Buffer
	z, _ := stdgzip.NewWriterLevel(&out, stdgzip.NoCompression)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

// Compressed data that ends anywhere too early is cut, even where what came out
// of it ends between two records. What came out is read.
func TestEveryCompressedPrefix(t *testing.T) {
	for name, s := range small() {
		for how, file := range map[string][]byte{
			"gzip": gzipped(s.file), "zstd": zstandard(s.file), "zstd in gzip": gzipped(zstandard(s.file)),
			"second member": append(gzipped(s.file[:s.ends[1]]), gzipped(s.file[s.ends[1]:])...),
		} {
			whole := []int{len(file)}
			if how == "second member" {
				whole = append(whole, len(gzipped(s.file[:s.ends[1]])))
			}
			for n := 4; n < len(file); n++ {
				frames, _, err := readBytes(file[:n])
				if len(frames) > len(s.frames) {
					t.Fatalf("%d frames", len(frames))
				}
				sameFrames(t, frames, s.frames[:len(frames)])
				if err == nil && slices.Contains(whole, n) {
					continue
				}
				if !errors.Is(err, ErrCut) {
					t.Errorf("%s, %s, %d of %d bytes: %v", name, how, n, len(file), err)
				}
			}
		}
	}
}

func TestCompressedDamage(t *testing.T) {
	s := small()["pcap µs little"]
	for how, file := range map[string][]byte{"gzip": gzipped(s.file), "zstd": zstandard(s.file)} {
		file[len(file)-1-3] ^= 1 // of the length or checksum at the end
		_, _, err := readBytes(file)
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", how, err)
		}
	}
}

// What stands behind gzip data and is none is told, after all that was read.
func TestBehindGzip(t *testing.T) {
	s := small()["pcap µs little"]
	frames, _, err := readBytes(append(gzipped(s.file), 0, 0, 0xde, 0xad, 0xbe))
	sameFrames(t, frames, s.frames)
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), ": behind the gzip data comes something else, which begins with de ad (at byte ") {
		t.Error(err)
	}
}

// A frame header that asks for a window of 2 GiB gets none of it.
func TestZstdWindow(t *testing.T) {
	file := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x01, 0x00, 0x00}
	_, _, err := readBytes(file)
	fault(t, err, ErrDamaged, 0, noOffset, "")
	if err != nil && err.Error() != "x: zstd data needs more than 128 MiB of memory" {
		t.Error(err)
	}
}

// 256 MiB of nothing in some kilobytes is passed without being held.
func TestBomb(t *testing.T) {
	ng := ngBuilder{order: little}
	ng.section()
	zeros := make([]byte, 1<<20)
	const total = 256 << 20
	head := little.AppendUint32(little.AppendUint32(nil, 99), total)
	parts := []io.Reader{bytes.NewReader(ng.out), bytes.NewReader(head)}
	for range total / len(zeros) {
		parts = append(parts, bytes.NewReader(zeros))
	}
	parts[len(parts)-1] = bytes.NewReader(append(zeros[:len(zeros)-12:len(zeros)-12], little.AppendUint32(nil, total)...))
	var file bytes.Buffer
	z, err := zstd.NewWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(z, io.MultiReader(parts...)); err != nil {
		t.Fatal(err)
	}
	z.Close()
	z = nil

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	frames, _, err := readBytes(file.Bytes())
	runtime.ReadMemStats(&after)
	if len(frames) != 0 || err != nil {
		t.Error(len(frames), err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 48<<20 {
		t.Errorf("%d bytes allocated for a file of %d", used, file.Len())
	}
}

// Close ends what runs beside the reader, at the start, in the middle, at the
// end, and where opening fails.
func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	const frames = 20000
	path := filepath.Join(t.TempDir(), "x")
	for _, file := range [][]byte{gzipped(benchPcap(frames, 512)), zstandard(benchPcapng(frames, 512)), gzipped([]byte("no capture"))} {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 100, frames + 1} {
			r, err := Open(path)
			if err != nil {
				continue
			}
			var f dissect.Frame
			for range n {
				r.Next(&f)
			}
			r.Close()
			r, err = NewReader(bytes.NewReader(file), "x")
			if err != nil {
				t.Fatal(err)
			}
			for range n {
				r.Next(&f)
			}
			r.Close()
		}
	}
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if now := runtime.NumGoroutine(); now > before {
		t.Errorf("%d goroutines, %d before", now, before)
	}
}
