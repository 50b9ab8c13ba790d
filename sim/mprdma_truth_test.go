package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// manyPaths is a scenario of MP-RDMA over several paths of different delay, with
// loss, reordering, damage and marks.
func manyPaths(seed uint64) Scenario {
	r := rand.New(rand.NewPCG(seed, 8))
	s := Default()
	s.Seed, s.Links = seed, nil
	s.Transport = Transport{Name: MPRDMA, Slots: []int{16, 64, 256}[r.IntN(3)], Delta: []int{8, 32}[r.IntN(2)], Window: []int{16, 32}[r.IntN(2)]}
	s.Pairs.AckTimeout = 8 // 1 ms
	s.Work = []Work{{Verb: "write", Size: Fixed(int64(1+r.IntN(64)) << 10), Count: 4 + r.IntN(40), From: FromSender}}
	for i := range 1 + r.IntN(6) {
		l := Link{Name: fmt.Sprintf("path%d", i), Delay: time.Duration(1+r.IntN(20)) * time.Microsecond, Rate: 10e9, Queue: Fixed(256 << 10)}
		if r.IntN(3) == 0 {
			l.Mark = Fixed(16 << 10)
		}
		if p := []float64{0, 0.01, 0.05}[r.IntN(3)]; p > 0 {
			l.There.Loss = []Pick{{Model: Bernoulli, P: p, Only: OnlyData}}
		}
		if r.IntN(4) == 0 {
			l.There.Damage = []Pick{{Model: Bernoulli, P: 0.01, Only: OnlyData}}
		}
		if r.IntN(4) == 0 {
			l.There.Reorder = []Late{{Pick: Pick{Model: Bernoulli, P: 0.02, Only: OnlyData}, By: time.Duration(1+r.IntN(20)) * time.Microsecond}}
		}
		s.Paths = append(s.Paths, Path{Links: []Link{l}})
	}
	return s
}

// arrivals are what the receiver's tap shows of the requests, path by path, by
// the truth of what is intact and the frames alone.
type arrivals struct {
	paths      map[uint16]int64 // intact packets by source port
	outOfOrder int64            // largest PSN less the lowest missing one, at an arrival
	resentOnly map[uint32]bool  // the first copy did not arrive, one sent again did
	arrived    map[uint32]bool  // the first copy arrived
	damaged    map[uint32]bool  // a copy of it did not arrive intact
	refused    int64            // NACKs
	begun      bool             // the first packet was the first that was sent, and intact
}

func watch(frames []dissect.Frame, start uint32) arrivals {
	a := arrivals{paths: map[uint16]int64{}, resentOnly: map[uint32]bool{}, arrived: map[uint32]bool{}, damaged: map[uint32]bool{}}
	locator, at := dissect.Locator{}, dissect.Packet{}
	have, head := map[uint32]bool{}, start
	for i := range frames {
		var p codec.Packet
		if locator.Locate(&frames[i], &at) != dissect.Found || p.Decode(at.Transport(), len(at.Transport())) != nil {
			continue
		}
		switch {
		case p.BTH.Opcode == codec.OpcodeMPRDMANack:
			a.refused++
		case p.BTH.Opcode.Response():
		default:
			q := uint32(p.BTH.PSN)
			if at.ICRC() != dissect.ICRCGood {
				a.damaged[q] = true
				continue
			}
			a.begun = a.begun || i == 0 && q == start
			a.paths[at.SrcPort]++
			if !p.BTH.ReTx {
				a.arrived[q] = true
				delete(a.resentOnly, q)
			} else if !a.arrived[q] && !a.damaged[q] {
				a.resentOnly[q] = true
			}
			if q > head {
				a.outOfOrder = max(a.outOfOrder, int64(q-head))
			}
			for have[q] = true; have[head]; head++ {
			}
		}
	}
	return a
}

// Over random scenarios nothing that arrived is called lost, at either tap; at the
// receiver's each packet is that came only when it was sent again; and what is said
// of paths, order and refusals is what the frames show.
func TestMPRDMATruth(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := manyPaths(seed)
			r := play(t, &s, "sender", "receiver")
			if r.Unfinished() > 0 || r.Failed() > 0 {
				t.Fatalf("%d unfinished, %d failed", r.Unfinished(), r.Failed())
			}
			lost := map[string]bool{}
			for i := range r.truth {
				if l := &r.truth[i]; l.data() && (l.Fate == "lost" || l.Fate == "damaged") {
					lost[fmt.Sprintf("%s %s response=false psn %d", l.Src, l.DestQP, l.PSN)] = true
				}
			}
			for _, tap := range []Tap{"sender", "receiver"} {
				report := analyze(r.frames[tap])
				for p := range missing(report) {
					if !lost[p] {
						t.Errorf("%s: %s is called lost, and was not", tap, p)
					}
				}
				c := report.Connections[0]
				if tap == "sender" {
					if got := report.Totals.Retransmitted; got != r.Resent {
						t.Errorf("sender: %d resent, want %d", got, r.Resent)
					}
					continue
				}
				first := slices.MinFunc(r.truth, func(a, b line) int { return cmp.Compare(a.Sent, b.Sent) })
				want := watch(r.frames[tap], first.PSN)
				said := missing(report)
				for q := range want.resentOnly {
					if p := fmt.Sprintf("%s %s response=false psn %d", c.Streams[0].Src, "0x000011", q); !said[p] {
						t.Errorf("%s came only when it was sent again, and is not called lost", p)
					}
				}
				if got := c.Streams[0].Discarded; got != want.refused {
					t.Errorf("%d discarded, want %d", got, want.refused)
				}
				if !want.begun {
					continue // what was before the first packet nobody can know here
				}
				paths := map[uint16]int64{}
				for _, p := range c.MPRDMA.Paths {
					paths[p.SrcPort] = p.Packets
				}
				for port, n := range want.paths {
					if paths[port] != n {
						t.Errorf("path %d: %d packets, want %d", port, paths[port], n)
					}
				}
				if got := c.MPRDMA.OutOfOrderMax; got != want.outOfOrder {
					t.Errorf("out of order %d, want %d", got, want.outOfOrder)
				}
				if peak := c.MPRDMA.BitmapPeak; peak > 0 && peak != want.outOfOrder+1 {
					t.Errorf("bitmap peak %d, want %d", peak, want.outOfOrder+1)
				}
			}
		})
	}
}
