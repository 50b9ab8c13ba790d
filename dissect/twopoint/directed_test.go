package twopoint

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

const (
	us = 1000
	ms = 1000 * us
)

// script builds a world by hand: requests from A, an answer to each.
type script struct {
	world
	requests, answers *flow
}

func newScript() *script {
	return &script{world: world{points: 2},
		requests: &flow{qpn: 0x11, op: codec.Op(codec.RC, codec.SendOnly)},
		answers:  &flow{fromB: true, qpn: 0x22, op: codec.Op(codec.RC, codec.Acknowledge)}}
}

// send lets a packet pass both points, 10 us apart; at is in nanoseconds.
func (s *script) send(f *flow, p psn.PSN, at int64) *transmission {
	s.ids[0]++
	c := &transmission{flow: f, id: 100 + s.ids[0], bth: codec.BTH{Opcode: f.op, PKey: 0xffff, DestQP: f.qpn, PSN: p}}
	c.passes = [4]int64{base + at, base + at + 10*us}
	s.copies = append(s.copies, c)
	return c
}

// exchange sends n requests from PSN p on with an answer each, 100 us apart.
func (s *script) exchange(p psn.PSN, n int, at int64) {
	for i := range n {
		s.send(s.requests, p.Add(i), at+int64(i)*100*us)
		s.send(s.answers, p.Add(i), at+int64(i)*100*us+30*us)
	}
}

func (s *script) compare(clock wrong) *Comparison {
	return compareFrames([][]dissect.Frame{s.capture(0, wrong{}), s.capture(1, clock)}, []string{"A", "B"})
}

// Packets that go both ways tell the order of the points and the clocks, though
// these differ by far more than any delay and drift, over a long time.
func TestDriftOverTime(t *testing.T) {
	for _, clock := range []wrong{{3e9, 40_000}, {-7e9, -25_000}, {0, 0}} {
		s := newScript()
		for i := range 400 {
			s.exchange(psn.PSN(i*2), 2, int64(i)*250*ms)
		}
		got := s.compare(clock)
		if s := got.Streams[0]; s.OrderBy != ByRoundTrip || s.Upstream != "A" || s.VanishedTotal+s.NotCaptured+s.Outside != 0 {
			t.Errorf("%+v", s)
		}
		k := got.Clock
		if off := k.Offset - clock.offset; off < -us || off > us || k.Basis != BothWays {
			t.Errorf("offset %d, want %d, by %s", k.Offset, clock.offset, k.Basis)
		}
		if off := k.Drift - clock.ppb; off < -50 || off > 50 {
			t.Errorf("drift %d, want %d", k.Drift, clock.ppb)
		}
		for _, s := range append(got.Streams, got.Feedback...) {
			if d := s.Delay; d.Count != 800 || d.Min < 9*us || d.Max > 11*us {
				t.Errorf("delay %+v, want 10 us", d)
			}
		}
	}
}

// The first packet of all, seen twice at a point before anything told that the IP
// identification differs, is one transmission.
func TestFirstPacketTwice(t *testing.T) {
	s := newScript()
	s.send(s.requests, 7, 0).twice[0] = base + 200*us
	s.exchange(8, 20, ms)
	s.send(s.requests, 7, 5*ms).passes[1] = 0
	s.exchange(28, 20, 6*ms)
	got := s.compare(wrong{})
	if st := got.Streams[0]; !slices.Equal(copiesOf(st.Vanished), []Copy{{PSN: 7, Copy: 2}}) || st.Duplicated != 0 {
		t.Errorf("%+v", st)
	}
}

// A copy that comes once more long after is a duplicate still.
func TestLateDuplicate(t *testing.T) {
	s := newScript()
	s.exchange(0, 30, 0)
	s.copies[20].twice[1] = base + 700*ms // a request, PSN 10
	s.exchange(30, 100, 300*ms)
	s.exchange(130, 100, 800*ms)
	got := s.compare(wrong{offset: 5e9})
	if st := got.Streams[0]; st.Duplicated != 1 || st.NotCaptured+st.VanishedTotal+st.Outside != 0 {
		t.Errorf("%+v", st)
	}
}

// Of copies that are alike the first capture missed one, and the next vanished:
// what came before it was sent cannot be it.
func TestNotTheOneSentLater(t *testing.T) {
	s := newScript()
	s.v6 = true
	s.exchange(0, 600, 0)
	missed := s.send(s.requests, 600, 61*ms)
	s.send(s.requests, 600, 63*ms).passes[1] = 0
	s.exchange(601, 100, 64*ms)
	frames := s.capture(0, wrong{})
	frames = slices.DeleteFunc(frames, func(f dissect.Frame) bool { return f.Time == missed.passes[0] })
	got := compareFrames([][]dissect.Frame{frames, s.capture(1, wrong{offset: -2e9})}, []string{"A", "B"})
	if st := got.Streams[0]; !slices.Equal(copiesOf(st.Vanished), []Copy{{PSN: 600, Copy: 1}}) || st.NotCaptured != 1 {
		t.Errorf("%+v", st)
	}
}

// Copies that are alike and delays that vary by more than the time between them:
// the order among other packets tells which one came.
func TestOrderTellsCopies(t *testing.T) {
	s := newScript()
	s.v6 = true
	r := rand.New(rand.NewPCG(5, 5))
	at, last := int64(601*ms), int64(0)
	for i := range 600 {
		s.send(s.requests, psn.PSN(i), int64(i)*ms).passes[1] += r.Int64N(400 * us)
		s.send(s.answers, psn.PSN(i), int64(i)*ms+500*us)
	}
	// Each run is sent twice, 300 us apart, and of the first copies some are
	// lost; the path keeps the order while its delay jumps about.
	var lost []Copy
	for run := range 200 {
		for again := range 2 {
			delay := r.Int64N(400 * us)
			for i := range 6 {
				c := s.send(s.requests, psn.PSN(600+6*run+i), at+int64(again)*300*us+int64(i)*5*us)
				c.passes[1] = max(c.passes[0]+delay, last+3*us)
				last = c.passes[1]
				if again == 0 && i == run%6 {
					c.passes[1] = 0
					lost = append(lost, Copy{PSN: c.bth.PSN, Copy: 1})
				}
			}
		}
		s.send(s.answers, psn.PSN(600+6*run), at+350*us)
		at += 2 * ms
	}
	got := s.compare(wrong{offset: 1e9})
	if st := got.Streams[0]; !slices.Equal(copiesOf(st.Vanished), lost) || st.Reordered != 0 {
		t.Errorf("%d reordered, %d vanished, want %d\n%v\n%v", st.Reordered, st.VanishedTotal, len(lost), copiesOf(st.Vanished), lost)
	}
}
