package dissect

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/rdmadump/rdmadump/psn"
)

// Whatever PSNs come, a stream remembers a bounded number of gaps and spans, and
// its packets sweep over a few of them each in the long run.
func TestHostilePSNs(t *testing.T) {
	const packets = 60_000
	var random *rand.Rand
	for name, at := range map[string]func(i int) int{
		"random near":     func(i int) int { return i/4 + random.IntN(60_000) },
		"random anywhere": func(int) int { return random.IntN(1 << 24) },
		"sawtooth":        func(i int) int { return []int{i / 2, i * 2}[i&1] },
		"every second":    func(i int) int { return i * 2 },
		"backwards":       func(i int) int { return -i * 2 },
		"half a turn":     func(i int) int { return i&1<<23 + i },
		"quarter turns":   func(i int) int { return i<<22 + i },
		"late":            func(i int) int { return []int{i, i - 2001}[i&1] }, // holes, filled far behind the newest
		"comb": func(i int) int { // wide holes, of which every second PSN comes
			if i%600 == 0 {
				return i*2 + 1000
			}
			return i*2 - 1000
		},
	} {
		for _, cut := range []bool{false, true} {
			random = rand.New(rand.NewPCG(3, 4)) // the same whatever came before
			s := newStory(Config{})
			s.cut = cut
			frame := s.frame("w0", 1)
			steps, before := int64(0), int64(0)
			for i := range packets {
				patch(frame, 0x111, uint32(at(i)), uint16(i))
				s.pass(frame, 1000)
				if len(s.analyzer.halves) == 0 || s.analyzer.halves[0].req.d == nil {
					continue
				}
				d := s.analyzer.halves[0].req.d
				steps += max(0, d.effort-before)
				before = d.effort
				spans := len(d.trial.set.Spans())
				for _, set := range []*psn.Set{&d.holes, &d.unseen, &d.counted, &d.again, &d.refused, &d.tardy, &d.undecided, &d.spoilt} {
					spans = max(spans, len(set.Spans()))
				}
				if len(d.gaps) > maxOpenGaps || spans > maxOpenGaps {
					t.Fatalf("%s: %d gaps, %d spans after %d packets", name, len(d.gaps), spans, i)
				}
			}
			if steps > maxEffort+packets*effortOfPacket {
				t.Errorf("%s: %d steps for %d packets", name, steps, packets)
			}
		}
	}
}

// Reports of a windowless receiver may name the same far holes again and again.
// Where their gaps were let go they stay so: there are no more gaps than PSNs, and
// what each report costs is bounded.
func TestFarReports(t *testing.T) {
	const packets = 60_000
	s := newStory(Config{})
	for i := range 2000 {
		s.word(fmt.Sprintf("w%d", 2*i))
	}
	steps, before := int64(0), s.analyzer.halves[0].req.d.effort
	for i := 2000; i < packets; i++ {
		s.word(fmt.Sprintf("w%d", 2*i))
		if i%8 == 0 {
			s.word(fmt.Sprintf("t%d:%d-%d,%d-%d,%d-%d", 2*(i-900), 2*(i-600), 2*(i-600), 2*(i-300), 2*(i-300), 2*i, 2*i))
		}
		d := s.analyzer.halves[0].req.d
		steps += max(0, d.effort-before)
		before = d.effort
	}
	if steps > maxEffort+packets*effortOfPacket {
		t.Errorf("%d steps for %d packets", steps, packets)
	}
	if n := s.analyzer.halves[0].req.d.gapsTotal; n > 2*packets {
		t.Errorf("%d gaps of %d PSNs", n, 2*packets)
	}
}
