package psn

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// model is the set of the Seqs themselves.
type model map[Seq]bool

func (m model) count(span Span) (n int64) {
	for q := span.First; q <= span.Last; q++ {
		if m[q] {
			n++
		}
	}
	return n
}

// runs are the runs of Seqs in the span that are in the model, or are not.
func (m model) runs(span Span, in bool) (runs []Span) {
	for q := span.First; q <= span.Last; q++ {
		if m[q] != in {
			continue
		}
		if n := len(runs); n > 0 && runs[n-1].Last == q-1 {
			runs[n-1].Last = q
		} else {
			runs = append(runs, Span{q, q})
		}
	}
	return runs
}

func TestSetAgainstModel(t *testing.T) {
	everything := Span{-70, 70}
	spans := rapid.Custom(func(t *rapid.T) Span {
		first := rapid.Int64Range(-60, 60).Draw(t, "first")
		return Span{Seq(first), Seq(first + rapid.Int64Range(-2, 8).Draw(t, "length"))}
	})
	rapid.Check(t, func(t *rapid.T) {
		var s Set
		m := model{}
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				span := spans.Draw(t, "span")
				want := span.Len() - m.count(span)
				if got := s.Insert(span); got != want {
					t.Fatalf("Insert(%v) = %d, want %d", span, got, want)
				}
				for q := span.First; q <= span.Last; q++ {
					m[q] = true
				}
			},
			"remove": func(t *rapid.T) {
				span := spans.Draw(t, "span")
				want := m.count(span)
				if got := s.Remove(span); got != want {
					t.Fatalf("Remove(%v) = %d, want %d", span, got, want)
				}
				for q := span.First; q <= span.Last; q++ {
					delete(m, q)
				}
			},
			"clear": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "seldom") == 0 {
					s.Clear()
					clear(m)
				}
			},
			"": func(t *rapid.T) {
				// Runs of the model are sorted, disjoint and do not touch: equal
				// spans prove all three.
				if got, want := s.Spans(), m.runs(everything, true); !slices.Equal(got, want) {
					t.Fatalf("the set is %v, want %v", got, want)
				}
				if got, want := s.Len(), int64(len(m)); got != want {
					t.Fatalf("Len() = %d, want %d", got, want)
				}
				span := spans.Draw(t, "asked")
				if got, want := s.Overlap(span), m.count(span); got != want {
					t.Fatalf("Overlap(%v) = %d, want %d", span, got, want)
				}
				if got, want := s.ContainsSpan(span), m.count(span) == span.Len(); got != want {
					t.Fatalf("ContainsSpan(%v) = %v, want %v", span, got, want)
				}
				if got, want := s.Contains(span.First), m[span.First]; got != want {
					t.Fatalf("Contains(%d) = %v, want %v", span.First, got, want)
				}
				before := Span{1000, 1001}
				got, want := s.Gaps([]Span{before}, span), append([]Span{before}, m.runs(span, false)...)
				if !slices.Equal(got, want) {
					t.Fatalf("Gaps(%v) = %v, want %v", span, got[1:], want[1:])
				}
			},
		})
	})
}

// A set that has lost its spans gives their memory back.
func TestSetShrinks(t *testing.T) {
	var s Set
	for q := Seq(0); q < 10000; q += 2 {
		s.Insert(Span{q, q})
	}
	s.Remove(Span{100, 1 << 30})
	if n, c := len(s.Spans()), cap(s.Spans()); n != 50 || c > 64+4*n {
		t.Errorf("%d spans in room for %d, want 50 in little", n, c)
	}
}

func TestSetDoesNotAllocate(t *testing.T) {
	s := everyOther(1000)
	var gaps [8]Span
	at := Seq(2000)
	allocs := testing.AllocsPerRun(1000, func() {
		s.Insert(Span{at, at})
		at++
		s.Remove(Span{100, 100})
		s.Insert(Span{100, 100})
		s.Contains(501)
		s.Overlap(Span{100, 120})
		s.Gaps(gaps[:0], Span{100, 110})
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func everyOther(n int) *Set {
	s := new(Set)
	for q := range n {
		s.Insert(Span{Seq(2 * q), Seq(2 * q)})
	}
	return s
}

func BenchmarkSet(b *testing.B) {
	b.Run("InsertNext", func(b *testing.B) { // a stream without loss
		var s Set
		q := Seq(0)
		for b.Loop() {
			s.Insert(Span{q, q})
			q++
		}
	})
	b.Run("InsertNextBehind100Holes", func(b *testing.B) {
		s := everyOther(100)
		q := Seq(1000)
		for b.Loop() {
			s.Insert(Span{q, q})
			q++
		}
	})
	b.Run("ContainsNewest", func(b *testing.B) {
		s := everyOther(1000)
		for b.Loop() {
			s.Contains(1998)
		}
	})
	b.Run("ContainsAnywhere", func(b *testing.B) {
		s := everyOther(1000)
		q := Seq(0)
		for b.Loop() {
			s.Contains(q)
			q = (q + 769) % 2000
		}
	})
	b.Run("OpenAndCloseHole", func(b *testing.B) {
		s := everyOther(1000)
		for b.Loop() {
			s.Remove(Span{1000, 1000})
			s.Insert(Span{1000, 1000})
		}
	})
}
