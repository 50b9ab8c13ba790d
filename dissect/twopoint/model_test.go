package twopoint

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// world is a small model of two hosts, A and B, and of a path with capture
// points on it. It knows what became of every copy.
type world struct {
	r        *rand.Rand
	v6       bool
	steadyID bool // senders leave the IP identification constant
	points   int
	copies   []*transmission
	ids      [2]uint16
}

// flow is a stream: what a host sends to one queue pair.
type flow struct {
	fromB bool
	qpn   uint32
	op    codec.Opcode
	top   psn.PSN
	fresh int // PSNs sent
}

type transmission struct {
	flow   *flow
	bth    codec.BTH
	id     uint16
	passes [4]int64 // true time at each point on its way, 0 where it never was
	twice  [4]int64 // and once more
	bad    [4]bool
	ce     [4]bool
}

// truth is what became of the copies of a flow between two neighbouring points.
type truth struct {
	dropped                        []Copy // frame left out
	damaged, duplicated, overtaken int64
	marked, copies                 int64
	shortest, longest              int64
}

// chance is true once in n.
func (w *world) chance(n int) bool { return w.r.IntN(n) == 0 }

// plan is how much goes wrong: once in n, 0 for never.
type plan struct{ drop, dup, hold, damage, mark int }

const base = 1_700_000_000_000_000_000

// run lets flows send until n copies are on their way.
func (w *world) run(n int, flows []*flow, p plan) {
	now := int64(base)
	again := map[*flow][]psn.PSN{} // what a resend run has still to send
	rested := map[*flow]int64{}
	last := map[*flow][4]int64{}
	for len(w.copies) < n {
		now += 500 + w.r.Int64N(20_000)
		f := flows[w.r.IntN(len(flows))]
		if now < rested[f] {
			continue
		}
		if len(again[f]) == 0 && f.fresh > 0 && w.chance(30) {
			// Go back some packets, no sooner than feedback can have come.
			rested[f] = now + 400_000
			back := 1 + w.r.IntN(min(f.fresh, 20))
			for i := range back {
				again[f] = append(again[f], f.top.Add(i-back))
			}
			continue
		}
		at := f.top
		if left := again[f]; len(left) > 0 {
			at, again[f] = left[0], left[1:]
		} else {
			f.top = f.top.Add(1)
			f.fresh++
		}
		host := 0
		if f.fromB {
			host = 1
		}
		w.ids[host]++
		if w.ids[host] == 0 {
			w.ids[host] = 1
		}
		c := &transmission{flow: f, id: w.ids[host]}
		if w.steadyID {
			c.id = 7
		}
		c.bth = codec.BTH{Opcode: f.op, PKey: 0xffff, DestQP: f.qpn, PSN: at}
		c.passes[0] = now
		before := last[f]
		for k := 1; k < w.points; k++ {
			if p.drop > 0 && w.chance(p.drop) {
				break
			}
			t := c.passes[k-1] + 5_000 + w.r.Int64N(4_000)
			held := p.hold > 0 && w.chance(p.hold)
			switch {
			case held:
				t += w.r.Int64N(300_000)
			case t <= before[k]: // the path keeps the order
				t = before[k] + 1
			}
			if !held {
				before[k] = t
			}
			c.passes[k] = t
			c.bad[k] = c.bad[k-1] || p.damage > 0 && w.chance(p.damage)
			c.ce[k] = c.ce[k-1] || p.mark > 0 && w.chance(p.mark)
			if p.dup > 0 && w.chance(p.dup) {
				c.twice[k] = t + w.r.Int64N(200_000)
			}
		}
		last[f] = before
		w.copies = append(w.copies, c)
	}
}

// tell works out what happened between points k and k+1 of each flow's way.
func (w *world) tell(k int) map[*flow]*truth {
	all := map[*flow]*truth{}
	arrivals := map[*flow][]*transmission{}
	// Transmissions are numbered as they pass the first point.
	passed := slices.Clone(w.copies)
	slices.SortStableFunc(passed, func(a, b *transmission) int { return cmp.Compare(a.passes[k], b.passes[k]) })
	type sent struct {
		*flow
		psn.PSN
	}
	number := map[sent]int{}
	for _, c := range passed {
		t := all[c.flow]
		if t == nil {
			t = &truth{shortest: math.MaxInt64}
			all[c.flow] = t
		}
		if c.passes[k] == 0 {
			continue
		}
		t.copies++
		number[sent{c.flow, c.bth.PSN}]++
		if c.passes[k+1] == 0 {
			t.dropped = append(t.dropped, Copy{PSN: c.bth.PSN, Copy: number[sent{c.flow, c.bth.PSN}]})
			continue
		}
		arrivals[c.flow] = append(arrivals[c.flow], c)
		if c.bad[k+1] && !c.bad[k] {
			t.damaged++
		}
		if c.ce[k+1] && !c.ce[k] {
			t.marked++
		}
		if c.twice[k+1] != 0 {
			t.duplicated++
		}
		took := c.passes[k+1] - c.passes[k]
		t.shortest, t.longest = min(t.shortest, took), max(t.longest, took)
	}
	for f, list := range arrivals {
		slices.SortStableFunc(list, func(a, b *transmission) int { return cmp.Compare(a.passes[k+1], b.passes[k+1]) })
		highest := int64(0)
		for _, c := range list {
			// In the order in which they passed the first point.
			if c.passes[k] < highest {
				all[f].overtaken++
			}
			highest = max(highest, c.passes[k])
		}
	}
	return all
}

// wrong is how a point's clock runs.
type wrong struct {
	offset int64
	ppb    int64
}

func (c wrong) read(t int64) int64 { return t + c.offset + int64(float64(t-base)*float64(c.ppb)/1e9) }

// capture is what the i-th point from A sees, by its clock, with frame numbers.
func (w *world) capture(i int, clock wrong) []dissect.Frame {
	type seen struct {
		time int64
		c    *transmission
		k    int
	}
	var all []seen
	for _, c := range w.copies {
		k := i
		if c.flow.fromB {
			k = w.points - 1 - i
		}
		for _, t := range [...]int64{c.passes[k], c.twice[k]} {
			if t != 0 {
				all = append(all, seen{t, c, k})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b seen) int { return cmp.Compare(a.time, b.time) })
	frames := make([]dissect.Frame, len(all))
	for n, s := range all {
		b := w.frame(s.c, s.k)
		frames[n] = dissect.Frame{Data: b, WireLen: len(b), Time: clock.read(s.time), Link: dissect.LinkEthernet, Number: n + 1}
	}
	return frames
}

// frame writes a copy as it passes the k-th point of its way.
func (w *world) frame(c *transmission, k int) []byte {
	b, err := c.bth.AppendBinary(nil)
	if err != nil {
		panic(err)
	}
	if c.flow.op.Verb() == codec.VerbAck {
		b = append(b, 0x1f, 0, byte(c.bth.PSN>>8), byte(c.bth.PSN))
	} else {
		b = append(b, 1, 2, 3, 4, 5, 6, 7, 8)
	}
	tos := byte(2)
	if c.ce[k] {
		tos = 3
	}
	datagram := binary.BigEndian.AppendUint16([]byte{0xc1, 0x23, 0x12, 0xb7}, uint16(8+len(b)+4))
	datagram = append(append(datagram, 0, 0), b...)
	var ip []byte
	carrier := codec.RoCEv2IPv4
	from, to := byte(1), byte(2)
	if c.flow.fromB {
		from, to = 2, 1
	}
	hops := byte(64)
	etherType := []byte{8, 0}
	if w.v6 {
		carrier = codec.RoCEv2IPv6
		etherType = []byte{0x86, 0xdd}
		ip = binary.BigEndian.AppendUint16([]byte{0x60 | tos>>4, tos << 4, 0, 0}, uint16(len(datagram)+4))
		ip = append(ip, 17, hops)
		for _, last := range [...]byte{from, to} {
			ip = append(ip, 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last)
		}
	} else {
		ip = binary.BigEndian.AppendUint16([]byte{0x45, tos}, uint16(20+len(datagram)+4))
		ip = binary.BigEndian.AppendUint16(ip, c.id)
		ip = append(ip, 0x40, 0, hops, 17, 0, 0, 192, 0, 2, from, 192, 0, 2, to)
	}
	head := len(ip) + 8
	covered := append(ip, datagram...)
	icrc, err := codec.ICRC(carrier, covered, head)
	if err != nil {
		panic(err)
	}
	covered = codec.AppendICRC(covered, icrc)
	if c.bad[k] {
		covered[len(covered)-6] ^= 0x10
	}
	link := append(make([]byte, 12), etherType...)
	return append(link, covered...)
}

// compareFrames compares captures that are given in order.
func compareFrames(captures [][]dissect.Frame, names []string) *Comparison {
	return compareBy(Config{}, captures, names)
}

// compareBy does so in the way that a configuration says.
func compareBy(config Config, captures [][]dissect.Frame, names []string) *Comparison {
	c := NewComparer(config, names...)
	read := make([]int, len(captures))
	for i := c.Next(); i >= 0; i = c.Next() {
		if read[i] == len(captures[i]) {
			c.Close(i, "pcap", 0, nil)
			continue
		}
		f := captures[i][read[i]]
		f.File = i
		read[i]++
		c.Frame(&f)
	}
	return c.Comparison()
}

// find is the stream of a flow between two points.
func find(c *Comparison, f *flow, upstream string) *Stream {
	for _, list := range [...][]Stream{c.Streams, c.Feedback} {
		for i := range list {
			s := &list[i]
			if uint32(s.DestQP) == f.qpn && s.Upstream == upstream && (s.Kind == Feedback) == (f.op.Verb() == codec.VerbAck) && (s.Src.Compare(s.Dst) > 0) == f.fromB {
				return s
			}
		}
	}
	return nil
}

// copiesOf is what vanished, in a form that compares.
func copiesOf(list []Copy) []Copy {
	out := slices.Clone(list)
	for i := range out {
		out[i].Frame = 0
	}
	slices.SortFunc(out, func(a, b Copy) int { return cmp.Or(cmp.Compare(a.PSN, b.PSN), cmp.Compare(a.Copy, b.Copy)) })
	return out
}
