package transport

// Ring is a queue that reuses its memory: it grows to the largest number of
// elements that it held at once. The zero Ring is empty and ready to use.
type Ring[T any] struct {
	buf     []T // its length is a power of two
	head, n int
}

// Len is the number of elements.
func (r *Ring[T]) Len() int { return r.n }

// At is the i-th element from the head. The pointer holds until the next Push.
func (r *Ring[T]) At(i int) *T { return &r.buf[(r.head+i)&(len(r.buf)-1)] }

// Push appends an element.
func (r *Ring[T]) Push(v T) {
	if r.n == len(r.buf) {
		grown := make([]T, max(4, 2*len(r.buf)))
		for i := range r.n {
			grown[i] = *r.At(i)
		}
		r.buf, r.head = grown, 0
	}
	r.n++
	*r.At(r.n - 1) = v
}

// Pop takes the oldest element out. There must be one.
func (r *Ring[T]) Pop() T {
	v := *r.At(0)
	r.head = (r.head + 1) & (len(r.buf) - 1)
	r.n--
	return v
}
