package sim

import (
	"fmt"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// Of a capture of nothing but the receiver's feedback each PSN is lost that is said
// to be; a windowless receiver's reports name every one between two that came.
func TestFeedbackAlone(t *testing.T) {
	for _, name := range []TransportName{GoBackN, IRN, Windowless} {
		for seed := range uint64(30) {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				t.Parallel()
				s := Default()
				s.Seed, s.Transport.Name = seed, name
				s.Work[0].Size = Fixed(256 << 10)
				s.Links[0].There.Loss = []Pick{{Model: Bernoulli, P: 0.02, Only: OnlyData}}
				r := play(t, &s, "receiver")
				lost, last := map[uint32]bool{}, uint32(0)
				for i := range r.truth {
					l := &r.truth[i]
					if l.data() && l.Fate == "lost" {
						lost[l.PSN] = true
					}
					if l.data() {
						last = max(last, l.PSN)
					}
				}
				report := analyze(feedbackOf(r.frames["receiver"]))
				c := report.Connections[0]
				if c.Transport != string(name) || c.Streams[0].Packets != 0 {
					t.Fatalf("%s, %d packets", c.Transport, c.Streams[0].Packets)
				}
				said := map[uint32]bool{}
				for _, span := range c.Streams[0].LostRanges {
					for q := uint32(span.First); q <= uint32(span.Last); q++ {
						said[q] = true
						if !lost[q] {
							t.Errorf("%d is called lost, and was not", q)
						}
					}
				}
				for q := range lost {
					if name == Windowless && !said[q] && q < last-64 {
						t.Errorf("%d was lost, and nothing is said of it", q)
					}
				}
			})
		}
	}
}

// feedbackOf is the responses among frames.
func feedbackOf(frames []dissect.Frame) (out []dissect.Frame) {
	locator, at := dissect.Locator{}, dissect.Packet{}
	for i := range frames {
		if locator.Locate(&frames[i], &at) == dissect.Found && codec.Opcode(at.Transport()[0]).Response() {
			out = append(out, frames[i])
		}
	}
	return out
}
