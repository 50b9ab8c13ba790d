package psn

import "slices"

// Set is a set of Seqs kept as sorted, disjoint spans that do not touch. Its
// memory is that of its spans, whatever their length. Looking up costs
// O(log n) for n spans, changing it O(log n) and a move of the spans behind.
// The zero Set is empty and ready to use. Seqs stay clear of the ends of 64
// bits, as those of any stream do.
type Set struct {
	spans []Span
}

// find is the index of the first span that ends at or after q.
func (s *Set) find(q Seq) int {
	// Streams are looked up near their newest end far more often than not.
	n := len(s.spans)
	switch {
	case n == 0 || s.spans[n-1].Last < q:
		return n
	case n == 1 || s.spans[n-2].Last < q:
		return n - 1
	}
	// Which half it is nobody can guess, so that it is computed, not jumped to:
	// the sign of the difference, as a mask.
	lo := 0
	for n--; n > 1; {
		half := n / 2
		lo += half & int((s.spans[lo+half-1].Last-q)>>63)
		n -= half
	}
	return lo
}

// Insert adds the span and returns how many of its Seqs were new.
func (s *Set) Insert(span Span) int64 {
	if span.Len() == 0 {
		return 0
	}
	added := span.Len()
	i := s.find(span.First - 1) // a span that ends just before it is joined
	j := i
	for j < len(s.spans) && s.spans[j].First <= span.Last+1 {
		added -= s.spans[j].Intersect(span).Len()
		j++
	}
	if i == j {
		s.spans = slices.Insert(s.spans, i, span)
		return added
	}
	s.spans[i].First = min(span.First, s.spans[i].First)
	s.spans[i].Last = max(span.Last, s.spans[j-1].Last)
	if i+1 < j {
		s.spans = slices.Delete(s.spans, i+1, j)
	}
	return added
}

// Remove takes the span out and returns how many of its Seqs were there.
func (s *Set) Remove(span Span) int64 {
	if span.Len() == 0 {
		return 0
	}
	i := s.find(span.First)
	j := i
	var removed int64
	for j < len(s.spans) && s.spans[j].First <= span.Last {
		removed += s.spans[j].Intersect(span).Len()
		j++
	}
	if i == j {
		return 0
	}
	head, tail := Span{s.spans[i].First, span.First - 1}, Span{span.Last + 1, s.spans[j-1].Last}
	if i+1 == j && head.Len() > 0 && tail.Len() > 0 {
		s.spans[i] = head
		s.spans = slices.Insert(s.spans, j, tail)
		return removed
	}
	if head.Len() > 0 {
		s.spans[i] = head
		i++
	}
	if tail.Len() > 0 {
		j--
		s.spans[j] = tail
	}
	s.spans = slices.Delete(s.spans, i, j)
	s.shrink()
	return removed
}

// shrink gives memory back once a set has lost most of its spans.
func (s *Set) shrink() {
	if n := len(s.spans); cap(s.spans) > 64 && n < cap(s.spans)/4 {
		s.spans = append(make([]Span, 0, n*2), s.spans...)
	}
}

// Clear empties the set and keeps its memory.
func (s *Set) Clear() { s.spans = s.spans[:0] }

// Contains reports whether q is in the set.
func (s *Set) Contains(q Seq) bool {
	i := s.find(q)
	return i < len(s.spans) && s.spans[i].First <= q
}

// ContainsSpan reports whether every Seq of the span is in the set; an empty
// span is.
func (s *Set) ContainsSpan(span Span) bool {
	if span.Len() == 0 {
		return true
	}
	i := s.find(span.First)
	return i < len(s.spans) && s.spans[i].First <= span.First && span.Last <= s.spans[i].Last
}

// Overlap counts the Seqs of the span that are in the set.
func (s *Set) Overlap(span Span) int64 {
	var n int64
	for i := s.find(span.First); i < len(s.spans) && s.spans[i].First <= span.Last; i++ {
		n += s.spans[i].Intersect(span).Len()
	}
	return n
}

// Gaps appends to dst the parts of the span that are not in the set, in order.
func (s *Set) Gaps(dst []Span, span Span) []Span {
	if span.Len() == 0 {
		return dst
	}
	next := span.First
	for i := s.find(span.First); i < len(s.spans) && s.spans[i].First <= span.Last; i++ {
		if next < s.spans[i].First {
			dst = append(dst, Span{next, s.spans[i].First - 1})
		}
		next = s.spans[i].Last + 1
	}
	if next <= span.Last {
		dst = append(dst, Span{next, span.Last})
	}
	return dst
}

// Parts appends to dst the parts of the span that are in the set, in order.
func (s *Set) Parts(dst []Span, span Span) []Span {
	for _, part := range s.From(span.First) {
		if part.First > span.Last {
			break
		}
		if part = part.Intersect(span); part.Len() > 0 {
			dst = append(dst, part)
		}
	}
	return dst
}

// From is the content in order, without the spans that end before q. The slice
// belongs to the set and is valid until the set changes.
func (s *Set) From(q Seq) []Span { return s.spans[s.find(q):] }

// Spans is the content in order. The slice belongs to the set and is valid
// until the set changes.
func (s *Set) Spans() []Span { return s.spans }

// Len is the number of Seqs in the set.
func (s *Set) Len() int64 {
	var n int64
	for _, span := range s.spans {
		n += span.Len()
	}
	return n
}
