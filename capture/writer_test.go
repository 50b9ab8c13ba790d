package capture

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
)

// The writer's blocks are those that the builder lays out field by field.
func TestWriterBlocks(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, "x", WriterOptions{Application: "a test", Comment: "cut", Describe: func(*dissect.Frame) Interface {
		return Interface{Name: "eth0", SnapLen: 96, Drops: 5}
	}})
	if err != nil {
		t.Fatal(err)
	}
	frames := []dissect.Frame{
		{Data: data(60, 1), WireLen: 1500, Time: 1700000000_123456789, Link: 1},
		{Data: data(61, 2), WireLen: 61, Time: 7, Link: 1},
		{Data: data(62, 3), WireLen: 62, Time: -7, Link: 276, Interface: 3},
		{Data: data(63, 4), WireLen: 3, Time: 9, Link: 1},
		{WireLen: 1 << 40, Time: 10, Link: 1},
	}
	for i := range frames {
		if err := w.WriteFrame(&frames[i]); err != nil {
			t.Fatal(err)
		}
	}
	for _, drops := range []struct{ index, n int }{{0, 40}, {9, 1000}, {0, 2}} {
		if err := w.AddDrops(0, drops.index, uint64(drops.n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	name, resolution := option{2, []byte("eth0")}, option{9, []byte{9}}
	ng := ngBuilder{order: little}
	ng.block(0x0a0d0d0a, uint32(0x1a2b3c4d), uint16(1), uint16(0), ^uint64(0), option{1, []byte("cut")}, option{4, []byte("a test")}, option{})
	ng.iface(1, 96, name, resolution)
	ng.enhanced(0, 1700000000_123456789, 1500, frames[0].Data)
	ng.enhanced(0, 7, 61, frames[1].Data)
	ng.iface(276, 96, name, resolution)
	ng.enhanced(1, 0, 62, frames[2].Data)
	ng.enhanced(0, 9, 63, frames[3].Data)
	ng.enhanced(0, 10, 0xffffffff, nil)
	for _, drops := range []uint64{40, 42} {
		ng.block(5, uint32(0), uint32(0), uint32(10), ng.count(5, drops), option{})
	}
	if !bytes.Equal(out.Bytes(), ng.out) {
		t.Errorf("wrote\n% x, want\n% x", out.Bytes(), ng.out)
	}
}

// Files of a rotation share an interface; interfaces of one file stay apart.
func TestWriterInterfaces(t *testing.T) {
	var out bytes.Buffer
	w, _ := NewWriter(&out, "x", WriterOptions{})
	for _, f := range []dissect.Frame{
		{Link: 1}, {Link: 1, Interface: 1}, {Link: 1, File: 1}, {Link: 101, File: 2}, {Link: 1, File: 1}, {Link: 101, File: 2, Interface: 1},
	} {
		w.WriteFrame(&f)
	}
	w.AddDrops(0, 0, 3)
	w.AddDrops(1, 0, 4)
	w.AddDrops(2, 0, 5)
	w.Close()
	frames, info, err := readBytes(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var ids []int
	for _, f := range frames {
		ids = append(ids, f.Interface)
	}
	if got, want := ids, []int{0, 1, 0, 2, 0, 3}; !slices.Equal(got, want) {
		t.Errorf("interfaces %v, want %v", got, want)
	}
	for i, want := range []uint64{7, 0, 5, 0} {
		if got := info.Interfaces[i].Drops; got != want {
			t.Errorf("interface %d: %d drops, want %d", i, got, want)
		}
	}
}

// shipped are the captures of the project that can be opened.
func shipped(t *testing.T) map[string][]dissect.Frame {
	t.Helper()
	all := map[string][]dissect.Frame{}
	for _, pattern := range []string{"../testdata/cases/*.pcap*", "../testdata/pcaps/*.pcap*"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			r, err := Open(file)
			if err != nil {
				continue
			}
			frames, _ := readAll(r) // the fault behind them is none of the writer's
			r.Close()
			all[file] = frames
		}
	}
	if len(all) < 80 {
		t.Fatalf("only %d captures", len(all))
	}
	return all
}

// Every frame of every capture comes back as it was, plain and compressed.
func TestWriterRoundTrip(t *testing.T) {
	for file, frames := range shipped(t) {
		for _, suffix := range []string{".pcapng", ".gz", ".zst"} {
			if len(frames) > 100 && suffix != ".pcapng" {
				continue // takes long and shows nothing more
			}
			path := filepath.Join(t.TempDir(), "out"+suffix)
			w, err := Create(path, WriterOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range frames {
				if err := w.WriteFrame(&frames[i]); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			head, _ := os.ReadFile(path)
			if magic := map[string]string{".pcapng": "\x0a\x0d\x0d\x0a", ".gz": "\x1f\x8b", ".zst": "\x28\xb5\x2f\xfd"}[suffix]; !strings.HasPrefix(string(head), magic) {
				t.Errorf("%s: begins with % x", suffix, head[:4])
			}
			r, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			back, err := readAll(r)
			if err != nil {
				t.Errorf("%s: %v", file, err)
			}
			if len(back) != len(frames) {
				t.Fatalf("%s: %d frames back of %d", file, len(back), len(frames))
			}
			ids := map[int]int{}
			for i := range back {
				got, want := back[i], frames[i]
				if !bytes.Equal(got.Data, want.Data) || got.WireLen != want.WireLen || got.Time != want.Time || got.Link != want.Link || got.Number != i+1 {
					t.Fatalf("%s: frame %d: %+v, want %+v", file, i+1, got, want)
				}
				if id, seen := ids[want.Interface]; seen && id != got.Interface {
					t.Fatalf("%s: frame %d: interface %d is %d now and was %d", file, i+1, want.Interface, got.Interface, id)
				}
				ids[want.Interface] = got.Interface
			}
			r.Close()
		}
	}
}

// What was flushed can be read while the writer goes on.
func TestWriterFlush(t *testing.T) {
	for _, suffix := range []string{"", ".gz", ".zst"} {
		path := filepath.Join(t.TempDir(), "out"+suffix)
		w, err := Create(path, WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		f := dissect.Frame{Data: data(60, 0), Link: 1}
		w.WriteFrame(&f)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			t.Fatalf("%q: %v", suffix, err)
		}
		var back dissect.Frame
		if err := r.Next(&back); err != nil || !bytes.Equal(back.Data, f.Data) {
			t.Errorf("%q: %v, % x", suffix, err, back.Data)
		}
		r.Close()
		w.Close()
	}
}

func TestWriterFaults(t *testing.T) {
	if _, err := Create(filepath.Join(t.TempDir(), "none", "x"), WriterOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
	w, err := Create("/dev/full", WriterOptions{})
	if err != nil {
		t.Skip(err)
	}
	f := dissect.Frame{Data: data(1<<10, 0), Link: 1}
	for range 2 * outputSize / len(f.Data) {
		err = w.WriteFrame(&f)
	}
	for _, err := range []error{err, w.AddDrops(0, 0, 1), w.Flush(), w.Close()} {
		if !errors.Is(err, syscall.ENOSPC) || err.Error() != "/dev/full: no space left on device" {
			t.Errorf("on a full disk: %v", err)
		}
	}
}

func TestWriterDoesNotAllocate(t *testing.T) {
	w, _ := NewWriter(io.Discard, "x", WriterOptions{})
	frames := [2]dissect.Frame{{Data: data(1061, 0), Link: 1}, {Data: data(60, 0), Link: 1, Interface: 1}}
	write := func() {
		w.WriteFrame(&frames[0])
		w.WriteFrame(&frames[1])
	}
	write()
	if n := testing.AllocsPerRun(100, write); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkWriteFrame(b *testing.B) {
	w, _ := NewWriter(io.Discard, "x", WriterOptions{})
	f := dissect.Frame{Data: data(1082, 0), Link: 1}
	b.SetBytes(int64(len(f.Data)))
	for b.Loop() {
		w.WriteFrame(&f)
	}
}
