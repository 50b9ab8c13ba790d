//go:build unix

package capture

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/dissect"
)

// written counts the frames of captures, by name, and how reading them ended.
func written(t *testing.T, names []string) (frames []int) {
	t.Helper()
	for _, name := range names {
		r, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var f dissect.Frame
		for err = r.Next(&f); err == nil; err = r.Next(&f) {
		}
		if err != io.EOF {
			t.Errorf("%s: %v", name, err)
		}
		frames = append(frames, r.Info().Frames)
		r.Close()
	}
	return frames
}

func TestRotate(t *testing.T) {
	const second = int64(time.Second)
	begin := time.Date(2026, 11, 30, 15, 51, 6, 0, time.UTC).UnixNano()
	for _, c := range []struct {
		name   string
		rotate Rotate
		frames []int
		first  string
	}{
		{"x.pcapng", Rotate{Every: 10 * time.Second}, []int{10, 10, 5}, "x_00001_20261130155106.pcapng"},
		{"x.pcapng.gz", Rotate{Every: 10 * time.Second, Files: 2}, []int{10, 5}, "x_00002_20261130155116.pcapng.gz"},
		// A file begins with a section of 28 bytes and an interface of 32, and a
		// frame takes 132: the eighth reaches 1,000 bytes.
		{"x", Rotate{Size: 1000}, []int{8, 8, 8, 1}, "x_00001_20261130155106"},
	} {
		dir := t.TempDir()
		w, err := Create(filepath.Join(dir, c.name), WriterOptions{Rotate: c.rotate})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 25 {
			f := dissect.Frame{Data: make([]byte, 100), WireLen: 100, Link: dissect.LinkEthernet, Time: begin + int64(i)*second}
			if err := w.WriteFrame(&f); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		names, _ := filepath.Glob(filepath.Join(dir, "*"))
		got := written(t, names)
		if len(got) != len(c.frames) || filepath.Base(names[0]) != c.first {
			t.Errorf("%+v: %v with %v frames", c.rotate, names, got)
			continue
		}
		for i := range got {
			if got[i] != c.frames[i] {
				t.Errorf("%+v: %v frames, want %v", c.rotate, got, c.frames)
				break
			}
		}
	}
}

func TestRotateNowhere(t *testing.T) {
	_, err := Create(filepath.Join(t.TempDir(), "missing", "x"), WriterOptions{Rotate: Rotate{Size: 1}})
	if !errors.Is(err, os.ErrNotExist) || !strings.HasSuffix(err.Error(), "missing: no such file or directory") {
		t.Errorf("%v", err)
	}
}

// A file that may not grow ends behind a block.
func TestFullDisk(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Skip(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)
	name := filepath.Join(t.TempDir(), "x.pcapng")
	w, err := Create(name, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	limit := before
	limit.Cur = 200_000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip(err)
	}
	f := dissect.Frame{Data: make([]byte, 999), WireLen: 999, Link: dissect.LinkEthernet}
	for i := 0; err == nil && i < 1000; i++ {
		err = w.WriteFrame(&f)
	}
	if !errors.Is(err, syscall.EFBIG) {
		t.Fatalf("%v", err)
	}
	w.Close()
	if got := written(t, []string{name}); got[0] < 60 {
		t.Errorf("%d frames", got[0])
	}
}
