package gobackn

import (
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/transporttest"
)

// pair is a requester and a responder that are joined without a link.
type pair struct {
	q    *Requester
	r    *Responder
	now  time.Duration
	n    int // packets carried
	lose int // of so many data packets one is lost; 0 for none
	p    transport.Packet
}

// newPair makes a pair that works for ever: as a message completes the next is
// posted.
func newPair(lose int, verbs ...transport.Verb) *pair {
	c := &pair{lose: lose}
	local, remote := transporttest.NewMemory(0, 0, 1<<16), transporttest.NewMemory(0, 0, 1<<16)
	remote.Receives = make([]uint64, 1<<20)
	qp := transport.QP{MTU: 1024, AckTimeout: time.Millisecond, RetryCount: 7, ReadLimit: 4}
	qp.Memory = remote
	c.r = NewResponder(qp, 16)
	i := 0
	post := func() {
		w := transport.WorkRequest{Verb: verbs[i%len(verbs)], Length: 16 << 10}
		if w.Verb > transport.Read {
			w.Length = 8
		}
		c.q.Post(w)
		i++
	}
	qp.Memory = local
	qp.Complete = func(c transport.Completion) {
		if c.Status == transport.Success {
			post()
		}
	}
	c.q = NewRequester(qp, 0)
	for range 8 {
		post()
	}
	return c
}

// step carries one packet, of each side in turn.
func (c *pair) step() {
	c.now += 100
	if c.q.Ready(c.now) != transport.Idle {
		c.q.Next(c.now, &c.p)
		if c.n++; c.lose == 0 || c.n%c.lose != 0 {
			c.r.Receive(c.now, &c.p)
		}
	}
	if c.r.Ready(c.now) != transport.Idle {
		c.r.Next(c.now, &c.p)
		c.n++
		c.q.Receive(c.now, &c.p)
	}
}

// all is every verb.
func all() []transport.Verb {
	var v []transport.Verb
	for i := transport.Send; i <= transport.FetchAdd; i++ {
		v = append(v, i)
	}
	return v
}

func TestPacketsDoNotAllocate(t *testing.T) {
	for _, lose := range []int{0, 50} {
		c := newPair(lose, all()...)
		for range 5000 {
			c.step()
		}
		before := c.n
		n := testing.AllocsPerRun(5, func() {
			for range 2000 {
				c.step()
			}
		})
		if n != 0 {
			t.Errorf("one in %d lost: %v allocations in 2000 steps", lose, n)
		}
		if c.n-before < 6000 {
			t.Errorf("%d packets in 12,000 steps", c.n-before)
		}
	}
}

func BenchmarkPackets(b *testing.B) {
	for _, tc := range []struct {
		name  string
		lose  int
		verbs []transport.Verb
	}{{"write", 0, []transport.Verb{transport.Write}}, {"read", 0, []transport.Verb{transport.Read}}, {"mixed", 0, all()}, {"write-lossy", 1000, []transport.Verb{transport.Write}}} {
		b.Run(tc.name, func(b *testing.B) {
			c := newPair(tc.lose, tc.verbs...)
			c.r.qp.Memory, c.q.qp.Memory = nil, nil
			b.ReportAllocs()
			for b.Loop() {
				c.step()
			}
			b.ReportMetric(float64(c.n)/b.Elapsed().Seconds(), "packets/s")
		})
	}
}
