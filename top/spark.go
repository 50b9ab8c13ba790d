package top

// bins is how many times of the past a Spark has.
const bins = 32

// Spark is the packets of a connection over time, and where it was in trouble.
// Which times its bins are is known to the timeline of all.
type Spark struct {
	Packets [bins]uint32
	Trouble uint32 // a bit for each bin
}

// timeline says which bin is now. It slides, with bins of a fixed width, or, where
// the whole of a capture is to be seen, has the bins grow twofold whenever the last
// one is full.
type timeline struct {
	start, width int64 // nanoseconds
	now          int   // the bin
	slides       bool
	begun        bool
}

// firstWidth is that of the bins of a capture, before they grow.
const firstWidth = 1_000

// slidingWidth is that of bins that slide.
const slidingWidth = 1_000_000_000

// shift is how Sparks follow the timeline to a new bin.
type shift struct{ left, halvings int }

// to moves to a time. The shift is to be applied to all Sparks.
func (t *timeline) to(at int64) shift {
	if !t.begun {
		t.start, t.begun, t.width = at, true, firstWidth
		if t.slides {
			t.width = slidingWidth
			t.now = bins - 1
			t.start = at - (bins-1)*t.width
		}
		return shift{}
	}
	var s shift
	bin := (at - t.start) / t.width
	if t.slides {
		if bin > bins-1 {
			s.left = int(min(bin-(bins-1), bins))
			t.start += (bin - (bins - 1)) * t.width
		}
		return s
	}
	for bin >= bins && t.width < 1<<60 {
		t.width *= 2
		s.halvings++
		bin = (at - t.start) / t.width
	}
	t.now = int(min(max(bin, 0), bins-1))
	return s
}

// next is when the bin ends.
func (t *timeline) next() int64 { return t.start + int64(t.now+1)*t.width }

// follow applies a shift.
func (s *Spark) follow(by shift) {
	if by.left > 0 {
		clear(s.Packets[copy(s.Packets[:], s.Packets[by.left:]):])
		s.Trouble >>= by.left
	}
	for range min(by.halvings, 6) { // more leave nothing to move
		for i := range bins / 2 {
			s.Packets[i] = s.Packets[2*i] + s.Packets[2*i+1]
			s.Trouble = s.Trouble&^(1<<i) | (s.Trouble>>(2*i)|s.Trouble>>(2*i+1))&1<<i
		}
		clear(s.Packets[bins/2:])
		s.Trouble &= 1<<(bins/2) - 1
	}
}

// add counts packets in a bin, and notes whether there was trouble.
func (s *Spark) add(bin int, packets int64, trouble bool) {
	s.Packets[bin] = uint32(min(int64(s.Packets[bin])+packets, 1<<32-1))
	if trouble {
		s.Trouble |= 1 << bin
	}
}
