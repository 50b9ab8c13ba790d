package mprdma

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/transporttest"
	"pgregory.net/rapid"
)

// drawer lets a rapid test draw a workload.
func drawer(t *rapid.T) transporttest.Draw {
	return func(label string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, label) }
}

func drawQP(t *rapid.T) transport.QP {
	return transport.QP{
		DestQP: 0x12, SrcQP: 0x34, PKey: 0xffff,
		MTU:           rapid.SampledFrom([]int{256, 512, 1024}).Draw(t, "mtu"),
		StartPSN:      psn.PSN(rapid.SampledFrom([]int{0, 1000, psn.Mask - 20, psn.Mask, 1<<23 - 10}).Draw(t, "start")),
		StartMSN:      uint32(rapid.SampledFrom([]int{0, psn.Mask - 2}).Draw(t, "msn")),
		ReadLimit:     rapid.SampledFrom([]int{1, 2, 4, 16}).Draw(t, "read limit"),
		RetryCount:    7,
		AckTimeout:    200 * time.Microsecond,
		RNRRetryCount: 7,
		RNRTimer:      20 * time.Microsecond,
	}
}

// sparing loses packets at random, but no packet more than copies times, be it
// data or what is said of a PSN.
func sparing(r *rand.Rand, rate [2]float64, copies int) func(*transporttest.Copy) bool {
	type packet struct {
		dir transporttest.Direction
		psn psn.PSN
		op  codec.Opcode
	}
	lost := map[packet]int{}
	return func(c *transporttest.Copy) bool {
		key := packet{c.Dir, c.Packet.BTH.PSN, c.Packet.BTH.Opcode}
		lose := lost[key] < copies && r.Float64() < rate[c.Dir]
		if lose {
			lost[key]++
		}
		return lose
	}
}

// Over any loss, delay, reordering and duplication that leaves each packet and
// its feedback a chance within the retry limit, each message is done once, in
// order, with its bytes, and the sender keeps to its rules.
func TestRecovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		qp := drawQP(t)
		w := transporttest.NewWorkload(qp, transporttest.DrawMessages(drawer(t), 20, 9, qp.MTU))
		r := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed")))
		rates := []float64{0, 0.02, 0.2, 0.6}
		l := transporttest.Link{
			Gap:  time.Duration(rapid.IntRange(1, 300).Draw(t, "gap")),
			Lose: sparing(r, [2]float64{rapid.SampledFrom(rates).Draw(t, "loss"), rapid.SampledFrom(rates).Draw(t, "backward loss")}, 2),
		}
		jitter := rapid.SampledFrom([]int{0, 0, 200, 10_000}).Draw(t, "jitter")
		l.Delay = func(*transporttest.Copy) time.Duration {
			return 2*time.Microsecond + time.Duration(r.IntN(jitter+1))
		}
		if rapid.Bool().Draw(t, "duplicates") {
			l.Twice = func(*transporttest.Copy) time.Duration {
				return time.Duration(max(0, r.IntN(10_000)-9_000))
			}
		}
		if rapid.Bool().Draw(t, "not always ready") {
			w.Remote.NotReady = func(int) bool { return r.IntN(3) == 0 }
		}
		if n := rapid.SampledFrom([]int{0, 2, 3, 10}).Draw(t, "synchronise each"); n > 0 {
			for i := n - 1; i < len(w.Work); i += n {
				w.Work[i].Synchronise = true
			}
		}
		if marks := rapid.SampledFrom([]float64{0, 0.1, 1}).Draw(t, "marks"); marks > 0 {
			l.Mark = func(*transporttest.Copy) bool { return r.Float64() < marks }
		}
		c := Config{
			Paths:  rapid.SampledFrom([]int{1, 2, 4, 16}).Draw(t, "paths"),
			Slots:  rapid.SampledFrom([]int{4, 16, 64}).Draw(t, "slots"),
			Window: float64(rapid.SampledFrom([]int{1, 4, 16}).Draw(t, "window")),
			Delta:  rapid.SampledFrom([]int{4, 32}).Draw(t, "delta"),
			Seed:   1,
		}
		o, err := run(w, &l, c, rapid.IntRange(1, len(w.Work)).Draw(t, "depth"))
		if err == nil {
			err = w.Check()
		}
		if err == nil {
			err = o.settled(w)
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := max(w.Remote.MostPlaced(), w.Local.MostPlaced()); n > 1 {
			t.Fatalf("bytes placed %d times", n)
		}
	})
}
