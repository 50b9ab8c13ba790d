package twopoint

// timeline keeps a fixed number of cells over a stretch of time that is not
// known beforehand: when it grows too long, neighbours are joined.
type timeline[T any] struct {
	cells []T
	start int64
	width int64 // of a cell, nanoseconds
}

const firstWidth = 1_000_000

// cell is the cell that a time belongs to; a time before the start belongs to
// the first. most is how many cells there may be, an even number.
func (l *timeline[T]) cell(t int64, most int, join func(into, from *T)) *T {
	if len(l.cells) == 0 {
		l.start, l.width = t, firstWidth
	}
	for {
		age := uint64(t) - uint64(l.start)
		if t < l.start {
			age = 0
		}
		i := age / uint64(l.width)
		if i < uint64(most) {
			for uint64(len(l.cells)) <= i {
				var empty T
				l.cells = append(l.cells, empty)
			}
			return &l.cells[i]
		}
		half := (len(l.cells) + 1) / 2
		for k := range half {
			joined := l.cells[2*k]
			if 2*k+1 < len(l.cells) {
				join(&joined, &l.cells[2*k+1])
			}
			l.cells[k] = joined
		}
		l.cells = l.cells[:half]
		l.width *= 2
	}
}
