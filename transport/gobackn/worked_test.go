package gobackn

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/transporttest"
)

const trip = 2 * time.Microsecond // one way

// qp4096 is the queue pair of the worked cases.
func qp4096() transport.QP {
	return transport.QP{DestQP: 1, SrcQP: 2, MTU: 4096, StartPSN: 1000, ReadLimit: 16, AckTimeout: time.Millisecond, RetryCount: 7, RNRRetryCount: 7, RNRTimer: 10 * time.Microsecond}
}

// constant is a link with the same delay for all, which loses what it is told:
// "> 1001 #1" is the first copy of PSN 1001 from the requester, "< 1003 #1"
// what the responder first says of PSN 1003.
func constant(lost ...string) *transporttest.Link {
	return &transporttest.Link{
		Gap:   100,
		Delay: func(*transporttest.Copy) time.Duration { return trip },
		Lose: func(c *transporttest.Copy) bool {
			return slices.Contains(lost, fmt.Sprintf("%c %d #%d", "><"[c.Dir], c.Packet.BTH.PSN, c.N))
		},
	}
}

// script writes down what is sent.
func script(l *transporttest.Link) *[]string {
	var lines []string
	l.Sent = func(c *transporttest.Copy) error {
		line := fmt.Sprintf("%c %s %d", "><"[c.Dir], strings.TrimPrefix(c.Packet.BTH.Opcode.String(), "RC "), c.Packet.BTH.PSN)
		if c.Packet.Has(codec.HeaderAETH) {
			s := c.Packet.AETH.Syndrome.String()
			line += fmt.Sprintf(" %s MSN %d", strings.TrimSuffix(s, " PSN sequence error"), c.Packet.AETH.MSN)
		}
		if c.Packet.Has(codec.HeaderRETH) && c.Packet.BTH.Opcode.Verb() == codec.VerbRead {
			line += fmt.Sprintf(" +%d %d", c.Packet.RETH.VA&0xffff, c.Packet.RETH.DMALen)
		}
		if c.Ready == transport.Resend {
			line += " again"
		}
		lines = append(lines, line)
		return nil
	}
	return &lines
}

func compare(t *testing.T, got *[]string, want string) {
	t.Helper()
	w := strings.Split(strings.TrimSpace(want), "\n")
	for i := range w {
		w[i] = strings.TrimSpace(w[i])
	}
	if !slices.Equal(*got, w) {
		t.Errorf("sent:\n%s\nwant:\n%s", strings.Join(*got, "\n"), strings.Join(w, "\n"))
	}
}

// The first worked case: one of four packets is lost, three are resent.
func TestOneLostThreeResent(t *testing.T) {
	w := transporttest.NewWorkload(qp4096(), []transporttest.Message{{Verb: transport.Write, Length: 16 << 10}})
	l := constant("> 1001 #1")
	lines := script(l)
	var accepted []psn.PSN
	l.Arrived = func(c *transporttest.Copy) error {
		if c.Dir == transporttest.Forward {
			accepted = append(accepted, c.Packet.BTH.PSN)
		}
		return nil
	}
	o := must(t, w, l)
	compare(t, lines, `
		> RDMA WRITE First 1000
		> RDMA WRITE Middle 1001
		> RDMA WRITE Middle 1002
		> RDMA WRITE Last 1003
		< Acknowledge 1001 NAK MSN 0
		> RDMA WRITE Middle 1001 again
		> RDMA WRITE Middle 1002 again
		> RDMA WRITE Last 1003 again
		< Acknowledge 1003 ACK MSN 1`)
	if o.resends != 3 || w.Remote.MostPlaced() != 1 {
		t.Errorf("%d resent, bytes placed up to %d times", o.resends, w.Remote.MostPlaced())
	}
	if want := []psn.PSN{1000, 1002, 1003, 1001, 1002, 1003}; !slices.Equal(accepted, want) {
		t.Errorf("arrived %v, want %v", accepted, want)
	}
}

// The second: the ACK of a single packet is lost. The timer resends it, and it
// is not placed again.
func TestLostAckResendsInVain(t *testing.T) {
	w := transporttest.NewWorkload(qp4096(), []transporttest.Message{{Verb: transport.Write, Length: 100}})
	l := constant("< 1000 #1")
	lines := script(l)
	var at []time.Duration
	note := l.Sent
	l.Sent = func(c *transporttest.Copy) error {
		at = append(at, c.At)
		return note(c)
	}
	must(t, w, l)
	compare(t, lines, `
		> RDMA WRITE Only 1000
		< Acknowledge 1000 ACK MSN 1
		> RDMA WRITE Only 1000 again
		< Acknowledge 1000 ACK MSN 1`)
	if want := []time.Duration{0, trip, time.Millisecond, time.Millisecond + trip}; !slices.Equal(at, want) {
		t.Errorf("sent at %v, want %v", at, want)
	}
	if w.Remote.MostPlaced() != 1 {
		t.Error("placed again")
	}
}

// A lost READ response is asked for from where it was, and what followed the
// READ is sent again, the WRITE as a duplicate.
func TestLostReadResponse(t *testing.T) {
	w := transporttest.NewWorkload(qp4096(), []transporttest.Message{{Verb: transport.Read, Length: 3*4096 + 5}, {Verb: transport.Write, Length: 8}})
	l := constant("< 1001 #1")
	lines := script(l)
	note := l.Sent
	l.Sent = func(c *transporttest.Copy) error {
		// Response 1002 leaves two gaps after 1000, and says by itself that
		// 1001 is lost: no timer is needed.
		if want := 2*trip + 200; c.Dir == transporttest.Forward && c.Packet.BTH.PSN == 1001 && c.At != want {
			t.Errorf("asked again at %v, want %v", c.At, want)
		}
		return note(c)
	}
	must(t, w, l)
	compare(t, lines, `
		> RDMA READ Request 1000 +24 12293
		> RDMA WRITE Only 1004
		< RDMA READ Response First 1000 ACK MSN 1
		< RDMA READ Response Middle 1001
		< RDMA READ Response Middle 1002
		< RDMA READ Response Last 1003 ACK MSN 1
		< Acknowledge 1004 ACK MSN 2
		> RDMA READ Request 1001 +4120 8197 again
		> RDMA WRITE Only 1004 again
		< RDMA READ Response First 1001 ACK MSN 2
		< RDMA READ Response Middle 1002
		< RDMA READ Response Last 1003 ACK MSN 2
		< Acknowledge 1004 ACK MSN 2`)
}

// The timer asks for a tail of READ responses that is lost.
func TestLostLastReadResponse(t *testing.T) {
	w := transporttest.NewWorkload(qp4096(), []transporttest.Message{{Verb: transport.Read, Length: 2 * 4096}})
	l := constant("< 1001 #1")
	lines := script(l)
	must(t, w, l)
	compare(t, lines, `
		> RDMA READ Request 1000 +24 8192
		< RDMA READ Response First 1000 ACK MSN 1
		< RDMA READ Response Last 1001 ACK MSN 1
		> RDMA READ Request 1001 +4120 4096 again
		< RDMA READ Response Only 1001 ACK MSN 1`)
}

// An atomic whose answer is lost is told again what it found, and not executed
// again: FetchAdd found 0 once.
func TestLostAtomicAcknowledge(t *testing.T) {
	w := transporttest.NewWorkload(qp4096(), []transporttest.Message{{Verb: transport.FetchAdd}})
	l := constant("< 1000 #1")
	lines := script(l)
	var found []uint64
	l.Arrived = func(c *transporttest.Copy) error {
		if c.Dir == transporttest.Backward {
			found = append(found, c.Packet.AtomicAckETH.OrigRemDt)
		}
		return nil
	}
	must(t, w, l)
	compare(t, lines, `
		> FetchAdd 1000
		< ATOMIC Acknowledge 1000 ACK MSN 1
		> FetchAdd 1000 again
		< ATOMIC Acknowledge 1000 ACK MSN 1`)
	if !slices.Equal(found, []uint64{0}) {
		t.Errorf("found %v", found)
	}
}

// A receiver that is not ready is asked again when its timer has run out, with
// everything behind the refused SEND. What follows the refused one is dropped
// without a word.
func TestReceiverNotReady(t *testing.T) {
	w := transporttest.NewWorkload(qp4096(), []transporttest.Message{{Verb: transport.Send, Length: 1}, {Verb: transport.Write, Length: 1}})
	w.Remote.NotReady = func(n int) bool { return n < 2 }
	l := constant()
	lines := script(l)
	var at []time.Duration
	note := l.Sent
	l.Sent = func(c *transporttest.Copy) error {
		if c.Dir == transporttest.Forward && c.Packet.BTH.PSN == 1000 {
			at = append(at, c.At)
		}
		return note(c)
	}
	must(t, w, l)
	compare(t, lines, `
		> SEND Only 1000
		> RDMA WRITE Only 1001
		< Acknowledge 1000 RNR NAK, 10µs MSN 0
		> SEND Only 1000 again
		> RDMA WRITE Only 1001 again
		< Acknowledge 1000 RNR NAK, 10µs MSN 0
		> SEND Only 1000 again
		> RDMA WRITE Only 1001 again
		< Acknowledge 1000 ACK MSN 1
		< Acknowledge 1001 ACK MSN 2`)
	// There, back, and the timer of 10 us.
	if want := []time.Duration{0, 2*trip + 10*time.Microsecond, 2 * (2*trip + 10*time.Microsecond)}; !slices.Equal(at, want) {
		t.Errorf("sent at %v, want %v", at, want)
	}
}

// One acknowledgement in 16 packets, and one where AckReq asks for it (the last
// packet of a message).
func TestAcknowledgementsAreCoalesced(t *testing.T) {
	w := transporttest.NewWorkload(qp4096(), []transporttest.Message{{Verb: transport.Write, Length: 40 * 4096}})
	l := constant()
	var acks []psn.PSN
	l.Arrived = func(c *transporttest.Copy) error {
		if c.Dir == transporttest.Backward {
			acks = append(acks, c.Packet.BTH.PSN)
		}
		return nil
	}
	must(t, w, l)
	if want := []psn.PSN{1015, 1031, 1039}; !slices.Equal(acks, want) {
		t.Errorf("acknowledged %v, want %v", acks, want)
	}
}

// A resend run goes on to the newest PSN and then to new data; the NAK that a
// lost resend draws again starts it over.
func TestResendIsLostToo(t *testing.T) {
	w := transporttest.NewWorkload(qp4096(), []transporttest.Message{{Verb: transport.Write, Length: 3 * 4096}})
	l := constant("> 1000 #1", "> 1000 #2")
	lines := script(l)
	must(t, w, l)
	// One NAK, until 1000 arrives; the second loss waits for the timer.
	compare(t, lines, `
		> RDMA WRITE First 1000
		> RDMA WRITE Middle 1001
		> RDMA WRITE Last 1002
		< Acknowledge 1000 NAK MSN 0
		> RDMA WRITE First 1000 again
		> RDMA WRITE Middle 1001 again
		> RDMA WRITE Last 1002 again
		> RDMA WRITE First 1000 again
		> RDMA WRITE Middle 1001 again
		> RDMA WRITE Last 1002 again
		< Acknowledge 1002 ACK MSN 1`)
}
