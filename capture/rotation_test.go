package capture

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
)

// oneFrame is a capture of one frame with a time in seconds.
func oneFrame(second uint32) []byte {
	p := pcapBuilder{little, 0xa1b2c3d4}
	return p.record(p.file(1, 0), second, 0, 60, data(60, byte(second)))
}

func write(t *testing.T, name string, file []byte) {
	t.Helper()
	if err := os.WriteFile(name, file, 0o600); err != nil {
		t.Fatal(err)
	}
}

// piped is the name under which a pipe that holds file can be opened.
func piped(t *testing.T, file []byte) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	go func() {
		w.Write(file)
		w.Close()
	}()
	return filepath.Join("/dev/fd", strconv.Itoa(int(r.Fd())))
}

// seconds reads a rotation, and returns the times of its frames.
func seconds(t *testing.T, r *Rotation) []int64 {
	t.Helper()
	var times []int64
	for {
		part, err := r.Open()
		if err == io.EOF {
			return times
		}
		if err != nil {
			t.Fatal(err)
		}
		var f dissect.Frame
		for err = part.Next(&f); err == nil; err = part.Next(&f) {
			times = append(times, f.Time/1e9)
		}
		if err != io.EOF {
			t.Fatal(err)
		}
		part.Close()
	}
}

// A named pipe, or what a shell puts in place of <(command), gives its bytes
// once. It is read all the same when it has to be looked at first.
func TestRotationOfPipes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("pipes have no names in /dev/fd here")
	}
	regular := filepath.Join(t.TempDir(), "x")
	write(t, regular, oneFrame(2))
	got := seconds(t, NewRotation([]Source{
		{Name: piped(t, oneFrame(3))}, {Name: regular}, {Name: piped(t, gzipped(oneFrame(1)))},
	}))
	if len(got) != 3 || got[0] != 1 || got[1] != 2 || got[2] != 3 {
		t.Errorf("frames of seconds %v, want 1, 2, 3", got)
	}
}
