package twopoint

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// hostile gives frames of whatever an attacker likes: queue pairs, PSNs and times
// without sense, or the same packet for ever.
func hostile(r *rand.Rand, w *world, kind int) dissect.Frame {
	c := &transmission{flow: &flow{qpn: 2 + r.Uint32N(1<<24-3), op: codec.Op(codec.RC, codec.SendOnly)}, id: uint16(r.Uint32())}
	c.bth = codec.BTH{Opcode: c.flow.op, PKey: 0xffff, DestQP: c.flow.qpn, PSN: 7}
	time := int64(base)
	switch kind {
	case 0: // a queue pair a packet
		time += r.Int64N(1e9)
	case 1: // one queue pair, any PSN, any time
		c.bth.DestQP = 5
		c.bth.PSN = c.bth.PSN.Add(int(r.Int32()))
		time = r.Int64() - r.Int64()
	case 2: // always the same
		c.bth.DestQP, c.id = 5, 0
		time += r.Int64N(1e9)
	case 3: // at the ends of time
		time = [...]int64{math.MaxInt64, math.MinInt64, 0}[r.IntN(3)]
		c.bth.DestQP = 5 + r.Uint32N(3)
		c.bth.PSN = c.bth.PSN.Add(r.IntN(9))
	}
	b := w.frame(c, 0)
	return dissect.Frame{Data: b, WireLen: len(b), Time: time, Link: dissect.LinkEthernet}
}

// Memory stays within its bounds whatever comes, and what a bound cost is said.
func TestHostile(t *testing.T) {
	const pending, streams, vanished = 2000, 300, 50
	for kind := range 4 {
		r := rand.New(rand.NewPCG(uint64(kind), 2))
		w := &world{}
		c := NewComparer(Config{MaxPending: pending, MaxStreams: streams, MaxVanished: vanished}, "a", "b")
		p := c.pairs[0]
		for n := range 60_000 {
			f := hostile(r, w, kind)
			f.File, f.Number = r.IntN(2), n
			c.Frame(&f)
			if r.IntN(3) == 0 {
				f.File = 1 - f.File
				c.Frame(&f)
			}
			if p.chains.live > pending || len(p.streams) > streams || len(p.paths) > streams || len(p.orphans) > pending {
				t.Fatalf("kind %d: %d sights, %d streams, %d paths, %d orphans", kind, p.chains.live, len(p.streams), len(p.paths), len(p.orphans))
			}
		}
		got := c.Comparison()
		if p.chains.live != 0 {
			t.Errorf("kind %d: %d sights are left at the end", kind, p.chains.live)
		}
		for _, s := range got.Streams {
			if len(s.Vanished) > vanished {
				t.Errorf("kind %d: %d vanished copies are listed", kind, len(s.Vanished))
			}
		}
		if got.Evicted == nil && kind < 3 {
			t.Errorf("kind %d: nothing was evicted", kind)
		}
	}
}

// Captures that have nothing in common prove nothing.
func TestNothingInCommon(t *testing.T) {
	w := world{points: 2, r: rand.New(rand.NewPCG(1, 1))}
	w.run(200, []*flow{{qpn: 0x11, op: codec.Op(codec.RC, codec.SendOnly)}}, plan{})
	v := world{points: 2, r: rand.New(rand.NewPCG(2, 1))}
	v.run(200, []*flow{{qpn: 0x22, op: codec.Op(codec.RC, codec.SendOnly)}}, plan{})
	got := compareFrames([][]dissect.Frame{w.capture(0, wrong{}), v.capture(1, wrong{})}, []string{"A", "B"})
	if len(got.Streams) != 0 || got.Totals != (Totals{}) || got.Clock.Basis != NoBasis {
		t.Errorf("%+v", got)
	}
	if len(got.Once) != 2 || got.Once[0].Packets != 200 || got.Once[1].Packets != 200 {
		t.Errorf("%+v", got.Once)
	}
}

// A capture without end must not take memory without end.
func TestMemoryIsOfWhatIsInFlight(t *testing.T) {
	w := &world{}
	c := NewComparer(Config{}, "a", "b")
	most := 0
	var next [2]uint32 // packets that each point has shown
	for i := c.Next(); next[0] < 400_000; i = c.Next() {
		n := next[i]
		next[i]++
		if i == 1 && n%100 == 7 { // vanished
			continue
		}
		f := &flow{qpn: 9, op: codec.Op(codec.RC, codec.SendOnly)}
		x := &transmission{flow: f, id: uint16(n%65535 + 1), bth: codec.BTH{Opcode: f.op, PKey: 0xffff, DestQP: 9}}
		x.bth.PSN = x.bth.PSN.Add(int(n))
		b := w.frame(x, 0)
		d := dissect.Frame{Data: b, WireLen: len(b), Time: base + int64(n)*10_000 + int64(i)*4_000_000_000, Link: dissect.LinkEthernet, File: i, Number: int(n)}
		c.Frame(&d)
		most = max(most, c.pairs[0].chains.live)
	}
	// 100,000 packets a second: 10 ms of them three times over at either point,
	// and the vanished ones of 2 s.
	if most > 10_000 {
		t.Errorf("%d sights were held at a time", most)
	}
	if got := c.Comparison(); got.Totals.Vanished < 3990 {
		t.Errorf("%d vanished", got.Totals.Vanished)
	}
}
