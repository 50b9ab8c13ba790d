package twopoint

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// What is counted before a moment and what is counted from it on is together what
// is counted without a selection, each copy once, whatever the order of the files
// and the state of the clocks; and exactly what was dropped in a stretch vanishes
// there.
func TestWindows(t *testing.T) {
	for _, tc := range []struct {
		name   string
		w      world
		points int
	}{{"IPv4", world{}, 2}, {"IPv6", world{v6: true}, 2}, {"three points", world{}, 3}} {
		t.Run(tc.name, func(t *testing.T) {
			judged, blurred := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				w := tc.w
				w.points = tc.points
				p := plan{drop: 12, damage: 40, mark: 20}
				if !w.v6 {
					p.dup, p.hold = 25, 30
				}
				draw(t, &w, p)
				names := []string{"A", "B", "C"}[:w.points]
				captures, clocks := make([][]dissect.Frame, w.points), make([]wrong, w.points)
				for i := range captures {
					if i > 0 {
						clocks[i] = drawClock(t)
					}
					captures[i] = w.capture(i, clocks[i])
				}
				of := 0 // where A is
				if rapid.Bool().Draw(t, "swapped") {
					slices.Reverse(captures)
					slices.Reverse(clocks)
					slices.Reverse(names)
					of = w.points - 1
				}
				whole := compareFrames(captures, names)
				if slices.ContainsFunc(whole.between, func(s stretch) bool { return s.line.basis == NoBasis }) {
					return
				}
				begin, end := w.copies[0].passes[0], w.copies[len(w.copies)-1].passes[0]
				at := dissect.Time(begin + rapid.Int64Range(0, end-begin).Draw(t, "moment"))
				before := compareBy(Config{Windows: whole.Windows(of, nil, &at)}, captures, names)
				behind := compareBy(Config{Windows: whole.Windows(of, &at, nil)}, captures, names)
				for i := range whole.Streams {
					s := &whole.Streams[i]
					a, b := sameStream(before, s), sameStream(behind, s)
					if have, want := add(tally(a), tally(b)), tally(s); have != want {
						t.Fatalf("%v %s: %v and %v, want %v", s.DestQP, s.Upstream, tally(a), tally(b), want)
					}
					if have := slices.Concat(a.Vanished, b.Vanished); !sameCopies(have, s.Vanished) {
						t.Fatalf("%v: %v and %v, want %v", s.DestQP, a.Vanished, b.Vanished, s.Vanished)
					}
				}
				for i, window := range whole.Windows(of, nil, &at) {
					if off := window.To - clocks[i].read(int64(at)); off > shortestHop || off < -shortestHop {
						blurred++
						return // a few copies, some of them late, tell the clocks apart badly: what is before the moment elsewhere is not so at A
					}
				}
				judged++
				for f, want := range w.tell(0) {
					s := find(before, f, "A")
					if f.fromB || s == nil || find(whole, f, "A").Outside > 0 {
						continue
					}
					var copies, dropped int64
					for _, c := range w.copies {
						if c.flow == f && c.passes[0] < int64(at) {
							copies++
							if c.passes[1] == 0 {
								dropped++
							}
						}
					}
					if s.VanishedTotal != dropped || s.CopiesAtFirst != copies {
						t.Fatalf("flow %x: %d of %d vanished before the moment, want %d of %d; in all %d of %d",
							f.qpn, s.VanishedTotal, s.CopiesAtFirst, dropped, copies, len(want.dropped), want.copies)
					}
				}
			})
			if blurred*4 > judged {
				t.Errorf("of %d captures the clocks were told apart badly, of %d well", blurred, judged)
			}
		})
	}
}

// shortestHop is the least time that a copy takes from one point to the next.
const shortestHop = 5_000

func sameStream(c *Comparison, like *Stream) *Stream {
	for i := range c.Streams {
		if s := &c.Streams[i]; s.Src == like.Src && s.DestQP == like.DestQP && s.Kind == like.Kind && s.Upstream == like.Upstream {
			return s
		}
	}
	return &Stream{}
}

func tally(s *Stream) [11]int64 {
	return [...]int64{s.CopiesAtFirst, s.CopiesAtSecond, s.VanishedTotal, s.NotCaptured, s.Outside, s.Damaged, s.Reordered,
		s.Duplicated, s.CEMarked, s.Delay.Count, int64(len(s.DamagedCopies))}
}

func add(a, b [11]int64) [11]int64 {
	for i := range a {
		a[i] += b[i]
	}
	return a
}

func sameCopies(a, b []Copy) bool { return slices.Equal(copiesOf(a), copiesOf(b)) }

// A selection of queue pairs and hosts leaves out streams and changes none.
func TestSelectedStreams(t *testing.T) {
	w := &world{r: rand.New(rand.NewPCG(1, 2)), points: 2, ids: [2]uint16{1, 2}}
	send, ack := codec.Op(codec.RC, codec.SendOnly), codec.Op(codec.RC, codec.Acknowledge)
	var flows []*flow
	for i := range 4 {
		flows = append(flows, &flow{qpn: 0x11 + uint32(i), op: send, top: psn.PSN(i)}, &flow{fromB: true, qpn: 0x21 + uint32(i), op: ack, top: psn.PSN(i)})
	}
	w.run(3000, flows, plan{drop: 20, damage: 40})
	captures := [][]dissect.Frame{w.capture(0, wrong{}), w.capture(1, wrong{offset: -5e9})}
	names := []string{"A", "B"}
	whole := compareFrames(captures, names)
	chosen := &dissect.Selection{QPNs: []dissect.QPN{0x12, 0x23}}
	got := compareBy(Config{Selection: chosen}, captures, names)
	if len(got.Streams) != 1 || len(got.Feedback) != 1 || got.Totals.Copies != got.Streams[0].CopiesAtFirst || got.Clock != whole.Clock {
		t.Fatalf("%d streams, %d of feedback, %+v", len(got.Streams), len(got.Feedback), got.Totals)
	}
	for _, s := range slices.Concat(got.Streams, got.Feedback) {
		have, _ := json.Marshal(s)
		want, _ := json.Marshal(find(whole, flows[map[dissect.QPN]int{0x12: 2, 0x23: 5}[s.DestQP]], s.Upstream))
		if string(have) != string(want) {
			t.Errorf("got %s\nwant %s", have, want)
		}
	}
	nobody, err := dissect.ParseHost("192.0.2.77")
	if err != nil {
		t.Fatal(err)
	}
	got = compareBy(Config{Selection: &dissect.Selection{Hosts: []dissect.Host{nobody}}}, captures, names)
	if len(got.Streams)+len(got.Feedback)+len(got.Once) != 0 || got.Captures[0].RDMAFrames != 0 || got.Captures[0].Frames != int64(len(captures[0])) {
		t.Errorf("%+v", got)
	}
}
