package twopoint

import (
	"hash/maphash"
	"io"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// Config says how to compare. The zero Config is safe.
type Config struct {
	Locator dissect.Locator

	MaxPending  int   // packets held at a time, of all pairs of points together; 0 is 1,048,576
	MaxStreams  int   // streams that a pair of points follows; 0 is 65,536
	MaxVanished int   // vanished copies listed of a stream, and damaged ones; 0 is 65,536
	Patience    int64 // how long a copy may take before it counts as vanished, nanoseconds; 0 is 2 s

	// Selection is what to count; nil is everything. All packets are followed all
	// the same, since it takes them to tell the clocks and the order of the points,
	// and what passed when. Of its times the report makes mention only: which copies
	// they take is for Windows to say, in terms of each capture's clock.
	Selection *dissect.Selection
	Windows   []Window // one a capture; nil is the whole of all
}

// seed makes the hashes of one run differ from those of the next, so that no
// capture can be made to collide.
func (c *Config) seed() uint64 { return maphash.Bytes(maphash.MakeSeed(), nil) }

// Comparer follows the captures of several points and finds what became of each
// copy between them. It is not safe for concurrent use.
//
// It reads nothing itself: ask Next which capture is to be read, give the frame
// to Frame, and Close a capture behind its last frame.
type Comparer struct {
	config Config
	points []reading
	pairs  []*pair

	packet dissect.Packet
	bth    codec.BTH
	in     arrival
}

// reading is a capture.
type reading struct {
	dissect.Capture
	closed bool
}

// NewComparer makes a comparer of captures with these names, one a point.
func NewComparer(c Config, names ...string) *Comparer {
	if c.MaxPending <= 0 {
		c.MaxPending = 1 << 20
	}
	if c.MaxStreams <= 0 {
		c.MaxStreams = 1 << 16
	}
	if c.MaxVanished <= 0 {
		c.MaxVanished = 1 << 16
	}
	if c.Patience <= 0 {
		c.Patience = 2e9
	}
	const fewest = 1024 // that make sense for a pair
	c.MaxPending = max(c.MaxPending/max(len(names)*(len(names)-1)/2, 1), fewest)
	all := &Comparer{config: c, points: make([]reading, len(names))}
	for i, name := range names {
		all.points[i].File = name
		for k := range i {
			all.pairs = append(all.pairs, newPair(&all.config, k, i))
		}
	}
	return all
}

// Next is the index of the capture to read next, -1 when all are closed. The
// captures are read in step, by their own clocks where these are known to agree
// or disagree, else by turns.
func (c *Comparer) Next() int {
	best := -1
	for i := range c.points {
		switch {
		case c.points[i].closed:
		case best < 0 || c.behind(best, i):
			best = i
		}
	}
	return best
}

// behind reports whether capture k has been read less far than capture i, which
// is named before it.
func (c *Comparer) behind(i, k int) bool {
	p := c.pair(i, k)
	a, b := &p.reach[0], &p.reach[1]
	if !p.clock.known || a.frames == 0 || b.frames == 0 {
		return b.frames < a.frames
	}
	return b.last-p.clock.offset < a.last
}

// pair is the pair of captures i and k; i is less than k.
func (c *Comparer) pair(i, k int) *pair { return c.pairs[k*(k-1)/2+i] }

// Frame follows a captured frame of the capture f.File.
func (c *Comparer) Frame(f *dissect.Frame) {
	switch c.config.Locator.Locate(f, &c.packet) {
	case dissect.Found:
		c.Packet(&c.packet)
		return
	case dissect.Fragment:
		if c.config.phase(f.File, f.Time) == 0 && c.config.between(&c.packet) {
			c.points[f.File].Fragments++
		}
	}
	c.pass(f.File, f.Time)
}

// Other takes note of a frame that is known to hold no RDMA packet.
func (c *Comparer) Other(file int, time int64) { c.pass(file, time) }

// Quiet says that a capture has no frame between the last one and a time: a
// running network may be silent at one point.
func (c *Comparer) Quiet(file int, time int64) {
	c.each(file, func(pair *pair, point uint8) {
		pair.quiet(point, tame(time))
		pair.advance()
	})
}

// Packet follows a packet that was located already.
func (c *Comparer) Packet(p *dissect.Packet) {
	found := c.read(p)
	c.count(p.File, p.Time)
	c.each(p.File, func(pair *pair, point uint8) {
		pair.pass(point, tame(p.Time))
		if found {
			pair.take(point, &c.in)
		}
		pair.advance()
	})
}

// read fills in the arrival, and reports whether there is an RDMA packet.
func (c *Comparer) read(p *dissect.Packet) bool {
	t := p.Transport()
	if c.bth.Decode(t) != nil {
		return false
	}
	icrc := p.ICRC()
	grade := p.Judge(&c.bth, icrc)
	if grade == dissect.Implausible {
		return false
	}
	c.in.read(p, &c.bth, icrc, grade)
	s := &c.in.sight
	s.phase = c.config.phase(p.File, p.Time)
	between := c.config.between(p)
	s.wanted = between && (c.config.Selection == nil || c.config.Selection.TakesQPNs(p) && c.config.Selection.TakesPacket(p))
	s.chosen = s.wanted && s.phase == 0
	if !between || s.phase != 0 {
		return true
	}
	at := &c.points[p.File]
	at.RDMAFrames++
	if len(t) < p.WireLen {
		at.CutFrames++
	}
	if icrc == dissect.ICRCBad {
		at.BadICRC++
	}
	return true
}

func (c *Comparer) pass(file int, time int64) {
	c.count(file, time)
	c.each(file, func(pair *pair, point uint8) {
		pair.pass(point, tame(time))
		pair.advance()
	})
}

func (c *Comparer) count(file int, time int64) {
	at := &c.points[file]
	if at.Frames == 0 {
		at.FirstTime = dissect.Time(time)
	}
	at.Frames++
	at.LastTime = dissect.Time(time)
}

// tame keeps a time from overflowing when it is added to others: what lies more than
// 73 years from 1970 is no time of a packet.
func tame(t int64) int64 { return min(max(t, -1<<61), 1<<61) }

// each visits the pairs that a capture is part of.
func (c *Comparer) each(file int, visit func(*pair, uint8)) {
	for other := range c.points {
		switch {
		case other < file:
			visit(c.pair(other, file), 1)
		case other > file:
			visit(c.pair(file, other), 0)
		}
	}
}

// Close ends a capture. format is "pcap" or "pcapng", drops is how many frames
// the capture itself lost, as far as it says, and err why reading it stopped
// early: nil or io.EOF, as a reader ends, where it did not.
func (c *Comparer) Close(file int, format string, drops uint64, err error) {
	at := &c.points[file]
	if at.closed {
		return
	}
	at.closed, at.Format, at.CaptureDrops = true, format, drops
	if err != nil && err != io.EOF {
		at.Error = err.Error()
	}
	c.each(file, func(pair *pair, point uint8) { pair.close(point) })
}
