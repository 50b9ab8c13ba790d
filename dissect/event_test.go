package dissect

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// ends are the events of a story that end something, the end of the capture
// included: "connection-closed@4 end-of-capture".
func endings(c Config, words ...string) []string {
	var got []string
	c.Events = func(e *Event) {
		switch e.Kind {
		case GapClosed:
			got = append(got, fmt.Sprintf("gap-closed@%d %v-%v %s", e.Frame, *e.First, *e.Last, e.Closed))
		case ConnectionOpened:
			got = append(got, fmt.Sprintf("connection-opened@%d %v", e.Frame, e.DestQP))
		case ConnectionClosed:
			got = append(got, fmt.Sprintf("connection-closed@%d %v %s", e.Frame, e.DestQP, e.Ending))
		case FindingMade:
			got = append(got, fmt.Sprintf("finding@%d %s", e.Frame, e.Finding))
		}
	}
	s := newStory(c)
	for _, w := range words {
		s.word(w)
	}
	s.analyzer.End()
	return got
}

func TestEventsOfEndings(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		words  []string
		want   []string
	}{
		{"open at the end", Config{}, []string{"w1", "w2", "w4", "n3"},
			[]string{"connection-opened@1 0x000111", "gap-closed@4 3-3 open", "connection-closed@4 0x000111 end-of-capture"}},
		{"not captured, known with the acknowledgement", Config{}, []string{"w1", "w3", "w4!", "a4"},
			[]string{"connection-opened@1 0x000111", "gap-closed@4 2-2 not-captured", "connection-closed@4 0x000111 end-of-capture"}},
		{"silence makes a finding at the end", Config{}, []string{"w1", "+67ms", "w1", "+67ms", "w1", "+500ms", "2/w900"},
			[]string{"connection-opened@1 0x000111", "connection-opened@4 0x001111", "gap-closed@4 1-1 open", "finding@4 retry-exhausted",
				"connection-closed@4 0x000111 end-of-capture", "connection-closed@4 0x001111 end-of-capture"}},
		{"a queue pair used again", Config{}, []string{"w9000000", "w9000001!", "a9000001", "w100", "w101"},
			[]string{"connection-opened@1 0x000111", "connection-closed@4 0x000111 new-epoch", "connection-opened@4 0x000111",
				"connection-closed@5 0x000111 end-of-capture"}},
		{"no room", Config{MaxHalves: 1}, []string{"w1", "2/w1"},
			[]string{"connection-opened@1 0x000111", "connection-closed@2 0x000111 evicted", "connection-opened@2 0x001111",
				"connection-closed@2 0x001111 end-of-capture"}},
		{"one connection is selected", Config{Selection: &Selection{QPNs: []QPN{0x1111}}}, []string{"w1", "2/w1", "w2"},
			[]string{"connection-opened@2 0x001111", "connection-closed@3 0x001111 end-of-capture"}},
	} {
		if got := endings(c.config, c.words...); !slices.Equal(got, c.want) {
			t.Errorf("%s\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

// Whatever passes, each connection that opens closes, once for each time.
func TestEventsBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := make([]string, rapid.IntRange(1, 60).Draw(t, "n"))
		for i := range words {
			kind := rapid.SampledFrom([]string{"w", "W", "f", "l", "a", "n", "r", "R", "o", "b"}).Draw(t, "kind")
			at := rapid.SampledFrom([]int{1, 2, 3, 4, 5, 5000, 9000000, 9000001}).Draw(t, "psn")
			words[i] = fmt.Sprintf("%d/%s%d", rapid.IntRange(1, 3).Draw(t, "connection"), kind, at)
		}
		open := map[int]int{}
		s := newStory(Config{MaxHalves: rapid.IntRange(1, 9).Draw(t, "halves"), Events: func(e *Event) {
			switch e.Kind {
			case ConnectionOpened:
				open[e.Connection]++
			case ConnectionClosed:
				open[e.Connection]--
			}
			if n := open[e.Connection]; n < 0 || n > 1 {
				t.Fatalf("%d at frame %d: open %d times", e.Connection, e.Frame, n)
			}
		}})
		for _, w := range words {
			s.word(w)
		}
		s.analyzer.End()
		for id, n := range open {
			if n != 0 {
				t.Fatalf("connection %d is open for good", id)
			}
		}
	})
}
