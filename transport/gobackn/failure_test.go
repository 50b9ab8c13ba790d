package gobackn

import (
	"slices"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/transporttest"
	"pgregory.net/rapid"
)

// ends runs the work and gives how each request ended.
func ends(t *testing.T, w *transporttest.Workload, l *transporttest.Link) []transport.Status {
	t.Helper()
	if _, err := run(w, l, 0, 16, len(w.Work)); err != nil {
		t.Fatal(err)
	}
	var all []transport.Status
	for i, c := range w.Completed {
		if c.ID != uint64(i) {
			t.Fatalf("completion %d is of request %d", i, c.ID)
		}
		all = append(all, c.Status)
	}
	if len(all) != len(w.Work) {
		t.Fatalf("%d of %d requests ended", len(all), len(w.Work))
	}
	return all
}

// A PSN that never gets through, or is never heard of, ends the queue pair
// after as many retries as it has: what comes before it is done, its message
// fails, the rest is flushed.
func TestEndsInError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		qp := drawQP(t)
		qp.RetryCount = rapid.IntRange(0, 7).Draw(t, "retries")
		w := transporttest.NewWorkload(qp, transporttest.DrawMessages(drawer(t), 10, 5, qp.MTU))
		dead := rapid.IntRange(0, w.Packets()-1).Draw(t, "dead")
		first, of := 0, 0
		for ; dead >= first+w.Work[of].Packets(qp.MTU); of++ {
			first += w.Work[of].Packets(qp.MTU)
		}
		at := qp.StartPSN.Add(dead)
		copies := 0
		l := transporttest.Link{
			Gap:   90,
			Delay: func(*transporttest.Copy) time.Duration { return trip },
			// A READ's PSN dies as a request or as a response.
			Lose: func(c *transporttest.Copy) bool {
				if c.Packet.BTH.PSN != at {
					return false
				}
				if c.Dir == transporttest.Forward {
					copies++
					return true
				}
				return c.Packet.BTH.Opcode.Verb() == codec.VerbReadResponse
			},
		}
		_, err := run(w, &l, rapid.SampledFrom([]int{0, 1, 4}).Draw(t, "window"), rapid.SampledFrom([]int{1, 16}).Draw(t, "every"), len(w.Work))
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range w.Completed {
			want := transport.Success
			switch {
			case i == of:
				want = transport.RetryExceeded
			case i > of:
				want = transport.Flushed
			}
			if c.ID != uint64(i) || c.Status != want {
				t.Fatalf("completion %d: request %d, status %d, want %d", i, c.ID, c.Status, want)
			}
		}
		if len(w.Completed) != len(w.Work) {
			t.Fatalf("%d of %d ended", len(w.Completed), len(w.Work))
		}
		// In the middle of a READ its PSN is first asked for with the whole. In
		// the middle of other messages what comes before may not be acknowledged
		// yet when the timer runs out; then that is progress.
		want := 1 + qp.RetryCount
		least, most := want, want
		if dead > first && w.Work[of].Verb == transport.Read {
			least--
		} else if dead > first {
			most++
		}
		if copies < least || copies > most {
			t.Fatalf("%d copies of PSN %d, retry count %d", copies, at, qp.RetryCount)
		}
	})
}

// Retries without progress are counted, and progress gives them back: a queue
// pair with one retry survives any number of losses that are apart.
func TestProgressGivesRetriesBack(t *testing.T) {
	qp := qp4096()
	qp.RetryCount = 1
	w := transporttest.NewWorkload(qp, []transporttest.Message{{Verb: transport.Write, Length: 9 * 4096}})
	must(t, w, constant("> 1001 #1", "> 1003 #2", "> 1006 #3", "> 1007 #4"))
}

// RNR NAKs are counted apart, and seven is without end.
func TestRNRRetries(t *testing.T) {
	for _, tc := range []struct {
		limit, refusals int
		want            transport.Status
	}{{0, 0, 0}, {0, 1, transport.RNRExceeded}, {3, 3, 0}, {3, 4, transport.RNRExceeded}, {7, 100, 0}} {
		qp := qp4096()
		qp.RNRRetryCount, qp.RetryCount = tc.limit, 0
		w := transporttest.NewWorkload(qp, []transporttest.Message{{Verb: transport.SendImm, Length: 9000}, {Verb: transport.Write}})
		w.Remote.NotReady = func(n int) bool { return n < tc.refusals }
		got := ends(t, w, constant())
		want := []transport.Status{tc.want, 0}
		if tc.want != 0 {
			want[1] = transport.Flushed
		}
		if !slices.Equal(got, want) {
			t.Errorf("limit %d, %d refusals: %v, want %v", tc.limit, tc.refusals, got, want)
		}
	}
}

// A refusal for good ends its own message with the reason, also when the NAK is
// lost at first; what came before is done, a READ that is still missing a
// response included.
func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(*transport.WorkRequest)
		want  transport.Status
	}{
		"wrong key":   {func(w *transport.WorkRequest) { w.RKey++ }, transport.RemoteAccess},
		"outside":     {func(w *transport.WorkRequest) { w.Remote += 1 << 30 }, transport.RemoteAccess},
		"misaligned":  {func(w *transport.WorkRequest) { w.Verb, w.Length, w.Remote = transport.FetchAdd, 8, w.Remote+1 }, transport.RemoteInvalid},
		"read access": {func(w *transport.WorkRequest) { w.Verb = transport.Read; w.RKey = 0 }, transport.RemoteAccess},
	} {
		for _, lost := range []string{"", "< 1001 #1", "< 1002 #1", "> 1002 #1", "< 1000 #1"} {
			w := transporttest.NewWorkload(qp4096(), []transporttest.Message{
				{Verb: transport.Read, Length: 8192}, {Verb: transport.Write, Length: 100}, {Verb: transport.Write, Length: 100}})
			tc.spoil(&w.Work[1])
			got := ends(t, w, constant(lost))
			if want := []transport.Status{0, tc.want, transport.Flushed}; !slices.Equal(got, want) {
				t.Errorf("%s, lost %q: %v, want %v", name, lost, got, want)
			}
		}
	}
}

// What is posted in the ERROR state is flushed.
func TestPostAfterFailure(t *testing.T) {
	var got []transport.Completion
	qp := qp4096()
	qp.RetryCount = 0
	var q *Requester
	qp.Complete = func(c transport.Completion) {
		if got = append(got, c); len(got) == 1 {
			q.Post(transport.WorkRequest{ID: 3, Verb: transport.Send})
		}
	}
	q = NewRequester(qp, 0)
	q.Post(transport.WorkRequest{ID: 1, Verb: transport.Send})
	q.Post(transport.WorkRequest{ID: 2, Verb: transport.Send})
	var p transport.Packet
	q.Ready(0)
	q.Next(0, &p)
	if q.Ready(q.Wake()) != transport.Idle || q.Wake() != transport.Never {
		t.Error("a failed requester has something to send")
	}
	q.Post(transport.WorkRequest{ID: 4, Verb: transport.Send})
	want := []transport.Completion{{ID: 1, Status: transport.RetryExceeded}, {ID: 2, Status: transport.Flushed}, {ID: 3, Status: transport.Flushed}, {ID: 4, Status: transport.Flushed}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	q.Receive(0, &p)
	if err := q.Post(transport.WorkRequest{Length: transport.MaxLength + 1}); err != transport.ErrTooLong {
		t.Errorf("too long: %v", err)
	}
}

// Without a timer a lost tail stays lost, and nothing spins.
func TestNoTimer(t *testing.T) {
	qp := qp4096()
	qp.AckTimeout = 0
	w := transporttest.NewWorkload(qp, []transporttest.Message{{Verb: transport.Send, Length: 1}})
	if _, err := run(w, constant("> 1000 #1"), 0, 16, 1); err != nil || len(w.Completed) != 0 {
		t.Errorf("%v, %v", w.Completed, err)
	}
}

// Responses that fit nothing outstanding change nothing: PSNs never sent, PSNs
// acknowledged, a READ response to a WRITE.
func TestStrayResponses(t *testing.T) {
	q := NewRequester(qp4096(), 0)
	q.Post(transport.WorkRequest{Verb: transport.Write, Length: 2 * 4096})
	var p transport.Packet
	for range 2 {
		q.Ready(0)
		q.Next(0, &p)
	}
	stray := func(op codec.Operation, at psn.PSN, s codec.Syndrome) {
		r := transport.Packet{}
		r.BTH.Opcode, r.BTH.PSN, r.AETH.Syndrome = codec.Op(codec.RC, op), at, s
		r.Headers = r.BTH.Opcode.Headers()
		q.Receive(1, &r)
		if q.Ready(1) != transport.Idle || q.Outstanding() != 2 {
			t.Errorf("%s %s at %d: %d outstanding", r.BTH.Opcode, s, at, q.Outstanding())
		}
	}
	for _, at := range []psn.PSN{999, 1002, 5, 1000 + 1<<23} {
		for _, s := range []codec.Syndrome{codec.SyndromeACK, codec.SyndromePSNSequenceError, codec.SyndromeRemoteAccess, codec.RNRNAK(time.Millisecond)} {
			stray(codec.Acknowledge, at, s)
		}
	}
	stray(codec.ReadResponseOnly, 1000, codec.SyndromeACK)
	stray(codec.AtomicAcknowledge, 1000, codec.SyndromeACK)
	stray(codec.Acknowledge, 1000, 0x40) // a reserved kind
	stray(codec.SendOnly, 1000, codec.SyndromeACK)
}
