package twopoint

import (
	"math/rand/v2"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// BenchmarkCompare is the cost of a packet at two points, of 64 streams.
func BenchmarkCompare(b *testing.B) {
	w := world{points: 2, r: rand.New(rand.NewPCG(1, 1))}
	var flows []*flow
	for i := range 64 {
		flows = append(flows, &flow{qpn: uint32(0x11 + i), op: codec.Op(codec.RC, codec.SendOnly), top: psn.PSN(i)})
	}
	w.run(100_000, flows, plan{drop: 1000})
	captures := [][]dissect.Frame{w.capture(0, wrong{}), w.capture(1, wrong{offset: 1e9})}
	b.ReportAllocs()
	for b.Loop() {
		compareFrames(captures, []string{"A", "B"})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(w.copies)), "ns/copy")
}
