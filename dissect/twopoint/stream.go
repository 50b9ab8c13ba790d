package twopoint

import "github.com/rdmadump/rdmadump/psn"

// stream is what two points saw of the packets of one half and kind. Which of
// the points the packets pass first is not known while they are read, so
// everything is counted for both cases; arrays are indexed by point.
type stream struct {
	key    streamKey
	number uint32
	path   *path
	way    uint8 // direction on the path

	side    [2]sideOf
	mated   int64
	kept    int64 // of them, those that count
	pending int64 // sights of it that are still held

	newest [2]int64 // places of the mates that were found last

	apart     int64 // distance of the last mates, smoothed
	jitter    int64 // how far the last ones were from it, smoothed
	near, old window
	delays
	picked *delays // those of copies that count, nil without a selection

	dscp      int64   // changed between the points
	ecnWays   changes // from point 0 to point 1
	dscpWays  changes
	fewer     int64 // hop limit at point 0 less that at point 1: smallest
	most      int64 // and largest
	hopsKnown bool
	good, bad int64
}

// delays are distances of mates: some of them, and the smallest and largest.
type delays struct {
	extremes envelope
	sample   sample
}

func (d *delays) add(p point) {
	const cells, points = 16, 512
	d.extremes.add(p, cells)
	d.sample.add(p, points)
}

// sideOf is what one point saw of a stream.
type sideOf struct {
	copies    copies
	seen      int64 // sights, mirrored ones once
	again     int64 // sights of copies that had been seen here before
	kept      int64 // of them, those that count
	lone      int64 // never seen at the other point, whether they count or not
	off       int64 // not seen at the other point, which may not have been capturing
	lastID    uint16
	lastPSN   psn.PSN
	sameID    int // packets in a row with one IP identification
	firstMate int64
	lastMate  int64 // places of the first and last sight that was found at the other point

	alone     []Copy // never seen at the other point, though it was capturing
	aloneN    int64
	aloneSet  psn.Set
	outside   int64 // not seen at the other point, which may not have been capturing
	undecided int64 // let go because memory is bounded
	surplus   int64 // sights of copies beyond those at the other point
	late      int64 // sights of copies that were released before: mirrored or duplicated much later
	damaged   int64 // bad here and good at the other point
	spoilt    []spoiled
	overtaken int64 // came here behind a copy that passed the other point later
	farthest  int64 // largest place at the other point of what was settled here
}

// mirrored reports whether what repeats the sight at a place, soon after it, is
// another sight of the same copy. A mirror shows all twice, and a network that
// duplicates has both come right behind each other; else the sender sent it again,
// where it takes less than that to ask for it.
func (s *sideOf) mirrored(place int64) bool {
	const share, beside = 4, 2
	return s.seen+1-place <= beside || s.again*share >= s.seen-1
}

// window is the smallest and largest distance of a number of mates.
type window struct{ low, high, n int64 }

const windowMates = 256

func (w *window) add(d int64) {
	if w.n == 0 {
		w.low, w.high = d, d
	}
	w.low, w.high = min(w.low, d), max(w.high, d)
	w.n++
}

// note takes the distance of two mates.
func (s *stream) note(p point, chosen bool) {
	if s.mated == 0 {
		s.apart = p.apart
	}
	off := p.apart - s.apart
	s.apart += off / 8
	s.jitter += (max(off, -off) - s.jitter) / 8
	s.mated++
	if s.near.n == windowMates {
		s.old, s.near = s.near, window{}
	}
	s.near.add(p.apart)
	s.delays.add(p)
	if !chosen {
		return
	}
	s.kept++
	if s.picked != nil {
		s.picked.add(p)
	}
}

// recent is the range of distances of the last mates.
func (s *stream) recent() (low, high int64) {
	low, high = s.near.low, s.near.high
	if s.old.n > 0 {
		low, high = min(low, s.old.low), max(high, s.old.high)
	}
	return low, high
}

// useless reports whether the ICRC says nothing about this stream
// (dissect's rule for halves).
func (s *stream) useless() bool {
	const fewest = 8
	if n := s.good + s.bad; n >= fewest {
		return s.bad*2 > n
	}
	return s.good == 0
}

// identify learns from the IP identification of a sight, and reports whether it
// tells copies apart.
func (s *stream) identify(in *sight) bool {
	if in.ipid == 0 {
		return false
	}
	side := &s.side[in.point]
	if side.sameID < constant {
		switch {
		case in.ipid != side.lastID:
			side.sameID = 0
		case in.psn != side.lastPSN:
			side.sameID++
		}
	}
	side.lastID, side.lastPSN = in.ipid, in.psn
	ids := &s.path.ids[s.way][in.point]
	ids.differ = ids.differ || ids.last != 0 && ids.last != in.ipid
	ids.last = in.ipid
	return s.distinct(in)
}

// constant is how many packets in a row make an IP identification constant.
const constant = 3

// distinct reports whether the IP identification of a sight tells the copies of
// its PSN apart: it is there, it differs among the packets of the path, and it is
// not the same in packet after packet of the stream.
func (s *stream) distinct(in *sight) bool {
	return in.ipid != 0 && s.side[in.point].sameID < constant && s.path.ids[s.way][in.point].differ
}
