package dissect

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// pairs is who talks to whom, and what was lost, of each connection with
// requests: "111-222 feedback lost 1".
func pairs(r *Report) string {
	var out []string
	for _, c := range r.Connections {
		if len(c.Streams) == 0 || c.B == nil {
			continue
		}
		text := fmt.Sprintf("%x-", uint32(c.B.QPN))
		if c.A != nil {
			text += fmt.Sprintf("%x", uint32(c.A.QPN))
		}
		text += " " + c.PairedBy
		if n := c.Streams[0].Lost; n > 0 {
			text += fmt.Sprintf(" lost %d", n)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// The queue pairs of connection n of a story are 111 and 222 + (n-1) * 1000.
func TestPairing(t *testing.T) {
	for _, c := range []struct{ name, story, want string }{
		{"PSNs apart", "w100! 2/w5000! 2/a5000 a100", "111-222 feedback, 1111-1222 feedback"},
		{"one window is wider, and the other is left over", "w0 2/w0 w1 2/w1! w2 w3! a3 2/a1", "111-222 feedback, 1111-1222 feedback"},
		{"the same PSNs: both wait, and the one that is ruled out tells both",
			"w0! 2/w0! a0 2/a0 w1! w2! 2/w1! a2 2/a1", "111-222 feedback, 1111-1222 feedback"},
		{"the same PSNs: the resend tells which stream the NAK was about",
			"w0 2/w0 w1 2/w1 w3 2/w3 w4 2/w2 2/w4 n2 w2 w3 w4! a4", "111-222 feedback lost 1, 1111- none"},
		{"the same PSNs, and nothing tells", "w0! 2/w0! a0 2/a0", "111- none, 1111- none"},
		{"feedback that fits nothing", "w100! a9000000", "111- none"},
		{"UC is not acknowledged", "u1 u2 2/a1", "111- none"},
	} {
		if got := pairs(tell(t, Config{}, c.story)); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.story, got, c.want)
		}
	}
}

// Thousands of queue pairs between two hosts find each other.
func TestManyPairs(t *testing.T) {
	s := newStory(Config{})
	const n = 3000
	for i := range n {
		s.word(fmt.Sprintf("%d/w%d!", i+1, i*5000))
	}
	for i := range n {
		s.word(fmt.Sprintf("%d/a%d", i+1, i*5000))
	}
	r := s.end()
	if len(r.Connections) != n {
		t.Fatalf("%d connections, want %d", len(r.Connections), n)
	}
	for _, c := range r.Connections {
		if c.A == nil || c.A.QPN != c.B.QPN+0x111 {
			t.Fatalf("%+v talks to %+v", c.B, c.A)
		}
	}
}

// Jobs start every queue pair at PSN 0. However their packets mingle, no
// half is given to the wrong one, and nobody is billed more than was lost.
func TestPairsFromTheSamePSN(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stories := make([][]string, rapid.IntRange(2, 6).Draw(t, "connections"))
		truth := make([]int64, len(stories))
		for i := range stories {
			x := drawExchange(t)
			x.start = 1
			for _, k := range rapid.SliceOfNDistinct(rapid.IntRange(1, x.count-1), 0, min(3, x.count-1), rapid.ID).Draw(t, "lost") {
				x.drop[[2]int{k, 1}] = true
			}
			x.run()
			for _, d := range x.dropped {
				if x.shows(d) {
					truth[i]++
				}
			}
			stories[i] = x.story
		}
		text := mingle(t, stories)
		for _, c := range tell(quiet{}, Config{}, text).Connections {
			if c.A != nil && c.B != nil && c.A.QPN != c.B.QPN+0x111 {
				t.Fatalf("%v talks to %v\n%s", c.B, c.A, text)
			}
			for j := range c.Streams {
				s := &c.Streams[j]
				if s.Packets > 0 && s.Lost > truth[(s.DestQP-0x111)/0x1000] {
					t.Fatalf("%v: want at most %d lost: %s\n%s", s.DestQP, truth[(s.DestQP-0x111)/0x1000], line(s), text)
				}
			}
		}
	})
}

// What the user states and nothing in the capture bears out is said.
func TestStatedPairsThatMatchNothing(t *testing.T) {
	pair := func(s string) Pair {
		p, err := ParsePair(s)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	good, half, bad := pair("192.0.2.1/0x222=192.0.2.2/0x111"), pair("192.0.2.1/0x333=192.0.2.2/0x111"), pair("192.0.2.1/0x222=192.0.2.3/0x111")
	for _, c := range []struct {
		pairs []Pair
		want  []UnmatchedPair
	}{
		{nil, nil},
		{[]Pair{good}, nil},
		{[]Pair{half}, []UnmatchedPair{{half, []End{half[0]}}}},
		{[]Pair{bad, good}, []UnmatchedPair{{bad, []End{bad[0], bad[1]}}}},
		{[]Pair{{good[1], good[0]}}, nil},
	} {
		r := tell(t, Config{Pairs: c.pairs}, "w1 w2! a2")
		if !reflect.DeepEqual(r.UnmatchedPairs, c.want) {
			t.Errorf("%v: unmatched %v, want %v", c.pairs, r.UnmatchedPairs, c.want)
		}
	}
}
