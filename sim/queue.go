package sim

// queue is a queue that reuses its memory: it grows to the most that it held at
// once.
type queue[T any] struct {
	buf     []T // its length is a power of two
	head, n int
}

func (q *queue[T]) push(v T) {
	if q.n == len(q.buf) {
		grown := make([]T, max(4, 2*len(q.buf)))
		for i := range q.n {
			grown[i] = q.buf[(q.head+i)&(len(q.buf)-1)]
		}
		q.buf, q.head = grown, 0
	}
	q.buf[(q.head+q.n)&(len(q.buf)-1)] = v
	q.n++
}

// first is the oldest element.
func (q *queue[T]) first() *T { return &q.buf[q.head] }

func (q *queue[T]) pop() T {
	var none T
	v := q.buf[q.head]
	q.buf[q.head] = none
	q.head = (q.head + 1) & (len(q.buf) - 1)
	q.n--
	return v
}
