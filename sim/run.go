package sim

import (
	"io"
	"slices"
	"strconv"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/frame"
	"github.com/rdmadump/rdmadump/transport"
)

// Output is where a run shows itself. The zero value shows nothing.
type Output struct {
	Captures []Capture
	Truth    io.Writer // what became of every copy, a line of JSON each

	// Progress is called now and then with what was done so far. It may end the
	// run by returning an error.
	Progress func(*Result) error
}

// run is a run of a scenario.
type run struct {
	s      *Scenario
	start  int64 // in nanoseconds since 1970
	now    transport.Time
	snap   int // bytes of each frame that some capture point wants
	number uint64
	events events
	timers timers

	hosts    [2]host
	framers  [2]*frame.Framer
	paths    []way
	lanes    []*lane // of all of them
	pairs    []*pair
	machines int
	pattern  *pattern

	flights []*flight // to be used again
	scratch []byte    // for frames that are seen only as they are sent
	fates   []*fate
	held    []*flight // for an event each
	holes   []int     // in held
	truth   *truth
	result  Result
	err     error
}

// way is a path with its lanes in the order in which packets pass them.
type way struct{ there, back []*lane }

// Run plays a scenario until nothing is left to be done. The error is a *Fault if
// the scenario makes no sense, that of an Output, or says that bytes arrived that
// were not sent; the result is that of the run until there.
func Run(s *Scenario, o Output) (*Result, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	r := &run{s: s, start: s.Start.UnixNano(), pattern: newPattern(s)}
	if o.Truth != nil {
		r.truth = &truth{w: o.Truth}
	}
	for end, h := range [...]*Host{&s.Sender, &s.Receiver} {
		r.hosts[end] = host{Host: h, end: end, peer: &r.hosts[1-end], shown: s.shown(h)}
	}
	r.framers[0], _ = s.framer(&s.Sender, &s.Receiver) // Check has made it before
	r.framers[1], _ = s.framer(&s.Receiver, &s.Sender)
	for _, f := range r.framers {
		f.Continue = r.pattern.crc
	}
	r.lay()
	r.taps(o.Captures)
	for n := range s.Pairs.Count {
		p := r.newPair(n)
		r.pairs = append(r.pairs, p)
		r.schedule(transport.Time(n)*s.Pairs.Stagger, begin, n)
	}
	r.play(o.Progress)
	r.truth.flush()
	if r.truth != nil && r.err == nil {
		r.err = r.truth.err
	}
	r.result.Missed = r.missed()
	return &r.result, r.err
}

// missed are the copies that picks name and that never came by.
func (r *run) missed() []Copy {
	var all []*picker
	for _, p := range r.paths {
		for _, n := range slices.Concat(p.there, p.back) {
			for _, picks := range [...][]picker{n.loss, n.damage, n.duplicate, n.mark, n.reorder} {
				for i := range picks {
					all = append(all, &picks[i])
				}
			}
		}
	}
	return missed(all)
}

// lay lays the links.
func (r *run) lay() {
	for _, p := range r.s.paths() {
		for range max(p.Count, 1) {
			var w way
			n := len(r.paths)
			for i := range p.Links {
				back := &p.Links[len(p.Links)-1-i]
				w.there = append(w.there, r.lane(&p.Links[i], &p.Links[i].There, n, "there"))
				w.back = append(w.back, r.lane(back, &back.Back, n, "back"))
			}
			r.paths = append(r.paths, w)
		}
	}
}

// lane makes one direction of a link.
func (r *run) lane(l *Link, d *Direction, path int, way string) *lane {
	n := newLane(r.s, l, d, path, way)
	n.id = len(r.lanes)
	r.lanes = append(r.lanes, n)
	return n
}

// play lets events happen until there are none.
func (r *run) play(progress func(*Result) error) {
	const often = 1 << 16 // events between two calls of progress
	for n := 0; r.err == nil; n++ {
		timer := len(r.timers) > 0 && (len(r.events) == 0 || r.timers[0].timer < r.events[0].at)
		switch {
		case timer:
			if !r.reach(r.timers[0].timer) {
				return
			}
			r.touch(r.timers.pop())
		case len(r.events) > 0:
			if !r.reach(r.events[0].at) {
				return
			}
			r.happen()
		default:
			return
		}
		r.serve(&r.hosts[0])
		r.serve(&r.hosts[1])
		if progress != nil && n%often == often-1 {
			r.fail(progress(&r.result))
		}
	}
}

// reach moves the time on, unless the run is broken off before.
func (r *run) reach(at transport.Time) bool {
	if r.s.Until > 0 && at > r.s.Until {
		r.result.BrokenOff, r.result.Time = true, r.s.Until
		return false
	}
	r.now = at
	return true
}

// begin has a pair begin.
func (r *run) begin(p *pair) {
	if r.s.Handshake {
		r.request(p)
		return
	}
	r.established(p, 0)
	r.established(p, 1)
}

// fail ends the run with the first error.
func (r *run) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// established has a pair begin its work from one end.
func (r *run) established(p *pair, end int) {
	for _, f := range p.flows {
		if f.from == end {
			f.fill()
			r.touch(f.at[end])
		}
	}
}

// count counts a copy.
func (r *run) count(f *flight) {
	if f.mad != nil {
		f.kind, f.copy = management, 1
		return
	}
	f.kind = kindOf(f.packet.BTH.Opcode)
	c := &f.pair.seen[f.from.end][f.kind]
	var again bool
	f.copy, again = c.send(f.packet.BTH.PSN)
	r.result.Packets++
	switch f.kind {
	case request, response:
		r.result.Data++
		r.result.Payload += int64(len(f.packet.Payload))
		if again {
			r.result.Resent++
			r.result.ResentLoad += int64(len(f.packet.Payload))
		}
	case ack:
		r.result.Acks++
	}
}

// weigh counts the bytes of its frame.
func (r *run) weigh(f *flight) {
	if f.kind == management {
		return
	}
	r.result.Bytes += int64(f.wire)
	if f.kind == ack {
		r.result.AckBytes += int64(f.wire)
	}
}

func kindOf(o codec.Opcode) kind {
	switch o.Verb() {
	case codec.VerbReadResponse:
		return response
	case codec.VerbAck, codec.VerbAtomicAck:
		return ack
	case codec.VerbNone:
		return other
	}
	return request
}

// path is the path that a packet takes: all of a queue pair the same one, but
// for those of MP-RDMA, which choose for themselves.
func (r *run) path(f *flight) *way { return &r.paths[int(r.vary(f).SrcPort)%len(r.paths)] }

// vary is what of the headers changes from packet to packet.
func (r *run) vary(f *flight) frame.Vary {
	v := frame.Vary{ID: f.from.id}
	if f.pair != nil {
		v.SrcPort = f.pair.port + f.packet.Path
	}
	return v
}

// arrive brings a packet to its host.
func (r *run) arrive(f *flight) {
	r.result.Time = r.now
	h := f.from.peer
	for _, t := range h.taps {
		r.capture(t, f, r.now)
	}
	e := f.fate
	if e.intact+e.damaged == 0 {
		e.arrived = r.now
	}
	if f.damaged {
		e.damaged++
		r.land(f)
		return
	}
	e.intact++
	if f.pair == nil {
		r.manage(h, f.mad)
		r.land(f)
		return
	}
	c := &f.pair.seen[f.from.end][f.kind]
	e.reordered = e.reordered || e.intact == 1 && e.ordinal < c.come
	c.come = max(c.come, e.ordinal)
	if f.packet.CE {
		r.notify(h, f)
	}
	if f.kind != other {
		r.deliver(h, f)
	}
	r.land(f)
}

// deliver gives a packet to the machine that it is for.
func (r *run) deliver(h *host, f *flight) {
	for _, flow := range f.pair.flows {
		if (flow.from == h.end) != answers(f.packet.BTH.Opcode) {
			continue
		}
		m := flow.at[h.end]
		m.Receive(r.now, &f.packet)
		r.touch(m)
	}
}

// answers reports whether a packet is for the one that has asked.
func answers(o codec.Opcode) bool {
	return o.Response() && o != codec.OpcodeIRNReadAck && o != codec.OpcodeIRNReadNack
}

// notify tells the sender of a marked packet about it (IBA annex A17.9.3).
func (r *run) notify(h *host, f *flight) {
	p := f.pair
	if r.s.CNP.Every == 0 || f.kind == other || p.marked && r.now-p.told < r.s.CNP.Every {
		return
	}
	p.told, p.marked = r.now, true
	h.urgent.push(order{pair: p})
}

// sendOrder sends what no machine sends.
func (r *run) sendOrder(h *host, o order) {
	f := r.take()
	f.pair, f.mad = o.pair, o.mad
	if o.mad != nil {
		r.datagram(h, f)
	} else {
		f.packet = transport.Packet{Packet: codec.Packet{Headers: codec.OpcodeCNP.Headers()}}
		f.packet.BTH = codec.BTH{Opcode: codec.OpcodeCNP, BECN: true, M: true, PKey: 0xffff, DestQP: o.pair.qpn[1-h.end]}
	}
	r.send(h, f)
}

// number is n in decimal.
func number(n int) string { return strconv.Itoa(n) }
