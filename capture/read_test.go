package capture

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
)

// readAll reads r to its end, and copies what the frames borrow. The error is
// nil at a clean end.
func readAll(r *Reader) ([]dissect.Frame, error) {
	var frames []dissect.Frame
	for {
		var f dissect.Frame
		switch err := r.Next(&f); {
		case err == io.EOF:
			return frames, nil
		case err != nil:
			return frames, err
		}
		f.Data = bytes.Clone(f.Data)
		frames = append(frames, f)
	}
}

// readBytes reads a capture held in memory.
func readBytes(file []byte) ([]dissect.Frame, Info, error) {
	r, err := NewReader(bytes.NewReader(file), "x")
	if err != nil {
		return nil, Info{}, err
	}
	defer r.Close()
	frames, err := readAll(r)
	return frames, r.Info(), err
}

// sameFrames compares frames, times and all.
func sameFrames(t *testing.T, got, want []dissect.Frame) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d frames, want %d", len(got), len(want))
	}
	for i := range want {
		g, w := got[i], want[i]
		if !bytes.Equal(g.Data, w.Data) {
			t.Errorf("frame %d: data % x, want % x", i+1, g.Data, w.Data)
		}
		g.Data, w.Data = nil, nil
		if g.Number != w.Number || g.WireLen != w.WireLen || g.Time != w.Time || g.Link != w.Link || g.Interface != w.Interface {
			t.Errorf("frame %d: %+v, want %+v", i+1, g, w)
		}
	}
}

// fault checks the parts of an error that a caller can rely on.
func fault(t *testing.T, err error, kind error, frame int, offset int64, field string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want an *Error", err)
	}
	if !errors.Is(err, kind) || e.Frame != frame || e.Offset != offset || e.Field != field {
		t.Errorf("error %q: kind %v, frame %d, offset %d, field %q; want %v, %d, %d, %q",
			err, e.Err, e.Frame, e.Offset, e.Field, kind, frame, offset, field)
	}
}

// data is n bytes that tell one frame from another.
func data(n int, first byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = first + byte(i)
	}
	return b
}

// small has a capture of every form, with where its records end and the frames
// in it.
func small() map[string]sample {
	samples := map[string]sample{}
	for name, p := range map[string]pcapBuilder{
		"pcap µs little": {little, 0xa1b2c3d4}, "pcap µs big": {bigEnd, 0xa1b2c3d4},
		"pcap ns little": {little, 0xa1b23c4d}, "pcap ns big": {bigEnd, 0xa1b23c4d},
		"pcap modified little": {little, 0xa1b2cd34}, "pcap modified big": {bigEnd, 0xa1b2cd34},
	} {
		unit := int64(1000)
		if p.magic == 0xa1b23c4d {
			unit = 1
		}
		s := sample{file: p.file(1, 65535)}
		s.ends = append(s.ends, len(s.file))
		for i, d := range [][]byte{data(61, 1), {}, data(7, 9)} {
			s.file = p.record(s.file, 1700000000, uint32(999000+i), uint32(len(d)+i), d)
			s.ends = append(s.ends, len(s.file))
			s.frames = append(s.frames, dissect.Frame{Data: d, WireLen: len(d) + i, Link: 1, Number: i + 1,
				Time: 1700000000e9 + int64(999000+i)*unit})
		}
		samples[name] = s
	}
	for name, order := range map[string]byteOrder{"pcapng little": little, "pcapng big": bigEnd} {
		ng := ngBuilder{order: order}
		s := sample{}
		ended := func() { s.ends = append(s.ends, len(ng.out)) }
		ng.section()
		ended()
		ng.iface(1, 0, option{2, []byte("eth0")}, option{9, []byte{9}})
		ended()
		ng.enhanced(0, 1700000000000000001, 61, data(61, 1))
		ended()
		ng.block(4, uint32(0)) // name resolution, with no name
		ended()
		ng.obsolete(0, 0, 1700000000000000002, 70, data(6, 3))
		ended()
		ng.simple(9, data(9, 7))
		ended()
		ng.statistics(0, ng.count(5, 2))
		ended()
		s.file = ng.out
		s.frames = []dissect.Frame{
			{Data: data(61, 1), WireLen: 61, Time: 1700000000000000001, Link: 1, Number: 1},
			{Data: data(6, 3), WireLen: 70, Time: 1700000000000000002, Link: 1, Number: 2},
			{Data: data(9, 7), WireLen: 9, Link: 1, Number: 3},
		}
		samples[name] = s
	}
	return samples
}

type sample struct {
	file   []byte
	ends   []int // of the file header and of each record or block
	frames []dissect.Frame
}

func TestSmall(t *testing.T) {
	for name, s := range small() {
		t.Run(name, func(t *testing.T) {
			frames, info, err := readBytes(s.file)
			if err != nil {
				t.Fatal(err)
			}
			sameFrames(t, frames, s.frames)
			if !strings.HasPrefix(name, info.Format+" ") || info.Frames != len(frames) || info.Name != "x" {
				t.Errorf("info %+v", info)
			}
		})
	}
}

// A capture that ends anywhere but between two records is cut, and gives every
// frame that is whole.
func TestEveryPrefix(t *testing.T) {
	for name, s := range small() {
		t.Run(name, func(t *testing.T) {
			for n := range s.file {
				frames, _, err := readBytes(s.file[:n])
				if len(frames) > len(s.frames) {
					t.Fatalf("%d bytes: %d frames", n, len(frames))
				}
				sameFrames(t, frames, s.frames[:len(frames)])
				switch {
				case n == 0:
					fault(t, err, ErrEmpty, 0, noOffset, "")
				case n < 4:
					fault(t, err, ErrFormat, 0, noOffset, "")
				case slices.Contains(s.ends, n):
					if err != nil {
						t.Errorf("%d bytes: %v", n, err)
					}
				case !errors.Is(err, ErrCut):
					t.Errorf("%d bytes: error %v, want a cut", n, err)
				}
			}
		})
	}
}
