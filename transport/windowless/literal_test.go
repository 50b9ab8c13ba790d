package windowless

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/transporttest"
)

// The stories below have C_thresh 30 and T_thresh 50 us at a packet each 100 ns
// and 5 us a way, and begin at PSN 0: report n leaves with the 30 n-th packet
// that arrives.

// literal runs one WRITE of so many packets in literal mode.
func literal(t *testing.T, packets int, lost func(*transporttest.Copy) bool) *run {
	t.Helper()
	p := params(Literal)
	p.Packets, p.Period = 30, 50*time.Microsecond
	qp := queuePair(0)
	r := newRun(t, qp, p, []transporttest.Message{{Verb: transport.Write, Length: packets * qp.MTU}})
	r.link.Lose = lost
	if err := r.link.Run(); err != nil {
		t.Fatal(err)
	}
	return r
}

// silent asserts that the sender believes all is done and the receiver never
// got the PSN.
func (r *run) silent(t *testing.T, never psn.PSN) {
	t.Helper()
	if len(r.Completed) != 1 || r.Completed[0].Status != transport.Success {
		t.Errorf("completed: %v", r.Completed)
	}
	if r.CheckContent() == nil {
		t.Error("all bytes are there")
	}
	if r.arrived.Contains(psn.Seq(never)) || slices.Contains(r.resent, never) {
		t.Errorf("%d was resent: %v", never, r.resent)
	}
}

// Where nothing is lost, all work is done.
func TestLiteralDeliversWithoutLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, label) }
		qp := queuePair(psn.New(draw("start", 0, psn.Mask)))
		r := newRun(t, qp, params(Literal), transporttest.DrawMessages(draw, 12, 40, qp.MTU))
		if err := r.link.Run(); err != nil {
			t.Fatal(err)
		}
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
	})
}

// (a) SegmentNum 1 declares what is under way lost.
func TestLiteralResendsWhatIsUnderWay(t *testing.T) {
	r := literal(t, 100, nil)
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(r.resent, 30) || r.redundant != len(r.resent) {
		t.Errorf("%d of %d resent in vain", r.redundant, len(r.resent))
	}
}

// (b), (i) A loss between two batches is hidden by the next report, whose
// BTH.PSN lies above it. PSN 10 is lost so that the first report has two
// blocks, and so no tail rule.
func TestLiteralHidesBoundaryLoss(t *testing.T) {
	r := literal(t, 200, lose(map[psn.PSN]int{10: 1, 31: 1}))
	if a := r.reports[0]; a.SegmentNum != 2 || a.LastFinishedPSN != 9 || a.Seg1Right != 30 {
		t.Errorf("first report: %+v", a)
	}
	if b := r.reports[1]; b.SegmentNum != 1 || b.LastFinishedPSN != 61 {
		t.Errorf("second report: %+v", b)
	}
	r.silent(t, 31)
}

// (c) What was resent becomes the first block of a later batch.
func TestLiteralBeginsWithWhatWasResent(t *testing.T) {
	r := literal(t, 200, lose(map[psn.PSN]int{10: 1}))
	late := slices.IndexFunc(r.reports, func(h codec.TCAETH) bool { return h.LastFinishedPSN == 10 })
	if late < 2 || r.reports[late-1].LastFinishedPSN <= 10 {
		t.Errorf("reports: %+v", r.reports)
	}
}

// (d) Of five gaps in a batch three fit, and the others are forgotten.
func TestLiteralForgetsWhatDoesNotFit(t *testing.T) {
	r := literal(t, 200, lose(map[psn.PSN]int{2: 1, 4: 1, 6: 1, 8: 1, 10: 1}))
	if a := r.reports[0]; a.SegmentNum != 4 || a.Seg3Right != 7 {
		t.Errorf("first report: %+v", a)
	}
	r.silent(t, 8)
	r.silent(t, 10)
}

// (e) A lost tail waits for the timeout.
func TestLiteralTailWaitsForTheTimeout(t *testing.T) {
	r := literal(t, 20, lose(map[psn.PSN]int{16: 1, 17: 1, 18: 1, 19: 1}))
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	if r.link.Now < r.Requester.AckTimeout {
		t.Errorf("done at %v", r.link.Now)
	}
}

// (f) A lost report takes its gap with it.
func TestLiteralLostReport(t *testing.T) {
	first := true
	r := literal(t, 200, func(c *transporttest.Copy) bool {
		if c.Dir == transporttest.Backward && first {
			first = false
			return true
		}
		return c.Dir == transporttest.Forward && c.Packet.BTH.PSN == 10 && c.N == 1
	})
	if r.reports[0].LastFinishedPSN != 9 {
		t.Errorf("first report: %+v", r.reports[0])
	}
	r.silent(t, 10)
}

// (g) Nothing looks at the clock after the last packet, so even a burst that
// arrived whole ends in the timeout.
func TestLiteralTailIsNotReported(t *testing.T) {
	r := literal(t, 20, nil)
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	if r.link.Now < r.Requester.AckTimeout || len(r.reports) != 1 {
		t.Errorf("done at %v, %d reports", r.link.Now, len(r.reports))
	}
}

// (g) The timeout resends the newest block though the oldest is missing.
func TestLiteralTimeoutResendsTheNewest(t *testing.T) {
	r := literal(t, 35, lose(map[psn.PSN]int{5: 2}))
	if want := []psn.PSN{5, 31, 32, 33, 34}; !slices.Equal(r.resent, want) {
		t.Errorf("resent %v, want %v", r.resent, want)
	}
	if len(r.Completed) != 1 || r.Completed[0].Status != transport.Success || r.arrived.Contains(5) {
		t.Errorf("completed: %v, 5 arrived: %v", r.Completed, r.arrived.Contains(5))
	}
}

// (h) After a pause the first packet draws a report of its own.
func TestLiteralReportsOnePacketAfterPause(t *testing.T) {
	for mode, want := range map[Mode]transport.Ready{Literal: transport.Reply, Anchored: transport.Idle} {
		r := NewResponder(queuePair(0), params(mode))
		send := func(now transport.Time, at psn.PSN) {
			op := codec.Op(codec.RC, codec.SendOnly)
			r.Receive(now, &transport.Packet{Packet: codec.Packet{Headers: op.Headers(), BTH: codec.BTH{Opcode: op, DestQP: 0x11, PSN: at}}})
		}
		for at := range psn.PSN(30) {
			send(100*time.Nanosecond*transport.Time(at), at)
		}
		var p transport.Packet
		r.Next(3*time.Microsecond, &p)
		send(time.Millisecond, 30)
		if got := r.Ready(time.Millisecond); got != want {
			t.Errorf("%v: %d, want %d", mode, got, want)
		}
	}
}

// What literal mode loses in these patterns, or stalls on, anchored delivers.
func TestAnchoredMendsLiteral(t *testing.T) {
	for name, lost := range map[string]map[psn.PSN]int{
		"boundary": {10: 1, 31: 1}, "five gaps": {2: 1, 4: 1, 6: 1, 8: 1, 10: 1}, "twice": {5: 2}, "tail": {196: 1, 197: 1, 198: 1, 199: 1},
	} {
		qp := queuePair(0)
		r := newRun(t, qp, params(Anchored), []transporttest.Message{{Verb: transport.Write, Length: 200 * qp.MTU}})
		r.link.Lose = lose(lost)
		if err := r.link.Run(); err != nil {
			t.Fatal(name, err)
		}
		copies := 0
		for _, n := range lost {
			copies += n
		}
		if err := r.Check(); err != nil || len(r.resent) != copies || r.redundant != 0 {
			t.Errorf("%s: %v, resent %v", name, err, r.resent)
		}
	}
}
