package mprdma

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/transporttest"
)

const us = time.Microsecond

var storyQP = transport.QP{DestQP: 0x111, SrcQP: 0x222, PKey: 0xffff, MTU: 256, StartPSN: 600, RetryCount: 7, RNRRetryCount: 7, RNRTimer: 20 * us, AckTimeout: 500 * us}

// story is a link with a packet each 10 ns and 5 us of way on every path.
func story(lose func(*transporttest.Copy) bool) *transporttest.Link {
	return &transporttest.Link{Gap: 10, Lose: lose, Delay: func(*transporttest.Copy) time.Duration { return 5 * us }}
}

func write(packets int) []transporttest.Message {
	return []transporttest.Message{{Verb: transport.Write, Length: 256 * packets}}
}

// first loses the first copy of some PSNs on their way forward.
func first(of ...psn.PSN) func(*transporttest.Copy) bool {
	return func(c *transporttest.Copy) bool {
		return c.Dir == transporttest.Forward && c.N == 1 && slices.Contains(of, c.Packet.BTH.PSN)
	}
}

// It starts with 16 packets over random paths; after that an acknowledgement
// lets at most two packets leave, on its own path, and nothing else does while
// they keep coming.
func TestAckClocking(t *testing.T) {
	w := transporttest.NewWorkload(storyQP, write(600))
	l := story(nil)
	credit := map[uint16]int{}
	initial, sentInitial := map[uint16]int{}, 0
	heard := false
	most := 0
	l.Arrived = func(c *transporttest.Copy) error {
		if c.Dir == transporttest.Backward {
			heard = true
			credit[c.Packet.Path] = 2
		}
		return nil
	}
	l.Sent = func(c *transporttest.Copy) error {
		if c.Dir != transporttest.Forward {
			return nil
		}
		p := c.Packet.Path
		if !heard {
			initial[p]++
			sentInitial++
			return nil
		}
		if credit[p]--; credit[p] < 0 {
			t.Errorf("%v: on path %d without an acknowledgement there", c, p)
		}
		most = max(most, 2-credit[p])
		return nil
	}
	// 30 ns between packets, so that what an acknowledgement released is sent
	// before the next comes.
	l.Gap = 30
	gap := time.Duration(0)
	l.Delay = func(c *transporttest.Copy) time.Duration {
		if c.Dir == transporttest.Backward {
			gap += 70
			return 5*us + gap
		}
		return 5 * us
	}
	must(t, w, l, Config{Probe: -1, RTT: time.Millisecond})
	if sentInitial != 16 || len(initial) < 3 {
		t.Errorf("%d packets before the first acknowledgement, over %d paths", sentInitial, len(initial))
	}
	if most != 2 {
		t.Errorf("an acknowledgement released %d packets at most, want 2", most)
	}
}

// The window by the paper's arithmetic (section 4.1).
func TestWindow(t *testing.T) {
	w := window{cwnd: 16}
	if w.awnd(0) != 16 || w.awnd(16) != 0 {
		t.Errorf("awnd %d of 16, %d with 16 in flight", w.awnd(0), w.awnd(16))
	}
	// Three of 16 are acknowledged out of order, then the first closes the hole:
	// the cumulative point moves by four.
	for range 3 {
		w.ack(false)
		w.inflate++
	}
	near := func(want float64) bool { return math.Abs(w.cwnd-want) < 1e-12 }
	if want := 16 + 1/16. + 1/16.0625 + 1/(16.0625+1/16.0625); !near(want) || w.inflate != 3 || w.awnd(16) != 3 {
		t.Errorf("cwnd %v, want %v; inflate %d, awnd %d", w.cwnd, want, w.inflate, w.awnd(16))
	}
	w.ack(true)
	w.inflate++
	w.moved(4, 0, 12)
	if want := 16 + 1/16. + 1/16.0625 + 1/(16.0625+1/16.0625) - 0.5; !near(want) || w.inflate != 0 || w.awnd(12) != 3 {
		t.Errorf("cwnd %v, want %v; inflate %d, awnd %d", w.cwnd, want, w.inflate, w.awnd(12))
	}
	for range 100 {
		w.ack(true)
	}
	if w.cwnd != 1 {
		t.Errorf("cwnd %v after 100 marks", w.cwnd)
	}
}

// pull takes all that a machine will send at once.
func pull(q *Requester, now transport.Time) (all []transport.Packet) {
	for q.Ready(now) != transport.Idle {
		var p transport.Packet
		q.Next(now, &p)
		all = append(all, p)
	}
	return all
}

// hear acknowledges a packet, in order if aack is its PSN.
func hear(q *Requester, now transport.Time, p *transport.Packet, aack int, ece bool) {
	var a transport.Packet
	a.Path = p.Path
	a.BTH = codec.BTH{Opcode: codec.OpcodeMPRDMAAck, PSN: p.BTH.PSN}
	a.Headers = a.BTH.Opcode.Headers()
	a.AETH.Syndrome = codec.SyndromeACK
	a.MPETH = codec.MPETH{AACK: psn.New(aack), ECE: ece, ReTxEcho: p.BTH.ReTx}
	q.Receive(now, &a)
}

// Window that is left is sprayed when no acknowledgement came for half an RTT,
// and not before.
func TestSpray(t *testing.T) {
	q := NewRequester(storyQP, Config{RTT: 20 * us})
	q.Post(transport.WorkRequest{Verb: transport.Write, Length: 4 * 256})
	if n := len(pull(q, 0)); n != 4 {
		t.Fatalf("%d packets", n)
	}
	q.Post(transport.WorkRequest{Verb: transport.Write, Length: 100 * 256})
	if n := len(pull(q, 3*us)); n != 0 || q.Wake() != 10*us {
		t.Fatalf("%d packets before half an RTT; wakes at %v", n, q.Wake())
	}
	all := pull(q, 10*us)
	paths := map[uint16]int{}
	for i := range all {
		paths[all[i].Path]++
	}
	if len(all) != 12 || len(paths) < 2 {
		t.Errorf("%d packets sprayed, want 16 less 4; over paths %v", len(all), paths)
	}
}

// An acknowledgement that finds no data to send takes one off the window; an
// idle connection starts over with the initial one.
func TestIdle(t *testing.T) {
	q := NewRequester(storyQP, Config{RTT: 20 * us})
	q.Post(transport.WorkRequest{Verb: transport.Write, Length: 4 * 256})
	all := pull(q, 0)
	before := q.Window()
	for i := range all {
		want := before + 1/before - 1
		hear(q, 10*us, &all[i], 600+i, false)
		if math.Abs(q.Window()-want) > 1e-9 {
			t.Errorf("cwnd %v, want %v", q.Window(), want)
		}
		before = q.Window()
	}
	q.Post(transport.WorkRequest{Verb: transport.Write, Length: 100 * 256})
	if n := len(pull(q, 40*us)); n != int(before) {
		t.Errorf("%d packets within 3 RTTs, want the %v that are left of the window", n, before)
	}
	q = NewRequester(storyQP, Config{RTT: 20 * us})
	q.Post(transport.WorkRequest{Verb: transport.Write, Length: 4 * 256})
	for i, p := range pull(q, 0) {
		hear(q, 10*us, &p, 600+i, true)
	}
	q.Post(transport.WorkRequest{Verb: transport.Write, Length: 100 * 256})
	if n := len(pull(q, 200*us)); n != 16 {
		t.Errorf("%d packets after idleness, want the initial window of 16", n)
	}
}

// Traffic leaves a path that is slower than the tolerance allows.
func TestSlowPathPruned(t *testing.T) {
	share := func(delta int) float64 {
		w := transporttest.NewWorkload(storyQP, write(4000))
		l := story(nil)
		l.Gap = 100
		l.Delay = func(c *transporttest.Copy) time.Duration {
			if c.Packet.Path == 3 {
				return 20 * us
			}
			return 5 * us
		}
		// A mark now and then keeps the window near what the paths hold.
		n := 0
		l.Mark = func(*transporttest.Copy) bool { n++; return n%40 == 0 }
		late, slow := 0, 0
		l.Sent = func(c *transporttest.Copy) error {
			if c.Dir == transporttest.Forward && c.Packet.BTH.PSN > 600+2000 {
				late++
				if c.Packet.Path == 3 {
					slow++
				}
			}
			return nil
		}
		must(t, w, l, Config{Delta: delta, Slots: 4096, Probe: -1, Seed: 3})
		return float64(slow) / float64(late)
	}
	if with, without := share(32), share(1<<20); with > 0 || without < 0.02 {
		t.Errorf("the slow path carries %.3f of the second half with a tolerance of 32, %.3f without one", with, without)
	}
}

// An acknowledgement releases two packets on its path, though the window would
// allow more. One too far behind takes one off the window and releases nothing;
// one that echoes a retransmission is not judged.
func TestSlowPathAck(t *testing.T) {
	for _, tc := range []struct {
		behind int
		retx   bool
		slow   bool
	}{{32, false, false}, {33, false, true}, {33, true, false}} {
		q := NewRequester(storyQP, Config{Window: 64, RTT: time.Millisecond, Probe: -1})
		q.Post(transport.WorkRequest{Verb: transport.Write, Length: 45 * 256})
		all := pull(q, 0)
		q.Post(transport.WorkRequest{Verb: transport.Write, Length: 1000 * 256})
		released := func(now transport.Time, p *transport.Packet) int {
			hear(q, now, p, 599, false)
			more := pull(q, now)
			for i := range more {
				if more[i].Path != p.Path {
					t.Errorf("released on path %d by an acknowledgement on %d", more[i].Path, p.Path)
				}
			}
			return len(more)
		}
		if n := released(10*us, &all[40]); n != 2 {
			t.Errorf("%d packets released, want 2", n)
		}
		before := q.Window()
		late := all[40-tc.behind]
		late.BTH.ReTx = tc.retx
		n := released(11*us, &late)
		want, release := before+1/before, 2
		if tc.slow {
			want, release = want-1, 0
		}
		if math.Abs(q.Window()-want) > 1e-9 || n != release {
			t.Errorf("%d behind, retransmitted %v: cwnd %v, want %v; %d packets released, want %d", tc.behind, tc.retx, q.Window(), want, n, release)
		}
	}
}

// A PSN that is a ring beyond the head is dropped, and the head's missing PSN
// named; the sender resends that first, and then what was dropped, and nothing
// that was acknowledged.
func TestOverflow(t *testing.T) {
	w := transporttest.NewWorkload(storyQP, write(40))
	l := story(first(603))
	o := must(t, w, l, Config{Window: 32, Slots: 16, RTT: 20 * us})
	// Of the 32 packets of the initial window, 600 to 631, 603 is lost, 604 to
	// 618 find a slot, and 619 to 631 are dropped. What the acknowledgements of
	// 600 to 602 and 604 to 618 release meanwhile is dropped too.
	if o.nacks < 13 || o.resent[0] != 603 || slices.ContainsFunc(o.resent, func(p psn.PSN) bool { return p != 603 && p < 619 }) {
		t.Errorf("%d NACKs, resent %v", o.nacks, o.resent)
	}
	sorted := slices.Clone(o.resent)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != len(o.resent) {
		t.Errorf("resent more than once: %v", o.resent)
	}
}

// A synchronise operation leaves alpha * Delta / rate after its predecessor; the
// rate is the window in a round-trip time.
func TestSynchroniseDelay(t *testing.T) {
	for _, alpha := range []float64{1, 2} {
		q := NewRequester(storyQP, Config{RTT: 20 * us, Alpha: alpha, Window: 128})
		q.Post(transport.WorkRequest{Verb: transport.Write, Length: 4 * 256})
		q.Post(transport.WorkRequest{Verb: transport.Write, Length: 2 * 256, Synchronise: true})
		if n := len(pull(q, 0)); n != 4 {
			t.Fatalf("%d packets at once", n)
		}
		want := time.Duration(alpha * 32 * float64(20*us) / 128)
		if q.Wake() != want || len(pull(q, want-1)) != 0 {
			t.Errorf("alpha %v: wakes at %v, want %v", alpha, q.Wake(), want)
		}
		all := pull(q, want)
		if len(all) != 2 || !all[0].BTH.Synchronise || all[1].BTH.Synchronise {
			t.Errorf("alpha %v: sent %d packets", alpha, len(all))
		}
	}
}

// A synchronise packet that comes before its predecessor is dropped, NACKed with
// its own PSN, and sent again.
func TestEarlySynchronise(t *testing.T) {
	w := transporttest.NewWorkload(storyQP, []transporttest.Message{{Verb: transport.Write, Length: 512}, {Verb: transport.Write, Length: 200}})
	w.Work[1].Synchronise = true
	l := story(nil)
	l.Delay = func(c *transporttest.Copy) time.Duration {
		if c.Dir == transporttest.Forward && c.Packet.BTH.PSN == 601 {
			return 60 * us
		}
		return 5 * us
	}
	var placed []psn.PSN
	l.Arrived = func(c *transporttest.Copy) error {
		if c.Packet.BTH.Opcode == codec.OpcodeMPRDMANack {
			placed = append(placed, c.Packet.BTH.PSN)
		}
		return nil
	}
	o := must(t, w, l, Config{RTT: 10 * us})
	if o.early == 0 || len(placed) == 0 || placed[0] != 602 || !slices.Contains(o.resent, 602) {
		t.Errorf("NACKs for %v, resent %v", placed, o.resent)
	}
}

// With nothing new to send and window left, what is unacknowledged for an RTT is
// resent early: a lost tail does not wait for the timer.
func TestFUSO(t *testing.T) {
	w := transporttest.NewWorkload(storyQP, write(10))
	l := story(first(608, 609))
	var at []time.Duration
	l.Sent = func(c *transporttest.Copy) error {
		if c.Dir == transporttest.Forward && c.N == 2 {
			at = append(at, c.At)
		}
		return nil
	}
	o := must(t, w, l, Config{RTT: 10 * us})
	if !slices.Equal(o.resent, []psn.PSN{608, 609}) || at[0] < 10*us || at[1] > 40*us {
		t.Errorf("resent %v at %v", o.resent, at)
	}
}

// When nothing comes back, and no window is left, the timer resends everything
// unacknowledged.
func TestTimeout(t *testing.T) {
	w := transporttest.NewWorkload(storyQP, write(30))
	l := story(func(c *transporttest.Copy) bool { return c.Dir == transporttest.Forward && c.At < 100*us })
	var at []time.Duration
	l.Sent = func(c *transporttest.Copy) error {
		if c.Dir == transporttest.Forward && c.N == 2 {
			at = append(at, c.At)
		}
		return nil
	}
	o := must(t, w, l, Config{RTT: 10 * us})
	if len(o.resent) != 16 || at[0] != 500*us || at[15] > 501*us {
		t.Errorf("resent %v at %v", o.resent, at)
	}
}

// A probe takes another path than its acknowledgement's: with certainty once in
// an RTT, or never.
func TestProbe(t *testing.T) {
	for _, probe := range []float64{-1, 1} {
		w := transporttest.NewWorkload(storyQP, write(400))
		l := story(nil)
		l.Gap = 30
		var acked uint16
		elsewhere := 0
		heard := false
		gap := time.Duration(0)
		l.Delay = func(c *transporttest.Copy) time.Duration {
			if c.Dir == transporttest.Backward {
				gap += 70
				return 5*us + gap
			}
			return 5 * us
		}
		l.Arrived = func(c *transporttest.Copy) error {
			if c.Dir == transporttest.Backward {
				heard, acked = true, c.Packet.Path
			}
			return nil
		}
		l.Sent = func(c *transporttest.Copy) error {
			if c.Dir == transporttest.Forward && heard && c.Packet.Path != acked {
				elsewhere++
			}
			return nil
		}
		must(t, w, l, Config{Probe: probe, RTT: 100 * us, Paths: 1000})
		if (elsewhere > 0) != (probe > 0) {
			t.Errorf("probability %v: %d packets left on other paths than their acknowledgement's", probe, elsewhere)
		}
	}
}

// READ responses that are lost are asked for again from the first one missing;
// an atomic's result from what was saved.
func TestLostAnswers(t *testing.T) {
	w := transporttest.NewWorkload(storyQP, []transporttest.Message{{Verb: transport.Read, Length: 256 * 8}, {Verb: transport.FetchAdd}, {Verb: transport.Write, Length: 300}})
	var asked []psn.PSN
	l := story(func(c *transporttest.Copy) bool {
		v := c.Packet.BTH.Opcode.Verb()
		return c.N <= 2 && (v == codec.VerbReadResponse && c.Packet.BTH.PSN == 603 && c.N == 1 || v == codec.VerbAtomicAck)
	})
	l.Sent = func(c *transporttest.Copy) error {
		if c.Dir == transporttest.Forward && c.Packet.BTH.ReTx {
			asked = append(asked, c.Packet.BTH.PSN)
			if c.Packet.BTH.PSN == 603 && (c.Packet.RETH.VA != w.Work[0].Remote+3*256 || c.Packet.RETH.DMALen != 5*256) {
				t.Errorf("asks for %+v", c.Packet.RETH)
			}
		}
		return nil
	}
	must(t, w, l, Config{RTT: 10 * us})
	if !slices.Equal(asked, []psn.PSN{603, 608}) {
		t.Errorf("asked again for %v", asked)
	}
}

// What is lost more often than there are retries ends the queue pair.
func TestRetriesEnd(t *testing.T) {
	messages := []transporttest.Message{{Verb: transport.Write, Length: 300}, {Verb: transport.Read, Length: 1000}, {Verb: transport.Write, Length: 600}, {Verb: transport.FetchAdd}, {Verb: transport.Send, Length: 9}}
	forward := func(at psn.PSN) func(*transporttest.Copy) bool {
		return func(c *transporttest.Copy) bool {
			return c.Dir == transporttest.Forward && c.Packet.BTH.PSN == at
		}
	}
	for name, tc := range map[string]struct {
		lose func(*transporttest.Copy) bool
		want []transport.Status
	}{
		"the first packet":  {forward(600), []transport.Status{12, 5, 5, 5, 5}},
		"a packet inside":   {forward(607), []transport.Status{0, 0, 12, 5, 5}},
		"an atomic":         {forward(609), []transport.Status{0, 0, 0, 12, 5}},
		"everything behind": {func(c *transporttest.Copy) bool { return c.Dir == transporttest.Backward }, []transport.Status{12, 5, 5, 5, 5}},
		"READ responses": {func(c *transporttest.Copy) bool {
			return c.Packet.BTH.Opcode.Verb() == codec.VerbReadResponse && c.Packet.BTH.PSN == 604
		}, []transport.Status{0, 12, 5, 5, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			w := transporttest.NewWorkload(storyQP, messages)
			if _, err := run(w, story(tc.lose), Config{RTT: 10 * us}, len(messages)); err != nil {
				t.Fatal(err)
			}
			var got []transport.Status
			for i, c := range w.Completed {
				if c.ID != uint64(i) {
					t.Errorf("completion %d is of request %d", i, c.ID)
				}
				got = append(got, c.Status)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("ended with %v, want %v", got, tc.want)
			}
		})
	}
}

// A receiver that is not ready says when to come again.
func TestNotReady(t *testing.T) {
	for _, tc := range []struct {
		refusals, retries int
		want              transport.Status
	}{{3, 3, 0}, {4, 3, 13}, {20, 7, 0}} {
		qp := storyQP
		qp.RNRRetryCount, qp.RetryCount = tc.retries, 0
		w := transporttest.NewWorkload(qp, []transporttest.Message{{Verb: transport.Send, Length: 100}})
		w.Remote.NotReady = func(n int) bool { return n < tc.refusals }
		if _, err := run(w, story(nil), Config{RTT: 15 * us}, 1); err != nil {
			t.Fatal(err)
		}
		if len(w.Completed) != 1 || w.Completed[0].Status != tc.want {
			t.Errorf("%d refusals, %d retries: %v", tc.refusals, tc.retries, w.Completed)
		}
	}
}

// What an acknowledgement for each packet costs on the wire (transports, section
// 4): 66 of 1,082 bytes, 6.1 %, at 1 KiB, and 3.1 % at 2 KiB.
func TestAckCost(t *testing.T) {
	for _, tc := range []struct {
		mtu, data, ack int
		percent        float64
	}{{1024, 1082, 66, 6.1}, {2048, 2106, 66, 3.1}} {
		qp := storyQP
		qp.MTU = tc.mtu
		w := transporttest.NewWorkload(qp, []transporttest.Message{{Verb: transport.Write, Length: 100 * tc.mtu}})
		l := story(nil)
		packets, bytes := [2]int{}, [2]int{}
		l.Sent = func(c *transporttest.Copy) error {
			if c.Packet.Has(codec.HeaderRETH) {
				return nil // the First is longer
			}
			b, err := c.Packet.AppendBinary(nil)
			packets[c.Dir]++
			bytes[c.Dir] += 14 + 20 + 8 + len(b) + int(c.Packet.BTH.PadCnt) + 4
			return err
		}
		o := must(t, w, l, Config{RTT: 10 * us})
		if bytes[0] != tc.data*packets[0] || bytes[1] != tc.ack*packets[1] || packets[1] != packets[0]+1 || len(o.resent) > 0 {
			t.Errorf("%d data packets of %d bytes, %d acknowledgements of %d", packets[0], bytes[0]/packets[0], packets[1], bytes[1]/packets[1])
		}
		cost := 100 * float64(bytes[1]) / float64(packets[1]) / (float64(bytes[0]) / float64(packets[0]))
		if math.Abs(cost-tc.percent) > 0.05 {
			t.Errorf("MTU %d: %.2f %%, want %.1f %%", tc.mtu, cost, tc.percent)
		}
	}
}
