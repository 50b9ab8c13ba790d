package dissect

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A capture that leaves the ICRC out proves nothing by itself, and yet the same
// is said of every stream as with the ICRC: feedback is judged when it came, not
// when its half was believed.
func TestCutCapture(t *testing.T) {
	for name, connections := range map[string]int{"one": 1, "several": 5} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				stories := make([][]string, connections)
				truth := map[QPN]int64{}
				for i := range stories {
					x := drawExchange(t)
					x.start += i * 2_000_000
					for _, k := range rapid.SliceOfDistinct(rapid.IntRange(1, x.count-1), rapid.ID).Draw(t, "lost") {
						x.drop[[2]int{k, 1}] = true
					}
					x.run()
					for _, d := range x.dropped {
						if x.shows(d) {
							truth[QPN(0x111+0x1000*i)]++
						}
					}
					stories[i] = x.story
				}
				s := newStory(Config{})
				s.cut = true
				text := mingle(t, stories)
				for _, word := range strings.Fields(text) {
					s.word(word)
				}
				for _, c := range s.end().Connections {
					for j := range c.Streams {
						got := &c.Streams[j]
						if got.Lost != truth[got.DestQP] {
							t.Fatalf("%v: lost %d, want %d: %s\n%s", got.DestQP, got.Lost, truth[got.DestQP], line(got), text)
						}
						delete(truth, got.DestQP)
					}
				}
				for qpn, lost := range truth {
					t.Fatalf("%v: lost %d, and nothing is said of it\n%s", qpn, lost, text)
				}
			})
		})
	}
}

// mingle draws an order for the packets of several connections.
func mingle(t *rapid.T, stories [][]string) string {
	var text strings.Builder
	for {
		var left []int
		for i := range stories {
			if len(stories[i]) > 0 {
				left = append(left, i)
			}
		}
		if len(left) == 0 {
			return text.String()
		}
		i := rapid.SampledFrom(left).Draw(t, "next")
		word := stories[i][0]
		stories[i] = stories[i][1:]
		if word[0] != '+' {
			word = fmt.Sprintf("%d/%s", i+1, word)
		}
		text.WriteString(word + " ")
	}
}

// A half that waits for proof is not pushed out by others that do, as long as
// there is room: 2,000 hosts, each of which sends three packets in turn.
func TestManyHalvesWithoutProof(t *testing.T) {
	const hosts = 2000
	s := newStory(Config{})
	s.cut = true
	for round := range 3 {
		for i := range uint32(hosts) {
			frame := s.frame(fmt.Sprintf("w%d", 100+round), 1)
			frame[28], frame[29] = byte(i>>8), byte(i) // of the source address
			s.pass(frame, 100)
		}
	}
	r := s.end()
	if len(r.Connections) != hosts || r.Evicted != nil {
		t.Errorf("%d of %d connections, evicted %+v", len(r.Connections), hosts, r.Evicted)
	}
	for _, c := range r.Connections {
		if got := line(&c.Streams[0]); got != "packets 3" {
			t.Fatalf("%v: %s", c.Streams[0].Src, got)
		}
	}
}

// What is damaged speaks for nothing: feedback with a bad ICRC, on requests that
// prove themselves, makes no half.
func TestDamagedFeedbackMakesNoHalf(t *testing.T) {
	s := newStory(Config{})
	s.word("w100")
	s.word("w101")
	frame := s.frame("a101", 1)
	frame[len(frame)-1] ^= 1
	s.pass(frame, 100)
	r := s.end()
	if len(r.Connections) != 1 || r.Connections[0].A != nil {
		t.Errorf("%d connections, A %v", len(r.Connections), r.Connections[0].A)
	}
}
