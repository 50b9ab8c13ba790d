package psn

// Seq is a PSN unwrapped to 64 bits: its low 24 bits are the PSN, and Seqs of
// one stream compare as plain integers. It may be negative, since what comes
// before the first PSN seen of a stream has a place too.
type Seq int64

// Unwrap gives the Seq of p that is nearest to ref: in [ref-2^23, ref+2^23).
func Unwrap(ref Seq, p PSN) Seq { return ref + Seq(p.Sub(ref.PSN())) }

// PSN is the number as it stood on the wire.
func (s Seq) PSN() PSN { return PSN(uint32(s) & Mask) }

// Span is a run of Seqs, both ends inclusive; it is empty when Last is before
// First.
type Span struct {
	First, Last Seq
}

// Len is the number of Seqs in the span, zero when it is empty.
func (s Span) Len() int64 { return max(0, int64(s.Last-s.First)+1) }

// Contains reports whether q lies in the span.
func (s Span) Contains(q Seq) bool { return s.First <= q && q <= s.Last }

// Intersect is what two spans have in common, an empty span if nothing.
func (s Span) Intersect(t Span) Span {
	return Span{max(s.First, t.First), min(s.Last, t.Last)}
}

// Range gives the span as PSNs. A span longer than 2^24 has no such form; its
// ends are returned modulo 2^24.
func (s Span) Range() Range { return Range{s.First.PSN(), s.Last.PSN()} }
