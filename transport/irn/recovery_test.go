package irn

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
		RNRRetryCount: 7,
		RNRTimer:      20 * time.Microsecond,
	}
}

// sparing loses packets at random, but no packet more than copies times, no
// atomic's result more than inRow times, and never more than inRow packets of
// other feedback of one PSN space in a row: what is lost is told by the next.
func sparing(r *rand.Rand, rate [2]float64, copies, inRow int) func(*transporttest.Copy) bool {
	type packet struct {
		dir transporttest.Direction
		psn psn.PSN
		op  codec.Verb
	}
	lost := map[packet]int{}
	row := [2]int{}
	return func(c *transporttest.Copy) bool {
		op := c.Packet.BTH.Opcode
		lose := r.Float64() < rate[c.Dir]
		if op.Verb() == codec.VerbAck {
			lose = lose && row[c.Dir] < inRow
			row[c.Dir]++
			if !lose {
				row[c.Dir] = 0
			}
			return lose
		}
		key, limit := packet{c.Dir, c.Packet.BTH.PSN, op.Verb()}, copies
		if op.Verb() == codec.VerbAtomicAck {
			limit = inRow
		}
		if lose = lose && lost[key] < limit; lose {
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
			Lose: sparing(r, [2]float64{rapid.SampledFrom(rates).Draw(t, "loss"), rapid.SampledFrom(rates).Draw(t, "backward loss")}, 3, 2),
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
		c := Config{Cap: rapid.SampledFrom([]int{1, 2, 5, 16, 109}).Draw(t, "cap")}
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
