package dissect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rdmadump/rdmadump/psn"
)

// exchange is a model of go-back-N between a sender and a receiver, with the
// capture point next to the receiver: what is dropped never gets there. It is
// written from the rules (IBA 9.7.5) and knows nothing of the analysis.
type exchange struct {
	start, count int
	delay        int // packets that leave between a NAK and the resend
	drop         map[[2]int]bool

	story   []string
	passed  [][2]int // PSN and copy, in order, of what got here
	dropped [][3]int // PSN, copy, and how many had got here before
	copies  map[int]int
}

func (x *exchange) name(i int) int { return (x.start + i) & psn.Mask }

// run sends everything, and repairs with NAKs and a timer, until the last packet
// is acknowledged.
func (x *exchange) run() {
	x.copies = map[int]int{}
	// One round trip of a microsecond, so that a silence shows.
	x.story = append(x.story, fmt.Sprintf("w%d!", x.name(-1)), fmt.Sprintf("a%d", x.name(-1)))
	next, expected, nak, countdown := 0, 0, -1, 0
	asked := false
	for expected < x.count {
		if nak >= 0 {
			if countdown--; countdown <= 0 {
				next, nak = nak, -1
			}
		}
		if next == x.count {
			if nak >= 0 {
				next, nak = nak, -1 // nothing left to send before the NAK arrives
			} else {
				x.story = append(x.story, "+67ms")
				next = expected
			}
		}
		i := next
		next++
		x.copies[i]++
		if x.drop[[2]int{i, x.copies[i]}] {
			x.dropped = append(x.dropped, [3]int{i, x.copies[i], len(x.passed)})
			continue
		}
		x.passed = append(x.passed, [2]int{i, x.copies[i]})
		mark := ""
		if i == x.count-1 {
			mark = "!"
		}
		x.story = append(x.story, fmt.Sprintf("w%d%s", x.name(i), mark))
		switch {
		case i == expected:
			expected++
			asked = false
			if expected == x.count {
				x.story = append(x.story, fmt.Sprintf("a%d", x.name(i)))
			}
		case i > expected && !asked:
			asked = true
			x.story = append(x.story, fmt.Sprintf("n%d", x.name(expected)))
			nak, countdown = expected, x.delay
		}
	}
}

// shows reports whether the capture point can know of the dropped packet: a
// later PSN passed before the next copy did.
func (x *exchange) shows(d [3]int) bool {
	for _, p := range x.passed[d[2]:] {
		if p[0] == d[0] {
			return false
		}
		if p[0] > d[0] {
			return true
		}
	}
	return false
}

func drawExchange(t *rapid.T) *exchange {
	x := &exchange{
		start: rapid.IntRange(psn.Mask-40, psn.Mask+40).Draw(t, "start"),
		count: rapid.IntRange(2, 60).Draw(t, "count"),
		delay: rapid.IntRange(1, 12).Draw(t, "delay"),
		drop:  map[[2]int]bool{},
	}
	return x
}

func requests(t interface{ Fatalf(string, ...any) }, r *Report) *Stream {
	if len(r.Connections) != 1 || len(r.Connections[0].Streams) != 1 {
		t.Fatalf("%d connections", len(r.Connections))
	}
	return &r.Connections[0].Streams[0]
}

func expand(ranges []psn.Range) []psn.PSN {
	var out []psn.PSN
	for _, r := range ranges {
		for i := range r.Len() {
			out = append(out, r.First.Add(i))
		}
	}
	return out
}

// Packets lost once, anywhere but in front of everything, are reported, each
// once and no other.
func TestReportsJustWhatWasLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawExchange(t)
		for _, i := range rapid.SliceOfDistinct(rapid.IntRange(1, x.count-1), rapid.ID).Draw(t, "lost") {
			x.drop[[2]int{i, 1}] = true
		}
		x.run()
		var want []psn.PSN
		for _, d := range x.dropped {
			if x.shows(d) {
				want = append(want, psn.New(x.name(d[0])))
			}
		}
		text := strings.Join(x.story, " ")
		s := requests(t, tell(quiet{}, Config{}, text))
		if got := expand(s.LostRanges); !slices.Equal(sorted(got), sorted(want)) || s.Lost != int64(len(want)) {
			t.Fatalf("lost %d %v, want %v\n%s", s.Lost, s.LostRanges, want, text)
		}
		if s.NotCaptured != 0 || s.Reordered != 0 || s.LostHarmless != 0 {
			t.Fatalf("not captured %d, reordered %d, harmless %d\n%s", s.NotCaptured, s.Reordered, s.LostHarmless, text)
		}
	})
}

// Whatever is lost, also of resends: nothing is reported lost that was not, and
// every hole that shows is reported, as a loss or at least as a late packet.
func TestClaimsNothingThatWasNotLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawExchange(t)
		for range rapid.IntRange(0, 20).Draw(t, "losses") {
			x.drop[[2]int{rapid.IntRange(1, x.count-1).Draw(t, "psn"), rapid.IntRange(1, 3).Draw(t, "copy")}] = true
		}
		x.run()
		text := strings.Join(x.story, " ")
		s := requests(t, tell(quiet{}, Config{}, text))
		lost := map[psn.PSN]bool{}
		shows := map[psn.PSN]bool{}
		for _, d := range x.dropped {
			lost[psn.New(x.name(d[0]))] = true
			if x.shows(d) && d[1] == 1 {
				shows[psn.New(x.name(d[0]))] = true
			}
		}
		if s.Lost > int64(len(x.dropped)) {
			t.Fatalf("%d copies lost, but only %d were dropped\n%s", s.Lost, len(x.dropped), text)
		}
		got := map[psn.PSN]bool{}
		for _, p := range expand(s.LostRanges) {
			if got[p] = true; !lost[p] {
				t.Fatalf("%v was not lost: %s\n%s", p, line(s), text)
			}
		}
		// A copy of a run of which nothing else arrived looks like a late packet.
		hidden := int64(0)
		for p := range shows {
			if !got[p] {
				hidden++
			}
		}
		if hidden > s.Reordered {
			t.Fatalf("%d holes that show were not reported, %d taken for late: %s\n%s", hidden, s.Reordered, line(s), text)
		}
	})
}

func sorted(p []psn.PSN) []psn.PSN {
	slices.SortFunc(p, func(a, b psn.PSN) int { return a.Sub(b) })
	return p
}

// quiet stands in for a testing.TB, which a property's T is not.
type quiet struct{ testing.TB }

func (quiet) Helper() {}

// How the packets of connections mingle changes nothing in what is said of each.
func TestInterleaving(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stories [2][]string
		var alone [2]string
		for i := range stories {
			x := drawExchange(t)
			x.start += i * 5_000_000
			for _, k := range rapid.SliceOfDistinct(rapid.IntRange(1, x.count-1), rapid.ID).Draw(t, "lost") {
				x.drop[[2]int{k, 1}] = true
			}
			x.run()
			stories[i] = slices.DeleteFunc(x.story, func(w string) bool { return w[0] == '+' })
			alone[i] = line(requests(t, tell(quiet{}, Config{}, strings.Join(stories[i], " "))))
		}
		s := newStory(Config{})
		rest := stories
		for len(rest[0])+len(rest[1]) > 0 {
			i := rapid.IntRange(0, 1).Draw(t, "next")
			if len(rest[i]) == 0 {
				i = 1 - i
			}
			s.word(fmt.Sprintf("%d/%s", i+1, rest[i][0]))
			rest[i] = rest[i][1:]
		}
		for _, c := range s.end().Connections {
			for j := range c.Streams {
				i := int(c.Streams[j].DestQP-0x111) / 0x1000
				if got := line(&c.Streams[j]); causeless(got) != causeless(alone[i]) {
					t.Fatalf("mingled %s\n  alone %s", got, alone[i])
				}
			}
		}
	})
}

// causeless leaves out whether a resend was a timer's work or early: that
// depends on how long it took, and with it on what passed in between.
func causeless(line string) string {
	return strings.NewReplacer("timeout:", "self:", "early:", "self:").Replace(line)
}
