package transport

// ring is a queue that reuses its memory: it grows to the largest number of
// elements that it held at once.
type ring[T any] struct {
	buf     []T // its length is a power of two
	head, n int
}

// at is the i-th element from the head. The pointer holds until the next push.
func (r *ring[T]) at(i int) *T { return &r.buf[(r.head+i)&(len(r.buf)-1)] }

func (r *ring[T]) push(v T) {
	if r.n == len(r.buf) {
		grown := make([]T, max(4, 2*len(r.buf)))
		for i := range r.n {
			grown[i] = *r.at(i)
		}
		r.buf, r.head = grown, 0
	}
	r.n++
	*r.at(r.n - 1) = v
}

func (r *ring[T]) pop() T {
	v := *r.at(0)
	r.head = (r.head + 1) & (len(r.buf) - 1)
	r.n--
	return v
}
