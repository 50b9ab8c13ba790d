package capture

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/dissect"
)

// openPipe is a pipe through which file has been written and that stays open.
func openPipe(t *testing.T, file []byte) (io.Reader, *io.PipeWriter) {
	t.Helper()
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	go w.Write(file)
	return r, w
}

// What a pipe has given so far is there before it gives more, also where it is
// compressed; before it is waited for, Waiting is called.
func TestWaiting(t *testing.T) {
	for how, file := range map[string][]byte{
		"plain": oneFrame(1), "gzip": gzipped(oneFrame(1)), "zstd": zstandard(oneFrame(1)), "gzip in gzip": gzipped(gzipped(oneFrame(1))),
	} {
		pipe, w := openPipe(t, file)
		waits := make(chan int, 100)
		frames := 0
		r, err := Source{Name: "x", Stream: pipe, Waiting: func() { waits <- frames }}.Open()
		if err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		done := make(chan error)
		go func() {
			var f dissect.Frame
			err := r.Next(&f)
			for ; err == nil; err = r.Next(&f) {
				frames++
			}
			done <- err
		}()
		deadline := time.After(20 * time.Second)
		for had := 0; had == 0; {
			select {
			case had = <-waits:
			case err := <-done:
				t.Fatalf("%s: ended: %v", how, err)
			case <-deadline:
				t.Fatalf("%s: the frame is held back", how)
			}
		}
		w.Close()
		if err := <-done; err != io.EOF {
			t.Errorf("%s: %v", how, err)
		}
		r.Close()
	}
}

// Stop ends a wait for a pipe, and what was read before it counts.
func TestStop(t *testing.T) {
	for how, file := range map[string][]byte{"plain": oneFrame(1), "gzip": gzipped(oneFrame(1)), "within a record": append(oneFrame(1), 1, 2, 3)} {
		stop := make(chan struct{})
		pipe, _ := openPipe(t, file)
		r, err := Source{Name: "x", Stream: pipe, Stop: stop}.Open()
		if err != nil {
			t.Fatal(err)
		}
		var f dissect.Frame
		if err := r.Next(&f); err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		close(stop)
		if err := r.Next(&f); !errors.Is(err, ErrStopped) || !strings.HasPrefix(err.Error(), "x: frame 2: interrupted") {
			t.Errorf("%s: %v", how, err)
		}
		r.Close()
	}
	// Nothing came at all.
	stop := make(chan struct{})
	pipe, _ := io.Pipe()
	close(stop)
	if _, err := (Source{Name: "x", Stream: pipe, Stop: stop}).Open(); !errors.Is(err, ErrStopped) || err.Error() != "x: interrupted" {
		t.Error(err)
	}
}

// What a pipe still says after Stop, and then ends, is read.
func TestLastWords(t *testing.T) {
	stop := make(chan struct{})
	whole := oneFrame(1)
	pipe, w := openPipe(t, whole[:30])
	r, err := Source{Name: "x", Stream: pipe, Stop: stop}.Open()
	if err != nil {
		t.Fatal(err)
	}
	close(stop)
	go func() {
		w.Write(whole[30:])
		w.Close()
	}()
	frames, err := readAll(r)
	if len(frames) != 1 || err != nil {
		t.Errorf("%d frames, %v", len(frames), err)
	}
	r.Close()
}

// Stop ends reading of a file at once, and of a pipe that never pauses soon.
func TestStopOfWhatDoesNotWait(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	endless := io.MultiReader(strings.NewReader(string(oneFrame(1))), zeros{})
	r, err := Source{Name: "x", Stream: endless, Stop: stop}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := readAll(r); !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
	name := t.TempDir() + "/x"
	write(t, name, oneFrame(1))
	if _, err := (Source{Name: name, Stop: stop}).Open(); !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
}

// zeros are records without data.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
