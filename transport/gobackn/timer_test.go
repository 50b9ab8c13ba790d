package gobackn

import (
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// said is an Acknowledge packet.
func said(at psn.PSN, s codec.Syndrome) *transport.Packet {
	p := request(codec.Acknowledge, at, 0)
	p.AETH.Syndrome = s
	return &p
}

// send lets a requester send one packet and checks which.
func send(t *testing.T, q *Requester, now time.Duration, ready transport.Ready, at psn.PSN) {
	t.Helper()
	var p transport.Packet
	if got := q.Ready(now); got != ready {
		t.Fatalf("at %v ready %d, want %d", now, got, ready)
	}
	if q.Next(now, &p); p.BTH.PSN != at {
		t.Fatalf("at %v sent %d, want %d", now, p.BTH.PSN, at)
	}
}

// The timer is that of the oldest PSN outstanding: what is sent later does not
// start it again, an acknowledgement of the oldest does.
func TestTimerOfTheOldest(t *testing.T) {
	const us = time.Microsecond
	q := NewRequester(qp4096(), 0) // 1 ms
	post := func() { q.Post(transport.WorkRequest{Verb: transport.Write, Length: 1}) }
	post()
	send(t, q, 0, transport.Fresh, 1000)
	post()
	send(t, q, 600*us, transport.Fresh, 1001)
	if q.Wake() != 1000*us {
		t.Errorf("wakes at %v", q.Wake())
	}
	q.Receive(900*us, said(1000, codec.SyndromeACK))
	if q.Wake() != 1900*us {
		t.Errorf("wakes at %v after progress", q.Wake())
	}
	if q.Ready(1899*us) != transport.Idle {
		t.Error("resends before the timer has run out")
	}
	// While the resent packet waits for the port the timer stands still.
	if q.Ready(1900*us) != transport.Resend || q.Wake() != transport.Never {
		t.Errorf("after the timer: ready %d, wakes at %v", q.Ready(1900*us), q.Wake())
	}
	send(t, q, 5000*us, transport.Resend, 1001)
	if q.Wake() != 6000*us {
		t.Errorf("wakes at %v after the resend", q.Wake())
	}
	q.Receive(5100*us, said(1001, codec.SyndromeACK))
	if q.Wake() != transport.Never {
		t.Errorf("wakes at %v with nothing outstanding", q.Wake())
	}
}

// An acknowledgement of what the responder was not ready for ends the wait. A
// sequence NAK that packets behind the refused one have drawn does not.
func TestWaitForReceiver(t *testing.T) {
	qp := qp4096()
	qp.RetryCount = 0
	q := NewRequester(qp, 0)
	q.Post(transport.WorkRequest{Verb: transport.Send})
	q.Post(transport.WorkRequest{Verb: transport.Send})
	send(t, q, 0, transport.Fresh, 1000)
	send(t, q, 1, transport.Fresh, 1001)
	q.Receive(10, said(1000, codec.RNRNAK(10*time.Microsecond)))
	q.Receive(11, said(1000, codec.SyndromePSNSequenceError))
	q.Receive(12, said(1000, codec.RNRNAK(10*time.Microsecond)))
	if q.Ready(12) != transport.Idle || q.Wake() != 10+10*time.Microsecond {
		t.Fatalf("ready %d, wakes at %v", q.Ready(12), q.Wake())
	}
	q.Receive(20, said(1000, codec.SyndromeACK))
	send(t, q, 21, transport.Resend, 1001)
}
