package replay

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/frame"
	"github.com/rdmadump/rdmadump/sim"
)

// Replayer sends frames through a Network. What is no RDMA packet passes as it is.
type Replayer struct {
	Stats

	out     func(*dissect.Frame) error
	truth   *truth
	locator dissect.Locator
	there   *way
	back    *way
	random  *rand.Rand
	streams streams
	held    held
	begun   bool
	first   int64 // time of the first frame

	found   dissect.Packet
	bth     codec.BTH
	scratch []byte
	changed dissect.Frame
	flights []*flight
}

// Stats count copies: RDMA packets as the capture has them.
type Stats struct {
	Frames, Packets                              int64
	Lost, Damaged, Duplicated, Marked, Reordered int64

	Missed []sim.Copy // what picks by PSN name and never came by; known after Close
}

// Options says how to replay. Only Out must be there.
type Options struct {
	Out     func(*dissect.Frame) error // takes the frames behind the network; Data is borrowed
	Truth   io.Writer                  // what became of every copy, a line of JSON each (docs/output.md)
	Locator dissect.Locator
}

// New starts a replay. The error is that of n.Check.
func New(n *Network, o Options) (*Replayer, error) {
	if err := n.Check(); err != nil {
		return nil, err
	}
	r := &Replayer{out: o.Out, locator: o.Locator, there: newWay(&n.There, n.Seed, "there"), back: newWay(&n.Back, n.Seed, "back"),
		random: rand.New(rand.NewPCG(n.Seed, 0x64616d616765))}
	if o.Truth != nil {
		r.truth = &truth{w: o.Truth}
	}
	return r, nil
}

// Frame sends the next frame. The error is that of an output, or ErrHeld.
func (r *Replayer) Frame(f *dissect.Frame) error {
	if !r.begun {
		r.begun, r.first = true, f.Time
	}
	r.Frames++
	if err := r.release(f.Time); err != nil {
		return err
	}
	if !r.packet(f) {
		return r.out(f)
	}
	r.Packets++
	k := key{src: r.found.Src, dst: r.found.Dst, destQP: r.bth.DestQP, kind: kindOf(r.bth.Opcode)}
	t := r.found.Transport()
	if k.kind == datagram && len(t) >= 20 {
		k.srcQP = uint32(t[17])<<16 | uint32(t[18])<<8 | uint32(t[19])
	}
	st, n := r.streams.count(k, &r.bth)
	c := r.take()
	*c = flight{stream: st, ordinal: st.sent, under: 1, key: k, opcode: r.bth.Opcode, psn: r.bth.PSN, copy: n, sent: f.Time - r.first}
	return r.send(f, c, r.draw(c))
}

// packet reports whether there is an RDMA packet in the frame, as far as a packet
// can be told alone.
func (r *Replayer) packet(f *dissect.Frame) bool {
	if r.locator.Locate(f, &r.found) != dissect.Found || r.bth.Decode(r.found.Transport()) != nil {
		return false
	}
	return r.found.Judge(&r.bth, r.found.ICRC()) != dissect.Implausible
}

// draw leaves connection management alone, as links of a scenario do.
func (r *Replayer) draw(c *flight) lot {
	if c.key.kind == datagram && c.key.destQP <= 1 {
		return lot{}
	}
	way := r.there
	if sim.Answers(c.opcode) {
		way = r.back
	}
	p := sim.Passing{Opcode: c.opcode, PSN: c.psn, Copy: c.copy, At: time.Duration(c.sent)}
	return way.draw(&p, &r.found, &r.bth)
}

// send does to a packet what it has drawn.
func (r *Replayer) send(f *dissect.Frame, c *flight, l lot) error {
	if l.lost {
		r.Lost++
		return r.land(c)
	}
	if l.marked || l.damaged {
		f = r.change(f, c, l)
	}
	if l.twice {
		c.under++
		if err := r.arrive(f, c); err != nil {
			return err
		}
	}
	if l.by > 0 {
		return r.hold(f, c, l.by)
	}
	return r.arrive(f, c)
}

// change marks or damages a copy of the frame.
func (r *Replayer) change(f *dissect.Frame, c *flight, l lot) *dissect.Frame {
	r.scratch = append(r.scratch[:0], f.Data...)
	r.changed = *f
	r.changed.Data = r.scratch
	begin := len(r.found.Link)
	if l.marked && frame.MarkCE(r.found.Carrier, r.scratch[begin:begin+len(r.found.Covered)]) {
		c.marked = true
		r.Marked++
	}
	if l.damaged {
		c.damaged = true
		r.damage(r.scratch[begin : begin+len(r.found.Covered)])
	}
	return &r.changed
}

// damage has one bit go wrong: of the payload where there is some, else of the
// ICRC. Of what the capture has cut off, nothing shows.
func (r *Replayer) damage(covered []byte) {
	first := r.found.BTH + r.bth.Opcode.Headers().Len()
	last := min(r.found.BTH+r.found.WireLen-4, len(covered))
	if first >= last {
		first, last = r.found.BTH+r.found.WireLen-4, len(covered)
	}
	if 0 <= first && first < last {
		covered[first+r.random.IntN(last-first)] ^= 1 << r.random.IntN(8)
	}
}

// arrive brings a frame to the capture point behind the network.
func (r *Replayer) arrive(f *dissect.Frame, c *flight) error {
	if !c.here {
		c.here, c.arrived = true, f.Time-r.first
	}
	if !c.damaged {
		c.intact++
		c.reordered = c.reordered || c.intact == 1 && c.ordinal < c.stream.come
		c.stream.come = max(c.stream.come, c.ordinal)
	}
	if err := r.out(f); err != nil {
		return err
	}
	return r.land(c)
}

// land ends a packet, and tells the truth behind the last one of a copy.
func (r *Replayer) land(c *flight) error {
	if c.under--; c.under > 0 {
		return nil
	}
	switch {
	case c.intact > 1:
		r.Duplicated++
	case c.damaged:
		r.Damaged++
	}
	if c.reordered {
		r.Reordered++
	}
	r.flights = append(r.flights, c)
	if r.truth == nil {
		return nil
	}
	return r.truth.tell(c)
}

// take gives a flight to be filled. Flights are used again.
func (r *Replayer) take() *flight {
	n := len(r.flights)
	if n == 0 {
		return &flight{}
	}
	c := r.flights[n-1]
	r.flights = r.flights[:n-1]
	return c
}

// Close lets go what is held back, and completes the truth.
func (r *Replayer) Close() error {
	for len(r.held.all) > 0 {
		if err := r.next(); err != nil {
			return err
		}
	}
	var all []*sim.Chooser
	for _, w := range [...]*way{r.there, r.back} {
		for _, choosers := range [...][]chooser{w.loss, w.damage, w.duplicate, w.mark, w.reorder} {
			for i := range choosers {
				all = append(all, choosers[i].Chooser)
			}
		}
	}
	r.Missed = sim.Missed(all)
	if r.truth == nil {
		return nil
	}
	return r.truth.flush()
}

// ErrHeld ends a replay that would hold back more than fits.
var ErrHeld = errors.New("too much is held back at a time")

func tooMuch() error {
	return fmt.Errorf("reorder: %w: more than %d MiB; want a shorter time, or fewer packets", ErrHeld, maxHeld>>20)
}
