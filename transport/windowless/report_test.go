package windowless

import (
	"slices"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/transporttest"
)

// sender is a requester that has sent PSNs 0 to sent-1 of one WRITE, at a
// packet each 100 ns.
func sender(t *testing.T, sent int) *Requester {
	t.Helper()
	qp := queuePair(0)
	r := NewRequester(qp, params(Anchored))
	if err := r.Post(transport.WorkRequest{Verb: transport.Write, Length: 1000 * 256}); err != nil {
		t.Fatal(err)
	}
	var p transport.Packet
	for i := range sent {
		now := interval * transport.Time(i)
		if r.Ready(now) != transport.Fresh {
			t.Fatalf("packet %d: not ready", i)
		}
		r.Next(now, &p)
	}
	return r
}

// acknowledgement is a report of the blocks up to last and the segments.
func acknowledgement(last psn.PSN, segments ...psn.Span) *transport.Packet {
	op := codec.Op(codec.RC, codec.Acknowledge)
	p := &transport.Packet{Packet: codec.Packet{Headers: op.Headers() | codec.Set(codec.HeaderTCAETH)}}
	p.BTH = codec.BTH{Opcode: op, DestQP: 0x22, PSN: last, PadCnt: 2}
	p.AETH.Syndrome = codec.SyndromeACK
	p.TCAETH = codec.TCAETH{SegmentNum: 1, LastFinishedPSN: last}
	for _, s := range segments {
		segment(&p.TCAETH, s)
	}
	return p
}

// resends takes what is due, each packet 100 ns after the one before.
func resends(r *Requester, now transport.Time) (all []psn.PSN) {
	var p transport.Packet
	for r.Ready(now) == transport.Resend {
		r.Next(now, &p)
		all = append(all, p.BTH.PSN)
		now += interval
	}
	return all
}

// A report that others have overtaken takes nothing back.
func TestOldReport(t *testing.T) {
	r := sender(t, 100)
	r.Receive(12*time.Microsecond, acknowledgement(9, psn.Span{First: 20, Last: 29}))
	r.Receive(12*time.Microsecond, acknowledgement(4, psn.Span{First: 8, Last: 8}, psn.Span{First: 25, Last: 26}))
	if got := resends(r, 13*time.Microsecond); !slices.Equal(got, []psn.PSN{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}) {
		t.Errorf("resent %v", got)
	}
	r.Receive(14*time.Microsecond, acknowledgement(4, psn.Span{First: 8, Last: 8}, psn.Span{First: 25, Last: 26}))
	if got := resends(r, 15*time.Microsecond); got != nil {
		t.Errorf("resent %v", got)
	}
}

// What was never sent is not received, whatever a report says.
func TestReportOfTheFuture(t *testing.T) {
	r := sender(t, 100)
	nak := acknowledgement(100)
	nak.AETH.Syndrome = codec.SyndromeRemoteAccess
	for _, p := range []*transport.Packet{
		nak, acknowledgement(100), acknowledgement(5000), acknowledgement(9, psn.Span{First: 90, Last: 100}),
		acknowledgement(9, psn.Span{First: 11, Last: 11}, psn.Span{First: 20, Last: 2000}),
	} {
		r.Receive(12*time.Microsecond, p)
		if got := resends(r, 13*time.Microsecond); got != nil || r.queue.Una != 0 || r.queue.Failed {
			t.Errorf("%+v: una %d, resent %v", p.TCAETH, r.queue.Una, got)
		}
	}
}

// The tail is what is older than a round trip and a batch, 18 us. Of PSNs 10
// to 29, which were first sent 1 us after 0, 10 was resent not long ago.
func TestTailBehindResent(t *testing.T) {
	r := sender(t, 30)
	r.Receive(14*time.Microsecond, acknowledgement(9, psn.Span{First: 11, Last: 11}))
	if got := resends(r, 15*time.Microsecond); !slices.Equal(got, []psn.PSN{10}) {
		t.Fatalf("resent %v", got)
	}
	r.Receive(20*time.Microsecond, acknowledgement(9))
	want := []psn.PSN{12, 13, 14, 15, 16, 17, 18, 19}
	if got := resends(r, 21*time.Microsecond); !slices.Equal(got, want) {
		t.Errorf("resent %v, want %v", got, want)
	}
	r.Receive(29*time.Microsecond, acknowledgement(9))
	want = []psn.PSN{20, 21, 22, 23, 24, 25, 26, 27, 28, 29}
	if got := resends(r, 30*time.Microsecond); !slices.Equal(got, want) {
		t.Errorf("resent %v, want %v", got, want)
	}
}

// Of a READ only the responses that are missing are asked for again.
func TestReadAsksForWhatIsMissing(t *testing.T) {
	qp := queuePair(0)
	r := newRun(t, qp, params(Anchored), []transporttest.Message{{Verb: transport.Read, Length: 20 * qp.MTU}})
	r.link.Lose = func(c *transporttest.Copy) bool {
		at := c.Packet.BTH.PSN
		return c.Packet.BTH.Opcode.Verb() == codec.VerbReadResponse && c.N == 1 && (at == 4 || at == 5 || at == 11)
	}
	type request struct {
		psn  psn.PSN
		va   uint64
		read uint32
	}
	var got []request
	r.link.Sent = func(c *transporttest.Copy) error {
		if c.Dir == transporttest.Forward {
			got = append(got, request{c.Packet.BTH.PSN, c.Packet.RETH.VA - r.Work[0].Remote, c.Packet.RETH.DMALen})
		}
		return nil
	}
	if err := r.link.Run(); err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	if want := []request{{0, 0, 20 * 256}, {4, 4 * 256, 512}, {11, 11 * 256, 256}}; !slices.Equal(got, want) {
		t.Errorf("requests %v, want %v", got, want)
	}
}

// A packet that is lost again and again ends the queue pair after RetryCount
// resends, though reports of others keep coming.
func TestRetriesEndAmongReports(t *testing.T) {
	qp := queuePair(0)
	r := newRun(t, qp, params(Anchored), []transporttest.Message{{Verb: transport.Write, Length: 3000 * qp.MTU}})
	r.link.Lose = lose(map[psn.PSN]int{500: 1000})
	if err := r.link.Run(); err != nil {
		t.Fatal(err)
	}
	if len(r.Completed) != 1 || r.Completed[0].Status != transport.RetryExceeded || len(r.resent) != qp.RetryCount {
		t.Errorf("%v after resending %v", r.Completed, r.resent)
	}
}

func receive(r *Responder, now transport.Time, op codec.Operation, at psn.PSN) {
	o := codec.Op(codec.RC, op)
	r.Receive(now, &transport.Packet{Packet: codec.Packet{Headers: o.Headers(), BTH: codec.BTH{Opcode: o, DestQP: 0x11, PSN: at}}})
}

// A fourth range above the cumulative point does not wait for a threshold, nor
// does a fifth; one that grows does.
func TestFourthRangeIsReportedAtOnce(t *testing.T) {
	r := NewResponder(queuePair(0), Params{Packets: 1000, Period: time.Hour})
	var p transport.Packet
	for _, at := range []psn.PSN{0, 2, 4, 6, 8, 9, 10, 12} {
		receive(r, 0, codec.SendOnly, at)
		rises := at == 8 || at == 12
		if got := r.Ready(0) == transport.Reply; got != rises {
			t.Fatalf("%d: report %v, want %v", at, got, rises)
		}
		if rises {
			r.Next(0, &p)
			if h := p.TCAETH; h.SegmentNum != 4 || h.LastFinishedPSN != 0 || h.Seg1Left != 2 || h.Seg3Right != 6 {
				t.Errorf("%d: %+v", at, h)
			}
		}
	}
}

// A packet that came early and is refused in its turn, for want of a receive,
// must come again; reports leave it out.
func TestRefusedInItsTurn(t *testing.T) {
	qp := queuePair(0)
	memory := transporttest.NewMemory(0, 0, 64)
	memory.Receives = []uint64{0, 0, 0}
	memory.NotReady = func(n int) bool { return n == 1 }
	qp.Memory = memory
	r := NewResponder(qp, Params{Packets: 3, Period: time.Hour})
	for _, at := range []psn.PSN{1, 2, 0} {
		receive(r, 0, codec.SendOnly, at)
	}
	var p transport.Packet
	r.Next(0, &p)
	if h := p.TCAETH; h.SegmentNum != 2 || h.LastFinishedPSN != 0 || h.Seg1Left != 2 || h.Seg1Right != 2 {
		t.Errorf("%+v", h)
	}
	r.Next(0, &p)
	if p.AETH.Syndrome.Kind() != codec.KindRNRNAK || p.BTH.PSN != 1 {
		t.Errorf("%v of %d", p.AETH.Syndrome, p.BTH.PSN)
	}
	receive(r, 0, codec.SendOnly, 1)
	if r.next != 3 || memory.Taken != 3 {
		t.Errorf("next %d, %d receives taken", r.next, memory.Taken)
	}
}
