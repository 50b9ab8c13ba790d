package twopoint

// chains find sights by their hash: one list of sights in each slot. The pool
// owns the sights.
type chains struct {
	slots []int32 // heads; a power of two of them
	pool  []sight // index 0 is none
	free  int32   // head of a list of unused sights, linked by next
	live  int
}

const fewestSlots = 1 << 10

func newChains() chains {
	return chains{slots: make([]int32, fewestSlots), pool: make([]sight, 1, fewestSlots)}
}

// head is the first sight that may have the hash.
func (c *chains) head(hash uint64) int32 { return c.slots[hash&uint64(len(c.slots)-1)] }

// add takes a copy of s in and returns its index.
func (c *chains) add(s *sight) int32 {
	if c.live >= len(c.slots) {
		c.grow()
	}
	i := c.free
	if i != 0 {
		c.free = c.pool[i].next
	} else {
		i = int32(len(c.pool))
		c.pool = append(c.pool, sight{})
	}
	slot := &c.slots[s.hash&uint64(len(c.slots)-1)]
	c.pool[i] = *s
	c.pool[i].next = *slot
	*slot = i
	c.live++
	return i
}

// remove takes a sight out of its chain and gives its place back.
func (c *chains) remove(i int32) {
	at := &c.slots[c.pool[i].hash&uint64(len(c.slots)-1)]
	for *at != i {
		at = &c.pool[*at].next
	}
	*at = c.pool[i].next
	c.pool[i] = sight{next: c.free}
	c.free = i
	c.live--
}

func (c *chains) grow() {
	old := c.slots
	c.slots = make([]int32, 2*len(old))
	for _, head := range old {
		for i := head; i != 0; {
			s := &c.pool[i]
			after := s.next
			slot := &c.slots[s.hash&uint64(len(c.slots)-1)]
			s.next = *slot
			*slot = i
			i = after
		}
	}
}

// queue is a first-in first-out list of sights.
type queue struct {
	items []int32
	head  int
}

func (q *queue) len() int     { return len(q.items) - q.head }
func (q *queue) front() int32 { return q.items[q.head] }
func (q *queue) push(i int32) { q.items = append(q.items, i) }

func (q *queue) pop() int32 {
	i := q.items[q.head]
	q.head++
	if q.head > 1024 && q.head > len(q.items)/2 {
		q.items = q.items[:copy(q.items, q.items[q.head:])]
		q.head = 0
	}
	return i
}
