package dissect_test

import (
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rdmadump/rdmadump/dissect"
)

// mutate takes frames out of a capture, holds some back, and shows some twice,
// with the times of where they come.
func mutate(t *rapid.T, all []dissect.Frame) []dissect.Frame {
	begin := rapid.IntRange(0, len(all)-1).Draw(t, "begin")
	n := rapid.IntRange(1, min(400, len(all)-begin)).Draw(t, "frames")
	type place struct{ at, from int }
	var places []place
	drop := rapid.SampledFrom([]int{0, 2, 20}).Draw(t, "drop percent")
	delay := rapid.SampledFrom([]int{0, 2, 20}).Draw(t, "delay percent")
	again := rapid.SampledFrom([]int{0, 2}).Draw(t, "double percent")
	fate := rapid.IntRange(0, 99)
	for i := range n {
		at := i
		if drop > 0 && fate.Draw(t, "drop") < drop {
			continue
		}
		if delay > 0 && fate.Draw(t, "delay") < delay {
			at += rapid.IntRange(1, 60).Draw(t, "places")
		}
		places = append(places, place{at, i})
		if again > 0 && fate.Draw(t, "again") < again {
			places = append(places, place{at + rapid.IntRange(0, 20).Draw(t, "places"), i})
		}
	}
	slices.SortStableFunc(places, func(x, y place) int { return x.at - y.at })
	var out []dissect.Frame
	for i, p := range places {
		f := all[begin+p.from]
		f.Number, f.File = i+1, 0
		f.Time = all[begin+min(p.at, n-1)].Time
		out = append(out, f)
	}
	return out
}

// What is lost, what the capture missed and what nobody can tell is just what
// the gap records carry, whatever a capture missed, held back or doubled.
func TestBooksBalance(t *testing.T) {
	files, _ := filepath.Glob("../testdata/pcaps/rxe-*.pcap.gz")
	if len(files) < 12 {
		t.Fatalf("%d captures", len(files))
	}
	var captures [][]dissect.Frame
	for _, file := range files {
		captures = append(captures, framesOf(t, file))
	}
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(files)-1).Draw(t, "capture")
		a := dissect.NewAnalyzer(dissect.Config{MaxGaps: 1 << 20})
		a.OpenCapture(files[i], "pcap")
		frames := mutate(t, captures[i])
		for _, f := range frames {
			a.Frame(&f)
		}
		a.CloseCapture(0, rapid.SampledFrom([]uint64{0, 0, 5}).Draw(t, "capture drops"), nil)
		for _, c := range a.Report().Connections {
			for j := range c.Streams {
				if s := &c.Streams[j]; s.Epochs == 1 {
					if fault := dissect.Unbalanced(s); fault != "" {
						t.Fatalf("%s %s: %s", files[i], s.Kind, fault)
					}
				}
			}
		}
	})
}
