package gobackn

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/transporttest"
	"pgregory.net/rapid"
)

// drawer lets a rapid test draw a workload.
func drawer(t *rapid.T) transporttest.Draw {
	return func(label string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, label) }
}

// drawQP draws how a queue pair is set up; its timer is longer than any round
// trip over a delay of up to 20 us.
func drawQP(t *rapid.T) transport.QP {
	return transport.QP{
		DestQP: 0x12, SrcQP: 0x34, PKey: 0xffff,
		MTU:           rapid.SampledFrom([]int{256, 512, 1024}).Draw(t, "mtu"),
		StartPSN:      psn.PSN(rapid.SampledFrom([]int{0, 1000, psn.Mask - 20, psn.Mask, 1<<23 - 10}).Draw(t, "start")),
		ReadLimit:     rapid.SampledFrom([]int{1, 2, 4, 16}).Draw(t, "read limit"),
		AckTimeout:    time.Millisecond,
		RetryCount:    7,
		RNRRetryCount: 7,
		RNRTimer:      20 * time.Microsecond,
	}
}

// sparing loses packets at random, but no more than inRow times in a row a
// packet or what is said about its PSN. The row ends when something is heard.
func sparing(r *rand.Rand, rate [2]float64, inRow int) func(*transporttest.Copy) bool {
	row := map[psn.PSN]int{}
	return func(c *transporttest.Copy) bool {
		at := c.Packet.BTH.PSN
		if row[at] < inRow && r.Float64() < rate[c.Dir] {
			row[at]++
			return true
		}
		if c.Dir == transporttest.Backward {
			row[at] = 0
		}
		return false
	}
}

// Over any loss, delay, reordering and duplication that leaves each packet and
// its answer a chance within the retry limit, each message is done once, in
// order, with its bytes. One loss can cost two retries, a NAK and a timer that
// were both on their way, so that three in a row are within the limit of seven.
func TestRecovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		qp := drawQP(t)
		w := transporttest.NewWorkload(qp, transporttest.DrawMessages(drawer(t), 20, 9, qp.MTU))
		r := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed")))
		rates := []float64{0, 0.02, 0.2, 0.6}
		l := transporttest.Link{
			Gap:  time.Duration(rapid.IntRange(1, 300).Draw(t, "gap")),
			Lose: sparing(r, [2]float64{rapid.SampledFrom(rates).Draw(t, "loss"), rapid.SampledFrom(rates).Draw(t, "feedback loss")}, 3),
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
		window := rapid.SampledFrom([]int{0, 1, 2, 3, 8, 40}).Draw(t, "window")
		every := rapid.SampledFrom([]int{1, 2, 16}).Draw(t, "acknowledges every")
		depth := rapid.IntRange(1, len(w.Work)).Draw(t, "depth")
		_, err := run(w, &l, window, every, depth)
		if err == nil {
			err = w.Check()
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := max(w.Remote.MostPlaced(), w.Local.MostPlaced()); n > 1 {
			t.Fatalf("bytes placed %d times", n)
		}
	})
}

// Without loss nothing is sent twice and nothing but what is asked for is said.
func TestNothingLostNothingResent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		qp := drawQP(t)
		w := transporttest.NewWorkload(qp, transporttest.DrawMessages(drawer(t), 20, 9, qp.MTU))
		l := transporttest.Link{Gap: 80, Delay: func(*transporttest.Copy) time.Duration { return 3 * time.Microsecond }}
		o, err := run(w, &l, rapid.IntRange(0, 20).Draw(t, "window"), 16, len(w.Work))
		if err == nil {
			err = w.Check()
		}
		if err != nil || o.resends > 0 {
			t.Fatalf("%d resent, %v", o.resends, err)
		}
	})
}
