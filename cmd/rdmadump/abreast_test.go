package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
)

// told is a part of the JSON report.
type told struct {
	Captures []struct {
		Error           string
		DuplicateFrames int64 `json:"duplicate_frames"`
	}
	Connections []map[string]any
	Totals      map[string]any
}

// verdicts is what loss says of captures, without the numbers of frames.
func verdicts(t *testing.T, names ...string) (said string, r told) {
	t.Helper()
	out, errs, _ := execute(append([]string{"loss", "--json", "--max-gaps", "1000"}, names...)...)
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %v in %s%s", names, err, out, errs)
	}
	unnumber(r.Connections)
	text, err := json.MarshalIndent([]any{r.Totals, r.Connections}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text), r
}

// unnumber takes out the numbers of frames, and of which file.
func unnumber(v any) {
	switch v := v.(type) {
	case []map[string]any:
		for _, m := range v {
			unnumber(m)
		}
	case []any:
		for _, e := range v {
			unnumber(e)
		}
	case map[string]any:
		for key, e := range v {
			if key == "frames" || key == "file" || strings.HasSuffix(key, "_frame") {
				delete(v, key)
			}
			unnumber(e)
		}
	}
}

// differ tells the first line in which two texts differ.
func differ(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d: %s, and %s\n%s", i, x[i], y[i], strings.Join(x[max(0, i-12):i], "\n"))
		}
	}
	return fmt.Sprintf("%d lines, and %d", len(x), len(y))
}

// A capture that is given twice says what it says once, with one sight of each
// packet counted as a duplicate.
func TestCaptureGivenTwice(t *testing.T) {
	names, _ := filepath.Glob("../../testdata/pcaps/*.pcap.gz")
	cases, _ := filepath.Glob("../../testdata/cases/*.pcap")
	tried := 0
	for _, name := range append(names, cases...) {
		if info, err := os.Stat(name); err != nil || info.Size() > 1<<20 {
			continue
		}
		if out, _, _ := execute("loss", "--json", name); out == "" {
			continue // no capture
		}
		once, r := verdicts(t, name)
		if len(r.Captures) != 1 || r.Captures[0].Error != "" {
			continue
		}
		tried++
		twice, both := verdicts(t, name, name)
		if once != twice {
			t.Errorf("%s: %s", name, differ(once, twice))
		}
		if got, want := both.Captures[0].DuplicateFrames+both.Captures[1].DuplicateFrames, 2*r.Captures[0].DuplicateFrames+int64(r.Totals["packets"].(float64)); got != want {
			t.Errorf("%s: %d duplicates, want %d", name, got, want)
		}
	}
	if tried < 100 {
		t.Errorf("%d captures", tried)
	}
}

// Captures that follow each other are read one after the other, and frames of
// those that overlap by time, whatever their order on the command line.
func TestCapturesAbreast(t *testing.T) {
	const name = "../../testdata/pcaps/rxe-nth_drops-receiver.pcap.gz"
	whole, _ := verdicts(t, name)
	dir := t.TempDir()
	odd, even := filepath.Join(dir, "odd.pcap"), filepath.Join(dir, "even.pcap")
	deal(t, name, odd, even)
	for _, order := range [][]string{{odd, even}, {even, odd}, {even, odd, even}} {
		if dealt, _ := verdicts(t, order...); dealt != whole {
			t.Errorf("%s: %s", strings.Join(order, " "), differ(whole, dealt))
		}
	}
}

// deal writes the frames of a capture to others in turn.
func deal(t *testing.T, name string, into ...string) {
	t.Helper()
	hands := make([][]dissect.Frame, len(into))
	for i, f := range frames(t, name) {
		hands[i%len(into)] = append(hands[i%len(into)], f)
	}
	for i, hand := range hands {
		writeCapture(t, into[i], hand)
	}
}

func writeCapture(t *testing.T, name string, frames []dissect.Frame) {
	t.Helper()
	w, err := capture.Create(name, capture.WriterOptions{})
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
}
