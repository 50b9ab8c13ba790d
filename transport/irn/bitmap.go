package irn

import "github.com/rdmadump/rdmadump/psn"

// bitmap has a bit for each PSN of a window that slides. Its owner clears what
// leaves the window.
type bitmap []uint64

func newBitmap(packets int) bitmap { return make(bitmap, size(packets)/64) }

// at is the word of a PSN and its bit there.
func (b bitmap) at(s psn.Seq) (word *uint64, bit uint64) {
	i := uint64(s) & (uint64(len(b))*64 - 1)
	return &b[i/64], 1 << (i % 64)
}

func (b bitmap) has(s psn.Seq) bool {
	w, bit := b.at(s)
	return *w&bit != 0
}

func (b bitmap) set(s psn.Seq) {
	w, bit := b.at(s)
	*w |= bit
}

func (b bitmap) clear(s psn.Seq) {
	w, bit := b.at(s)
	*w &^= bit
}
