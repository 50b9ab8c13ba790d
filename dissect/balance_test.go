package dissect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rdmadump/rdmadump/psn"
)

// Unbalanced says where the counts of a stream and its gap records disagree, in
// the words of docs/output.md; "" if they do not. The stream must list all its
// gaps and have begun once.
func Unbalanced(s *Stream) string {
	if s.Packets == 0 {
		return "" // feedback-only: what NAKs name is lost, and nobody knows where
	}
	lost := map[psn.PSN]bool{}
	for _, r := range s.LostRanges {
		for i := range r.Len() {
			if lost[r.First.Add(i)] {
				return fmt.Sprintf("%v is listed twice", r.First.Add(i))
			}
			lost[r.First.Add(i)] = true
		}
	}
	listed := map[psn.PSN]bool{}
	var notCaptured, undecided int64
	for _, g := range s.Gaps {
		width := int64(g.Last.Sub(g.First)) + 1
		if g.Count < 1 || g.Count > width {
			return fmt.Sprintf("gap %v-%v counts %d", g.First, g.Last, g.Count)
		}
		named := int64(0)
		for i := range int(width) {
			if p := g.First.Add(i); lost[p] && (g.Where == Upstream || g.Where == Downstream) {
				named++
				listed[p] = true
			}
		}
		switch g.Where {
		case Upstream, Downstream:
			if g.Closed == Open {
				undecided += g.Count - named
			} else if named < g.Count || named > g.Count && g.Count == width { // less where a READ request takes many
				return fmt.Sprintf("gap %v-%v, %s %s, counts %d, and %d of it are lost", g.First, g.Last, g.Where, g.Closed, g.Count, named)
			}
		case InCapture:
			notCaptured += g.Count
		case Unknown:
			undecided += g.Count
		}
	}
	switch {
	case len(listed) != len(lost):
		return fmt.Sprintf("%d of %d lost PSNs are in no gap: %v", len(lost)-len(listed), len(lost), s.LostRanges)
	case s.Lost < int64(len(lost)) || s.Lost > 0 && len(lost) == 0:
		return fmt.Sprintf("lost %d, of %d PSNs", s.Lost, len(lost))
	case s.NotCaptured != notCaptured:
		return fmt.Sprintf("not captured %d, and %d in gaps", s.NotCaptured, notCaptured)
	case s.GapsTotal < int64(len(s.Gaps)):
		return fmt.Sprintf("%d gaps of %d", len(s.Gaps), s.GapsTotal)
	case s.Undecided != undecided:
		return fmt.Sprintf("undecided %d, and %d in gaps", s.Undecided, undecided)
	}
	return ""
}

// Any packets in any order leave the books balanced.
func TestBooksOfAnyPackets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := []string{"w10!", "a10"}
		mix := strings.Fields(rapid.SampledFrom([]string{
			"w w w w w w a a n n r b +67ms +1ms", "w w w w w w w a n +1ms", "w w w a n R:3 o o o +67ms",
			"i i i i I I a +1ms", "w w w w w~ w~ A A N +1ms", "u u u u b", "w w w w w a t",
		}).Draw(t, "mix"))
		for range rapid.IntRange(1, 30).Draw(t, "n") {
			kind := rapid.SampledFrom(mix).Draw(t, "kind")
			at := 10 + rapid.IntRange(0, 9).Draw(t, "psn")
			if kind == "R:3" { // a PSN is of one kind
				at = 12
			} else if slices.Contains(mix, "R:3") && kind == "w" && at >= 12 && at < 15 {
				at += 3
			}
			switch {
			case kind[0] == '+':
				words = append(words, kind)
			case kind == "t":
				words = append(words, fmt.Sprintf("t%d:%d-%d", at, at+2, at+3))
			case strings.Contains("IAN", kind[:1]):
				words = append(words, fmt.Sprintf("%s%d:%d", kind, at, 10+rapid.IntRange(0, 9).Draw(t, "other")))
			default:
				letter, rest := kind[:1], kind[1:] // "R:3", "w~"
				words = append(words, fmt.Sprintf("%s%d%s", letter, at, rest))
			}
		}
		text := strings.Join(words, " ")
		s := newStory(Config{MaxGaps: 1 << 20})
		for _, word := range words {
			s.word(word)
		}
		s.analyzer.CloseCapture(0, rapid.SampledFrom([]uint64{0, 0, 5}).Draw(t, "capture drops"), nil)
		r := s.analyzer.Report()
		for _, c := range r.Connections {
			for j := range c.Streams {
				if s := &c.Streams[j]; s.Epochs == 1 {
					if fault := Unbalanced(s); fault != "" {
						t.Fatalf("%s: %s\n%s\n%s", s.Kind, fault, line(s), text)
					}
				}
			}
		}
	})
}
