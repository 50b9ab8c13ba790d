package irn

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/transporttest"
)

var storyQP = transport.QP{DestQP: 0x111, SrcQP: 0x222, PKey: 0xffff, MTU: 256, StartPSN: 600, RetryCount: 7, RNRRetryCount: 7, RNRTimer: 20 * time.Microsecond}

// story is a link with a packet each microsecond, 4 us of way, and a log of
// what was sent.
func story(lose func(*transporttest.Copy) bool) (*transporttest.Link, *[]string) {
	log := new([]string)
	l := &transporttest.Link{Gap: 1000, Lose: lose, Delay: func(*transporttest.Copy) time.Duration { return 4 * time.Microsecond }}
	l.Arrived = func(c *transporttest.Copy) error {
		*log = append(*log, fmt.Sprintf("%v %s %d sack %d msn %d", c.At, c.Packet.BTH.Opcode, c.Packet.BTH.PSN, c.Packet.SackETH.SackPSN, c.Packet.AETH.MSN))
		return nil
	}
	return l, log
}

// first loses the first copy of some PSNs on their way forward.
func first(of ...psn.PSN) func(*transporttest.Copy) bool {
	return func(c *transporttest.Copy) bool {
		return c.Dir == transporttest.Forward && c.N == 1 && slices.Contains(of, c.Packet.BTH.PSN)
	}
}

func writes(packets ...int) []transporttest.Message {
	var all []transporttest.Message
	for _, n := range packets {
		all = append(all, transporttest.Message{Verb: transport.Write, Length: 256 * n})
	}
	return all
}

// Two losses in the middle of a message: a NACK for each packet behind the
// first, the cumulative PSN and the other hole resent, nothing else.
func TestTwoLosses(t *testing.T) {
	w := transporttest.NewWorkload(storyQP, writes(10))
	l, _ := story(first(602, 605))
	o := must(t, w, l, Config{})
	if !slices.Equal(o.requests.resentPSN, []psn.PSN{602, 605}) || o.requests.timeouts != 0 {
		t.Errorf("resent %v, %d timeouts", o.requests.resentPSN, o.requests.timeouts)
	}
	// 603, 604, 606 to 609 came out of order. 602 came back 13 us later than it
	// would have, behind all of them.
	if o.responder.nacks != 6 {
		t.Errorf("%d NACKs, want 6", o.responder.nacks)
	}
}

// A NACK that was lost is made good by the next.
func TestLostNACK(t *testing.T) {
	w := transporttest.NewWorkload(storyQP, writes(10))
	lost := first(602, 605)
	l, _ := story(func(c *transporttest.Copy) bool {
		return lost(c) || c.Packet.BTH.Opcode == codec.OpcodeIRNNack && (c.Packet.SackETH.SackPSN == 603 || c.Packet.SackETH.SackPSN == 606)
	})
	o := must(t, w, l, Config{})
	// 603 is a hole for the sender that did not hear of it; 606 too.
	if !slices.Equal(o.requests.resentPSN, []psn.PSN{602, 603, 605, 606}) || o.requests.timeouts != 0 {
		t.Errorf("resent %v, %d timeouts", o.requests.resentPSN, o.requests.timeouts)
	}
}

// Packets lost at the tail draw no NACK: each costs one timeout.
func TestTail(t *testing.T) {
	for lost := 1; lost <= 4; lost++ {
		w := transporttest.NewWorkload(storyQP, writes(10))
		var tail []psn.PSN
		for i := range lost {
			tail = append(tail, psn.PSN(610-lost+i))
		}
		l, _ := story(first(tail...))
		o := must(t, w, l, Config{})
		if o.requests.timeouts != lost || !slices.Equal(o.requests.resentPSN, tail) || o.responder.nacks != 0 {
			t.Errorf("%d lost at the tail: %d timeouts, resent %v, %d NACKs", lost, o.requests.timeouts, o.requests.resentPSN, o.responder.nacks)
		}
	}
}

// With 3 or fewer packets in flight the timer is RTO_low, else RTO_high (the
// paper, section 3.1). It runs from the last progress.
func TestRTOLowAndHigh(t *testing.T) {
	for _, tc := range []struct {
		lost int
		wait time.Duration
	}{{1, 100 * time.Microsecond}, {3, 100 * time.Microsecond}, {4, 320 * time.Microsecond}, {10, 320 * time.Microsecond}} {
		w := transporttest.NewWorkload(storyQP, writes(10))
		var tail []psn.PSN
		for i := range tc.lost {
			tail = append(tail, psn.PSN(610-tc.lost+i))
		}
		l, _ := story(first(tail...))
		var progress, resent time.Duration
		arrived := l.Arrived
		l.Arrived = func(c *transporttest.Copy) error {
			if c.Dir == transporttest.Backward && resent == 0 {
				progress = c.At
			}
			if c.Dir == transporttest.Forward && c.N == 2 && resent == 0 {
				resent = c.At - 4*time.Microsecond
			}
			return arrived(c)
		}
		must(t, w, l, Config{})
		if resent-progress != tc.wait {
			t.Errorf("%d lost: resent %v after the last progress, want %v", tc.lost, resent-progress, tc.wait)
		}
	}
}

// Never more than the cap is in flight, and the cap is reached.
func TestBDPFC(t *testing.T) {
	for _, limit := range []int{1, 4, 109} {
		w := transporttest.NewWorkload(storyQP, append(writes(300), transporttest.Message{Verb: transport.Read, Length: 300 * 256}))
		l, _ := story(nil)
		l.Gap, l.Delay = 10, func(*transporttest.Copy) time.Duration { return 20 * time.Microsecond }
		o := must(t, w, l, Config{Cap: limit})
		if o.requests.most != limit || o.responses.most != limit {
			t.Errorf("cap %d: %d requests and %d responses in flight", limit, o.requests.most, o.responses.most)
		}
	}
}

// Lost READ responses: NACKed by the requester, resent by the responder, the
// request never again. rPSN begins at the starting PSN, and the next READ goes
// on where the last one ended (wire formats, section 7).
func TestLostResponses(t *testing.T) {
	w := transporttest.NewWorkload(storyQP, []transporttest.Message{{Verb: transport.Read, Length: 2048}, {Verb: transport.Send, Length: 64}, {Verb: transport.Read, Length: 512}})
	l, log := story(func(c *transporttest.Copy) bool {
		op, at := c.Packet.BTH.Opcode, c.Packet.BTH.PSN
		return op.Verb() == codec.VerbReadResponse && c.Ready == transport.Reply && (at == 602 || at == 605 || at == 609)
	})
	o := must(t, w, l, Config{})
	if o.requests.resent != 0 || !slices.Equal(o.responses.resentPSN, []psn.PSN{602, 605, 609}) || o.responses.fresh != 10 || o.responses.timeouts != 1 {
		t.Errorf("%d requests resent; responses %d, resent %v, %d timeouts", o.requests.resent, o.responses.fresh, o.responses.resentPSN, o.responses.timeouts)
	}
	for _, want := range []string{
		"IRN READ Response NACK 602 sack 603 msn 0",
		"IRN READ Response ACK 609 sack 0 msn 0",
	} {
		if !slices.ContainsFunc(*log, func(s string) bool { return len(s) > len(want) && s[len(s)-len(want):] == want }) {
			t.Errorf("no %q in %q", want, *log)
		}
	}
}

// Completions and MSN advance in order whatever the order of arrival: the
// second message is all there, and MSN stands still until the first is.
func TestMSNInOrder(t *testing.T) {
	w := transporttest.NewWorkload(storyQP, []transporttest.Message{{Verb: transport.Send, Length: 512}, {Verb: transport.WriteImm, Length: 512}, {Verb: transport.Send, Length: 10}})
	l, log := story(first(600))
	must(t, w, l, Config{})
	want := []string{
		"IRN NACK 600 sack 601 msn 0", "IRN NACK 600 sack 602 msn 0", "IRN NACK 600 sack 603 msn 0", "IRN NACK 600 sack 604 msn 0",
		"RC Acknowledge 604 sack 0 msn 3",
	}
	var got []string
	for _, s := range *log {
		for _, v := range want {
			if len(s) > len(v) && s[len(s)-len(v):] == v {
				got = append(got, v)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("said %q, want %q; all: %q", got, want, *log)
	}
}

// The result of an atomic that was lost is told again from what was saved; what
// followed the atomic is not resent.
func TestLostAtomicResult(t *testing.T) {
	w := transporttest.NewWorkload(storyQP, []transporttest.Message{{Verb: transport.FetchAdd}, {Verb: transport.Write, Length: 1024}})
	l, _ := story(func(c *transporttest.Copy) bool {
		return c.Packet.BTH.Opcode.Verb() == codec.VerbAtomicAck && c.N == 1
	})
	o := must(t, w, l, Config{})
	if !slices.Equal(o.requests.resentPSN, []psn.PSN{600}) || o.requests.timeouts != 0 || o.requests.implied == 0 {
		t.Errorf("resent %v, %d timeouts, %d implied", o.requests.resentPSN, o.requests.timeouts, o.requests.implied)
	}
}

// What is lost more often than there are retries ends the queue pair: all work
// is reported once and in order, what came before with success.
func TestRetriesEnd(t *testing.T) {
	messages := []transporttest.Message{{Verb: transport.Write, Length: 300}, {Verb: transport.Read, Length: 1000}, {Verb: transport.Write, Length: 600}, {Verb: transport.FetchAdd}, {Verb: transport.Send, Length: 9}}
	response := func(c *transporttest.Copy) bool {
		return c.Packet.BTH.Opcode.Verb() == codec.VerbReadResponse && c.Packet.BTH.PSN == 602
	}
	forward := func(at psn.PSN) func(*transporttest.Copy) bool {
		return func(c *transporttest.Copy) bool {
			return c.Dir == transporttest.Forward && c.Packet.BTH.PSN == at && c.Packet.BTH.Opcode.Verb() != codec.VerbAck
		}
	}
	for name, tc := range map[string]struct {
		lose   func(*transporttest.Copy) bool
		copies int
		want   []transport.Status
	}{
		"the first packet":  {forward(600), 8, []transport.Status{12, 5, 5, 5, 5}},
		"a packet inside":   {forward(604), 8, []transport.Status{0, 0, 12, 5, 5}},
		"an atomic":         {forward(606), 8, []transport.Status{0, 0, 0, 12, 5}},
		"a READ request":    {forward(602), 8, []transport.Status{0, 12, 5, 5, 5}},
		"a READ response":   {response, 8, []transport.Status{0, 12, 5, 5, 5}},
		"everything behind": {func(c *transporttest.Copy) bool { return c.Dir == transporttest.Backward }, 8, []transport.Status{12, 5, 5, 5, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			w := transporttest.NewWorkload(storyQP, messages)
			copies := 0
			l, _ := story(func(c *transporttest.Copy) bool {
				if !tc.lose(c) {
					return false
				}
				if c.Dir == transporttest.Forward || name == "a READ response" {
					copies++
				}
				return true
			})
			if _, err := run(w, l, Config{}, len(messages)); err != nil {
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
			if copies > 0 && copies != tc.copies {
				t.Errorf("%d copies, want %d", copies, tc.copies)
			}
		})
	}
}

// A receiver that is not ready says when to come again, and the sender keeps to
// it; more refusals than RNR retries end the queue pair.
func TestNotReady(t *testing.T) {
	for _, tc := range []struct {
		refusals, retries int
		want              transport.Status
	}{{3, 3, 0}, {4, 3, 13}, {20, 7, 0}} {
		qp := storyQP
		qp.RNRRetryCount, qp.RetryCount = tc.retries, 0
		w := transporttest.NewWorkload(qp, []transporttest.Message{{Verb: transport.Send, Length: 100}})
		w.Remote.NotReady = func(n int) bool { return n < tc.refusals }
		l, _ := story(nil)
		if _, err := run(w, l, Config{}, 1); err != nil {
			t.Fatal(err)
		}
		if len(w.Completed) != 1 || w.Completed[0].Status != tc.want {
			t.Errorf("%d refusals, %d retries: %v", tc.refusals, tc.retries, w.Completed)
		}
	}
}

// What the responder may not do it refuses, and only when its turn has come.
func TestRefusals(t *testing.T) {
	for _, verb := range []transport.Verb{transport.Write, transport.WriteImm, transport.Read, transport.CmpSwap} {
		w := transporttest.NewWorkload(storyQP, []transporttest.Message{{Verb: transport.Send, Length: 400}, {Verb: verb, Length: 100}, {Verb: transport.Send, Length: 5}})
		w.Work[1].RKey++
		w.Remote.NotReady = func(int) bool { return false } // the oracle does not know what is refused
		l, _ := story(first(600))
		if _, err := run(w, l, Config{}, 3); err != nil {
			t.Errorf("%v: %v", verb, err)
			continue
		}
		var got []transport.Status
		for _, c := range w.Completed {
			got = append(got, c.Status)
		}
		if !slices.Equal(got, []transport.Status{transport.Success, transport.RemoteAccess, transport.Flushed}) {
			t.Errorf("%v: ended with %v", verb, got)
		}
	}
}
