package windowless

import (
	"testing"

	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// pair drives both machines in turn, one packet a step, each arriving at once.
type pair struct {
	requester *Requester
	responder *Responder
	now       transport.Time
	posted    uint64
	packet    transport.Packet
	packets   int
	lose      int // each so many requests, 0 for none
}

func newPair(lose int) *pair {
	qp := queuePair(0)
	qp.MTU = 1024
	return &pair{requester: NewRequester(qp, params(Anchored)), responder: NewResponder(qp, params(Anchored)), lose: lose}
}

func (p *pair) step() {
	if p.requester.queue.End-p.requester.queue.Nxt < 8 {
		p.posted++
		if err := p.requester.Post(transport.WorkRequest{ID: p.posted, Verb: transport.Write, Length: 8 * 1024}); err != nil {
			panic(err)
		}
	}
	p.now += interval
	if p.requester.Ready(p.now) != transport.Idle {
		p.requester.Next(p.now, &p.packet)
		p.packets++
		if p.lose == 0 || p.packets%p.lose != 0 {
			p.responder.Receive(p.now, &p.packet)
		}
	}
	for p.responder.Ready(p.now) != transport.Idle {
		p.responder.Next(p.now, &p.packet)
		p.requester.Receive(p.now, &p.packet)
	}
}

func TestDoesNotAllocate(t *testing.T) {
	for _, lose := range []int{0, 50} {
		p := newPair(lose)
		for range 100_000 {
			p.step()
		}
		if n := testing.AllocsPerRun(10_000, p.step); n != 0 {
			t.Errorf("lost 1 of %d: %v allocations a packet", lose, n)
		}
		if p.requester.queue.Una < psn.Seq(p.packets/2) {
			t.Errorf("lost 1 of %d: %d of %d packets through", lose, p.requester.queue.Una, p.packets)
		}
	}
}

func BenchmarkPair(b *testing.B) {
	p := newPair(0)
	b.ReportAllocs()
	for b.Loop() {
		p.step()
	}
}
