package transporttest

import (
	"container/heap"
	"errors"
	"fmt"

	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// Direction is which way a packet goes.
type Direction uint8

// The directions.
const (
	Forward  Direction = iota // from the requester
	Backward                  // from the responder
)

// Copy is one transmission of a packet.
type Copy struct {
	At     transport.Time // when it was sent; in Arrived when it arrived
	Dir    Direction
	N      int             // this is the N-th, from 1, with this PSN in this direction
	Ready  transport.Ready // what the machine said that it is
	Packet transport.Packet
}

// String is like "2us forward RC SEND Only 1000 #2".
func (c *Copy) String() string {
	return fmt.Sprintf("%v %s %s %d #%d", c.At, [...]string{"forward", "backward"}[c.Dir], c.Packet.BTH.Opcode, c.Packet.BTH.PSN, c.N)
}

// Link carries packets between two machines until both are silent. Each packet
// is written out and decoded again on its way, so that a header that does not
// fit the opcode is found.
type Link struct {
	Requester, Responder transport.Machine

	// Gap is the time for which a packet occupies its sender's port, at least
	// one nanosecond.
	Gap transport.Time

	// What happens to a copy. Each may be nil: no delay, no loss, no duplicate.
	// Delay may differ from copy to copy, so that they overtake each other.
	// Twice is how much later than the first a second copy arrives; zero for
	// none. Mark sets Congestion Experienced.
	Delay func(*Copy) transport.Time
	Lose  func(*Copy) bool
	Twice func(*Copy) transport.Time
	Mark  func(*Copy) bool

	// Sent sees each copy as it leaves, also those that get lost. Arrived sees
	// each before the machine gets it. An error ends the run.
	Sent    func(*Copy) error
	Arrived func(*Copy) error

	// Most is the number of packets after which a run is given up, 0 for
	// 100,000.
	Most int

	Now    transport.Time
	copies map[copyOf]int
	flying arrivals
	serial int
	free   [2]transport.Time // when the ports are free again
}

type copyOf struct {
	dir Direction
	psn psn.PSN
}

// ErrEndless ends a run that goes on and on.
var ErrEndless = errors.New("no end in sight")

// Run carries packets until nothing is under way and neither machine will wake.
func (l *Link) Run() error {
	if l.copies == nil {
		l.copies = map[copyOf]int{}
	}
	most := l.Most
	if most == 0 {
		most = 100_000
	}
	for range 4 * most { // a step sends a packet, or something arrives or wakes
		if l.serial > most {
			return ErrEndless
		}
		for len(l.flying) > 0 && l.flying[0].at <= l.Now {
			if err := l.deliver(); err != nil {
				return err
			}
		}
		next := transport.Never
		for dir, m := range [...]transport.Machine{l.Requester, l.Responder} {
			at, err := l.send(Direction(dir), m)
			if err != nil {
				return err
			}
			next = min(next, at)
		}
		if len(l.flying) > 0 {
			next = min(next, l.flying[0].at)
		}
		if next == transport.Never {
			return nil
		}
		if next < l.Now {
			return fmt.Errorf("at %v a machine that has nothing to send wants to wake at %v", l.Now, next)
		}
		l.Now = next
	}
	return ErrEndless
}

// send lets a machine send one packet if its port is free, and gives the time
// at which it must be asked again.
func (l *Link) send(dir Direction, m transport.Machine) (transport.Time, error) {
	ready := m.Ready(l.Now)
	if ready == transport.Idle {
		if wake := m.Wake(); wake > l.Now {
			return wake, nil
		}
		return 0, fmt.Errorf("at %v a machine is idle and wants to wake at %v", l.Now, m.Wake())
	}
	if l.free[dir] > l.Now {
		return l.free[dir], nil
	}
	l.free[dir] = l.Now + max(l.Gap, 1)
	c := Copy{At: l.Now, Dir: dir, Ready: ready}
	m.Next(l.Now, &c.Packet)
	key := copyOf{dir, c.Packet.BTH.PSN}
	l.copies[key]++
	c.N = l.copies[key]
	if l.Sent != nil {
		if err := l.Sent(&c); err != nil {
			return 0, err
		}
	}
	l.serial++
	if l.Lose != nil && l.Lose(&c) {
		return l.free[dir], nil
	}
	at := l.Now
	if l.Delay != nil {
		at += l.Delay(&c)
	}
	if l.Mark != nil && l.Mark(&c) {
		c.Packet.CE = true
	}
	carried, err := l.carry(&c.Packet)
	if err != nil {
		return 0, fmt.Errorf("%v: %w", &c, err)
	}
	c.Packet = carried
	heap.Push(&l.flying, arrival{at, l.serial, c})
	if l.Twice != nil {
		if later := l.Twice(&c); later > 0 {
			heap.Push(&l.flying, arrival{at + later, l.serial, c})
		}
	}
	return l.free[dir], nil
}

// carry writes a packet out and reads it again.
func (l *Link) carry(p *transport.Packet) (transport.Packet, error) {
	if len(p.Payload) != p.PayloadLen {
		return *p, fmt.Errorf("payload of %d bytes, PayloadLen %d", len(p.Payload), p.PayloadLen)
	}
	b, err := p.AppendBinary(nil)
	if err != nil {
		return *p, err
	}
	b = append(b, make([]byte, int(p.BTH.PadCnt)+4)...) // pad and ICRC
	if len(b)%4 != 0 {
		return *p, fmt.Errorf("%d bytes with PadCnt %d", len(b), p.BTH.PadCnt)
	}
	q := transport.Packet{Path: p.Path, CE: p.CE}
	if err := q.Decode(b, len(b)); err != nil {
		return *p, err
	}
	if q.Headers != p.Headers {
		return *p, fmt.Errorf("headers %b are %b when decoded", p.Headers, q.Headers)
	}
	q.Pad, q.ICRC = nil, nil
	return q, nil
}

func (l *Link) deliver() error {
	a := heap.Pop(&l.flying).(arrival)
	a.c.At = l.Now
	if l.Arrived != nil {
		if err := l.Arrived(&a.c); err != nil {
			return err
		}
	}
	to := l.Responder
	if a.c.Dir == Backward {
		to = l.Requester
	}
	to.Receive(l.Now, &a.c.Packet)
	return nil
}

// arrival is a copy under way. Those that arrive together come in the order in
// which they left.
type arrival struct {
	at     transport.Time
	serial int
	c      Copy
}

type arrivals []arrival

func (a arrivals) Len() int { return len(a) }
func (a arrivals) Less(i, j int) bool {
	if a[i].at != a[j].at {
		return a[i].at < a[j].at
	}
	return a[i].serial < a[j].serial
}
func (a arrivals) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *arrivals) Push(v any)   { *a = append(*a, v.(arrival)) }
func (a *arrivals) Pop() any {
	old := *a
	v := old[len(old)-1]
	*a = old[:len(old)-1]
	return v
}
