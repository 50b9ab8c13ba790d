package twopoint

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// draw makes a world of some flows, requests from either end and the
// acknowledgements that go against them.
func draw(t *rapid.T, w *world, p plan) {
	w.r = rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	w.ids = [2]uint16{uint16(w.r.Uint32()), uint16(w.r.Uint32())}
	var flows []*flow
	add := func(fromB bool, qpn uint32, op codec.Opcode) {
		start := psn.PSN(w.r.Uint32N(psn.Mask + 1))
		if w.chance(3) {
			start = psn.PSN(psn.Mask - w.r.Uint32N(50))
		}
		flows = append(flows, &flow{fromB: fromB, qpn: qpn, op: op, top: start})
	}
	send := codec.Op(codec.RC, codec.SendOnly)
	ack := codec.Op(codec.RC, codec.Acknowledge)
	for i := range rapid.IntRange(1, 3).Draw(t, "requesters") {
		fromB := i > 0 && w.chance(2)
		add(fromB, 0x11+uint32(i), send)
		add(!fromB, 0x11+uint32(i), ack)
	}
	w.run(rapid.IntRange(60, 1500).Draw(t, "copies"), flows, p)
}

func drawClock(t *rapid.T) wrong {
	return wrong{rapid.Int64Range(-10e9, 10e9).Draw(t, "clock"), rapid.Int64Range(-50_000, 50_000).Draw(t, "drift")}
}

// Whatever the order of the files and the state of the clocks, exactly the
// dropped copies vanish, and everything else is counted for what it is.
func TestExactCopies(t *testing.T) {
	for _, tc := range []struct {
		name string
		w    world
		p    plan
	}{
		{"IPv4", world{}, plan{drop: 20, dup: 25, hold: 30, damage: 40, mark: 20}},
		{"IPv4, nothing wrong", world{}, plan{}},
		{"IPv4, half lost", world{}, plan{drop: 2, dup: 3}},
		// Without an identification copies that are alike and held up for longer
		// than it takes to send the next are beyond telling.
		{"IPv6", world{v6: true}, plan{drop: 12, damage: 40, mark: 20}},
		{"IPv6, half lost", world{v6: true}, plan{drop: 2}},
		{"IPv4, constant identification", world{steadyID: true}, plan{drop: 12, damage: 40}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				w := tc.w
				w.points = 2
				draw(t, &w, tc.p)
				clock := drawClock(t)
				captures := [][]dissect.Frame{w.capture(0, wrong{}), w.capture(1, clock)}
				names := []string{"A", "B"}
				if rapid.Bool().Draw(t, "swapped") {
					slices.Reverse(captures)
					slices.Reverse(names)
				}
				got := compareFrames(captures, names)
				checkStreams(t, &w, got, 0, "A", "B")
				checkClock(t, &w, got, clock, names[0] == "B")
			})
		})
	}
}

// checkStreams compares what was found between two neighbouring points, the k-th
// and the next from A, with what happened there.
func checkStreams(t *rapid.T, w *world, got *Comparison, k int, a, b string) {
	t.Helper()
	for _, fromB := range []bool{false, true} {
		from, upstream := k, a
		if fromB {
			from, upstream = w.points-2-k, b
		}
		for f, want := range w.tell(from) {
			if f.fromB == fromB {
				checkStream(t, f, find(got, f, upstream), want)
			}
		}
	}
	if got.Evicted != nil {
		t.Fatalf("evicted %+v", got.Evicted)
	}
}

func checkStream(t *rapid.T, f *flow, s *Stream, want *truth) {
	t.Helper()
	const few = 5 // copies that may all be lost
	if s == nil {
		if want.copies > few && want.copies > 2*int64(len(want.dropped)) {
			t.Fatalf("flow %x: not found", f.qpn)
		}
		return
	}
	have := copiesOf(s.Vanished)
	for _, c := range have {
		if !slices.Contains(want.dropped, c) {
			t.Fatalf("flow %x: %v did not vanish", f.qpn, c)
		}
	}
	// What was sent before the other capture began or behind its last frame
	// proves nothing.
	for i, c := range copiesOf(want.dropped) {
		if !slices.Contains(have, c) && s.Outside == 0 {
			t.Fatalf("flow %x: %v, number %d, vanished", f.qpn, c, i)
		}
	}
	if n := int64(len(want.dropped) - len(have)); n != s.Outside {
		t.Fatalf("flow %x: %d are outside, want %d", f.qpn, s.Outside, n)
	}
	counted := [...]int64{s.Damaged, s.Reordered, s.Duplicated, s.CEMarked, s.NotCaptured, s.CopiesAtFirst, s.CopiesAtSecond}
	second := want.copies - int64(len(want.dropped)) - want.damaged
	wanted := [...]int64{want.damaged, want.overtaken, want.duplicated, want.marked, 0, want.copies - s.Outside, second}
	if counted != wanted {
		t.Fatalf("flow %x: damaged, reordered, duplicated, marked, not captured, copies: %v, want %v", f.qpn, counted, wanted)
	}
}

// checkClock compares the clocks and the delays. What is found rests on packets
// that took 5 to 9 us either way.
func checkClock(t *rapid.T, w *world, got *Comparison, clock wrong, swapped bool) {
	t.Helper()
	const asymmetry = 9_000
	if len(w.copies) < 400 || got.Clock.Basis != BothWays {
		return
	}
	first, last := w.copies[0].passes[0], w.copies[len(w.copies)-1].passes[0]
	want, drift := clock.read(first)-first, clock.ppb
	if swapped {
		want, drift = -want, -drift
	}
	if off := got.Clock.Offset - want; off > asymmetry || off < -asymmetry {
		t.Fatalf("clock offset %d, want %d", got.Clock.Offset, want)
	}
	if off := (got.Clock.Drift - drift) * (last - first) / 1e9; off > 2*asymmetry || off < -2*asymmetry {
		t.Fatalf("clock drift %d ppb, want %d, over %d ns", got.Clock.Drift, drift, last-first)
	}
	for f, want := range w.tell(0) {
		s := find(got, f, map[bool]string{false: "A", true: "B"}[f.fromB])
		if s == nil || s.Delay.Count < 50 {
			continue
		}
		if low := s.Delay.Min - want.shortest; low > asymmetry || low < -asymmetry {
			t.Fatalf("flow %x: shortest delay %d, want %d", f.qpn, s.Delay.Min, want.shortest)
		}
		if high := s.Delay.Max - want.longest; high > asymmetry || high < -asymmetry {
			t.Fatalf("flow %x: longest delay %d, want %d", f.qpn, s.Delay.Max, want.longest)
		}
	}
}

// Captures that begin and end at different moments: nothing vanishes that did
// not, and what was lost while both ran is found.
func TestEdges(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		rapid.Check(t, func(t *rapid.T) {
			w := world{v6: v6, points: 2}
			draw(t, &w, plan{drop: 10})
			clock := drawClock(t)
			var captures [2][]dissect.Frame
			var from, to [2]int64
			for i, c := range [...]wrong{{}, clock} {
				all := w.capture(i, c)
				n := len(all)
				first := rapid.IntRange(0, n/3).Draw(t, "first")
				last := rapid.IntRange(2*n/3, n-1).Draw(t, "last")
				captures[i] = all[first : last+1]
				from[i], to[i] = all[first].Time, all[last].Time
			}
			got := compareFrames(captures[:], []string{"A", "B"})
			// By the true time, with room for the delay and for doubt about it.
			const room = 100_000
			begin := max(from[0], from[1]-clock.read(base)+base) + room
			end := min(to[0], to[1]-clock.read(base)+base) - room
			for f, want := range w.tell(0) {
				s := find(got, f, map[bool]string{false: "A", true: "B"}[f.fromB])
				if s == nil {
					continue
				}
				for _, c := range s.Vanished {
					if !slices.ContainsFunc(want.dropped, func(d Copy) bool { return d.PSN == c.PSN }) {
						t.Fatalf("flow %x: PSN %v did not vanish", f.qpn, c.PSN)
					}
				}
				inside, all := int64(0), int64(0)
				for _, c := range w.copies {
					if c.flow == f && c.passes[1] == 0 {
						all++
						if c.passes[0] > begin && c.passes[0] < end {
							inside++
						}
					}
				}
				if s.VanishedTotal < inside || s.VanishedTotal > all {
					t.Fatalf("flow %x: %d vanished, want %d to %d", f.qpn, s.VanishedTotal, inside, all)
				}
				if s.NotCaptured != 0 {
					t.Fatalf("flow %x: %d not captured, want none", f.qpn, s.NotCaptured)
				}
			}
		})
	}
}

// Four points on a path, in any order: neighbours are compared.
func TestSeveralPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world{points: 4}
		draw(t, &w, plan{drop: 30, hold: 40, damage: 50, mark: 30})
		names := []string{"p0", "p1", "p2", "p3"}
		captures := make([][]dissect.Frame, len(names))
		for i := range captures {
			captures[i] = w.capture(i, drawClock(t))
		}
		order := rapid.Permutation([]int{0, 1, 2, 3}).Draw(t, "order")
		var given []string
		var files [][]dissect.Frame
		for _, i := range order {
			given, files = append(given, names[i]), append(files, captures[i])
		}
		got := compareFrames(files, given)
		for k := range 3 {
			checkStreams(t, &w, got, k, names[k], names[k+1])
		}
	})
}

// Packets one way only: what is missing tells the order.
func TestOneDirection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world{points: 2, r: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))}
		f := &flow{fromB: rapid.Bool().Draw(t, "from B"), qpn: 0x11, op: codec.Op(codec.RC, codec.SendOnly)}
		w.run(500, []*flow{f}, plan{drop: 30})
		clock := drawClock(t)
		got := compareFrames([][]dissect.Frame{w.capture(0, wrong{}), w.capture(1, clock)}, []string{"A", "B"})
		checkStreams(t, &w, got, 0, "A", "B")
		if s := got.Streams[0]; s.OrderBy != ByLoss || got.Clock.Basis != OneWay {
			t.Fatalf("order by %s, clock by %s", s.OrderBy, got.Clock.Basis)
		}
	})
}
