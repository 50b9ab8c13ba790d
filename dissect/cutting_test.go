package dissect

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rdmadump/rdmadump/psn"
)

// drawLossy is an exchange in which some packets are lost once.
func drawLossy(t *rapid.T) *exchange {
	x := drawExchange(t)
	for _, i := range rapid.SliceOfDistinct(rapid.IntRange(1, x.count-1), rapid.ID).Draw(t, "lost") {
		x.drop[[2]int{i, 1}] = true
	}
	x.run()
	return x
}

// Where one file of a rotation ends and the next begins changes nothing.
func TestSplitting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawLossy(t)
		whole := line(requests(t, tell(quiet{}, Config{}, strings.Join(x.story, " "))))
		at := rapid.IntRange(0, len(x.story)).Draw(t, "at")
		s := newStory(Config{})
		for i, w := range x.story {
			if i == at {
				s.analyzer.CloseCapture(0, 0, nil)
				s.file = s.analyzer.OpenCapture("next", "pcap")
			}
			s.word(w)
		}
		if got := line(requests(t, s.end())); got != whole {
			t.Fatalf("split at %d: %s\nwhole: %s", at, got, whole)
		}
	})
}

// What is mirrored twice counts once.
func TestMirroring(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawLossy(t)
		whole := line(requests(t, tell(quiet{}, Config{}, strings.Join(x.story, " "))))
		var twice []string
		copies := int64(0)
		for _, w := range x.story {
			twice = append(twice, w)
			if w[0] != '+' && rapid.Bool().Draw(t, "again") {
				twice = append(twice, "=")
				copies++
			}
		}
		r := tell(quiet{}, Config{}, strings.Join(twice, " "))
		if got := line(requests(t, r)); got != whole || r.Captures[0].DuplicateFrames != copies {
			t.Fatalf("%d of %d duplicates, %s\nonce: %s\n%s", r.Captures[0].DuplicateFrames, copies, got, whole, twice)
		}
	})
}

// A capture that begins later claims no loss that was none, and where all that
// was lost was lost after its first packet it claims just the same.
func TestBeginningLater(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawLossy(t)
		whole := requests(t, tell(quiet{}, Config{}, strings.Join(x.story, " ")))
		at := rapid.IntRange(1, len(x.story)-1).Draw(t, "at")
		passed := -1 // the first is sent to measure the round trip
		for _, w := range x.story[:at] {
			if w[0] == 'w' {
				passed++
			}
		}
		r := tell(quiet{}, Config{}, strings.Join(x.story[at:], " "))
		if len(r.Connections) == 0 {
			return
		}
		for i := range r.Connections {
			for j := range r.Connections[i].Streams {
				s := &r.Connections[i].Streams[j]
				for _, p := range expand(s.LostRanges) {
					if !slices.ContainsFunc(x.dropped, func(d [3]int) bool { return psn.New(x.name(d[0])) == p }) {
						t.Fatalf("%v was not lost: %s\n%s", p, line(s), x.story[at:])
					}
				}
				if !slices.ContainsFunc(x.dropped, func(d [3]int) bool { return d[2] <= passed }) && !slices.Equal(s.LostRanges, whole.LostRanges) {
					t.Fatalf("lost %v, and of the whole %v\n%s", s.LostRanges, whole.LostRanges, x.story[at:])
				}
			}
		}
	})
}
