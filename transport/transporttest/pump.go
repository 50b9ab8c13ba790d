package transporttest

import "github.com/rdmadump/rdmadump/transport"

// Requester is a machine to which work is posted.
type Requester interface {
	transport.Machine
	Post(transport.WorkRequest) error
}

// Pump carries packets between two machines without a link, to measure them:
// each step sends what is ready and delivers it at once, but for each Lose-th
// request packet; 0 loses nothing.
type Pump struct {
	Requester Requester
	Responder transport.Machine
	Open      func() bool // whether anything posted is not complete
	Lose      int

	now  transport.Time
	p    transport.Packet
	sent int
}

// Done carries everything until all that is posted is complete.
func (m *Pump) Done() {
	for m.Open() {
		m.now += 1000
		idle := true
		for range 16 {
			if m.Requester.Ready(m.now) == transport.Idle {
				break
			}
			idle = false
			m.Requester.Next(m.now, &m.p)
			if m.sent++; m.Lose == 0 || m.sent%m.Lose != 0 {
				m.Responder.Receive(m.now, &m.p)
			}
		}
		for m.Responder.Ready(m.now) != transport.Idle {
			idle = false
			m.Responder.Next(m.now, &m.p)
			m.Requester.Receive(m.now, &m.p)
		}
		if idle {
			m.now = min(m.Requester.Wake(), m.Responder.Wake())
		}
	}
}

// Work posts some of each verb and carries it; ordered says that the last of it
// is to Synchronise, as MP-RDMA can.
func (m *Pump) Work(ordered bool) error {
	for _, w := range [...]transport.WorkRequest{
		{Verb: transport.Write, Length: 64 << 10},
		{Verb: transport.Send, Length: 5000},
		{Verb: transport.Read, Length: 16 << 10},
		{Verb: transport.FetchAdd, Length: 8},
		{Verb: transport.WriteImm, Length: 3000, Synchronise: ordered},
	} {
		if err := m.Requester.Post(w); err != nil {
			return err
		}
	}
	m.Done()
	return nil
}
