package mprdma

import (
	"testing"

	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// pump carries packets between two machines without a link: each step sends
// what is ready and delivers it, but for each lose-th packet; 0 loses nothing.
type pump struct {
	q    *Requester
	r    *Responder
	now  transport.Time
	p    transport.Packet
	sent int
	lose int
}

func newPump(lose int) *pump {
	qp := transport.QP{MTU: 1024, RetryCount: 7, RNRRetryCount: 7, AckTimeout: 1_000_000}
	return &pump{q: NewRequester(qp, Config{}), r: NewResponder(qp, Config{}), lose: lose}
}

// done carries everything until all that is posted is complete.
func (m *pump) done() {
	for m.q.queue.Len() > 0 {
		m.now += 1000
		idle := true
		for range 16 {
			if m.q.Ready(m.now) == transport.Idle {
				break
			}
			idle = false
			m.q.Next(m.now, &m.p)
			if m.sent++; m.lose == 0 || m.sent%m.lose != 0 {
				m.r.Receive(m.now, &m.p)
			}
		}
		for m.r.Ready(m.now) != transport.Idle {
			idle = false
			m.r.Next(m.now, &m.p)
			m.q.Receive(m.now, &m.p)
		}
		if idle {
			m.now = m.q.Wake()
		}
	}
}

func (m *pump) work() {
	m.q.Post(transport.WorkRequest{Verb: transport.Write, Length: 64 << 10})
	m.q.Post(transport.WorkRequest{Verb: transport.Send, Length: 5000})
	m.q.Post(transport.WorkRequest{Verb: transport.Read, Length: 16 << 10})
	m.q.Post(transport.WorkRequest{Verb: transport.FetchAdd, Length: 8})
	m.q.Post(transport.WorkRequest{Verb: transport.WriteImm, Length: 3000, Synchronise: true})
	m.done()
}

func TestNoAllocation(t *testing.T) {
	for _, lose := range []int{0, 7} {
		m := newPump(lose)
		for range 200 {
			m.work()
		}
		if n := testing.AllocsPerRun(200, m.work); n != 0 {
			t.Errorf("losing each %d: %v allocations for each round of work", lose, n)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, bm := range []struct {
		name string
		lose int
	}{{"clean", 0}, {"1in100", 100}} {
		b.Run(bm.name, func(b *testing.B) {
			m := newPump(bm.lose)
			b.ReportAllocs()
			b.SetBytes(1024)
			for n := 0; n < b.N; n += 1024 {
				m.q.Post(transport.WorkRequest{Verb: transport.Write, Length: 1 << 20})
				m.done()
			}
		})
	}
}

// Whatever arrives, neither side panics, and what waits stays bounded.
func FuzzReceive(f *testing.F) {
	f.Add([]byte{0x06, 0, 1, 2, 3, 4, 5, 6, 0xfb, 0, 9, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		qp := transport.QP{MTU: 256, StartPSN: psn.Mask, RetryCount: 1, ReadLimit: 2, AckTimeout: 100_000}
		c := Config{Slots: 8}
		q, r := NewRequester(qp, c), NewResponder(qp, c)
		for i := range 20 {
			q.Post(transport.WorkRequest{Verb: transport.Verb(i % 8), Length: uint32(700 * (i % 3)), Synchronise: i%5 == 4})
		}
		var p, out transport.Packet
		now := transport.Time(0)
		for ; len(b) >= 8; b = b[8:] {
			raw := make([]byte, 12, 400)
			raw[0], raw[1] = b[0], b[1]&0x30
			raw[8], raw[9], raw[10], raw[11] = b[2]&0x30, 0xff+b[2]&1, 0xff+b[2]&1, b[3]
			for len(raw) < 12+int(b[4])+4 {
				raw = append(raw, b[5:8]...)
			}
			p.Decode(raw, len(raw))
			p.Path = uint16(b[2])
			for _, m := range [...]transport.Machine{q, r} {
				m.Receive(now, &p)
				if b[1]&1 != 0 && m.Ready(now) != transport.Idle {
					m.Next(now, &out)
				}
			}
			if q.Ready(now) == transport.Idle && q.Wake() <= now {
				t.Fatalf("idle at %v, and wakes at %v", now, q.Wake())
			}
			now += transport.Time(b[1]) * 1000
		}
		if n := r.reports.Len(); n > mostReports {
			t.Errorf("%d reports wait", n)
		}
		if n := q.grants.Len(); n > 200 {
			t.Errorf("%d grants", n)
		}
	})
}
