package sim

import (
	"slices"
	"time"

	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/gobackn"
	"github.com/rdmadump/rdmadump/transport/irn"
	"github.com/rdmadump/rdmadump/transport/mprdma"
	"github.com/rdmadump/rdmadump/transport/windowless"
)

// TransportName names a transport.
type TransportName string

// The transports.
const (
	GoBackN    TransportName = "go-back-n"
	IRN        TransportName = "irn"
	Windowless TransportName = "windowless"
	MPRDMA     TransportName = "mp-rdma"
)

var transports = []TransportName{GoBackN, IRN, Windowless, MPRDMA}

// TransportNames are the names of all transports.
func TransportNames() (names []string) {
	for _, t := range transports {
		names = append(names, string(t))
	}
	return names
}

// UnmarshalText takes the name of a transport.
func (t *TransportName) UnmarshalText(b []byte) error { return choose(t, b, transports...) }

// Mode is how the draft of windowless is taken.
type Mode string

// The modes.
const (
	Anchored Mode = "anchored" // with a cumulative point that is kept
	Literal  Mode = "literal"  // word for word
)

// UnmarshalText takes the name of a mode.
func (m *Mode) UnmarshalText(b []byte) error { return choose(m, b, Anchored, Literal) }

// Transport is how loss is recovered. A parameter that is 0 gets a value that
// suits the rest of the scenario; one of another transport is a fault.
type Transport struct {
	Name TransportName `yaml:"name"`

	Window   int `yaml:"window"`    // go-back-n: packets in flight, 0 for no limit
	AckEvery int `yaml:"ack-every"` // go-back-n: packets of one acknowledgement, where none is asked for

	Mode    Mode          `yaml:"mode"`     // windowless; the empty one is Anchored
	Rate    Rate          `yaml:"rate"`     // windowless: that each queue pair sends at, in bits of frames; 0 is its share of the port
	CThresh int           `yaml:"c-thresh"` // windowless: packets of one report
	TThresh time.Duration `yaml:"t-thresh"` // windowless: longest time between two
	Hold    int           `yaml:"hold"`     // windowless: packets that the receiver keeps
	RTT     time.Duration `yaml:"rtt"`      // windowless: longest round trip; mp-rdma: the one taken until one was measured

	Cap     int           `yaml:"cap"`      // irn: packets in flight at most, the size of its bitmaps
	RTOLow  time.Duration `yaml:"rto-low"`  // irn: the timer while few packets are in flight
	RTOHigh time.Duration `yaml:"rto-high"` // irn: the timer otherwise
	Few     int           `yaml:"few"`      // irn: how many are few

	Paths         int `yaml:"virtual-paths"`  // mp-rdma: UDP source ports that a flow is spread over
	InitialWindow int `yaml:"initial-window"` // mp-rdma: packets
	Delta         int `yaml:"delta"`          // mp-rdma: by how many packets a path may be behind
	Slots         int `yaml:"slots"`          // mp-rdma: packets that the receiver keeps track of
}

func (t *Transport) check(c *checker) {
	c.want(slices.Contains(transports, t.Name), "transport.name", "%q: want %s", t.Name, list(transports))
	of := func(name TransportName, given bool, key string) {
		c.want(!given || t.Name == name, "transport."+key, "is for %s, not for %s", name, t.Name)
	}
	of(GoBackN, t.Window != 0, "window")
	of(GoBackN, t.AckEvery != 0, "ack-every")
	of(Windowless, t.Mode != "", "mode")
	of(Windowless, t.Rate != 0, "rate")
	of(Windowless, t.CThresh != 0, "c-thresh")
	of(Windowless, t.TThresh != 0, "t-thresh")
	of(Windowless, t.Hold != 0, "hold")
	c.want(t.RTT == 0 || t.Name == Windowless || t.Name == MPRDMA, "transport.rtt", "is for %s and %s, not for %s", Windowless, MPRDMA, t.Name)
	of(IRN, t.Cap != 0, "cap")
	of(IRN, t.RTOLow != 0, "rto-low")
	of(IRN, t.RTOHigh != 0, "rto-high")
	of(IRN, t.Few != 0, "few")
	of(MPRDMA, t.Paths != 0, "virtual-paths")
	of(MPRDMA, t.InitialWindow != 0, "initial-window")
	of(MPRDMA, t.Delta != 0, "delta")
	of(MPRDMA, t.Slots != 0, "slots")
	c.within(int64(t.Window), 0, 1<<23, "transport.window")
	c.within(int64(t.AckEvery), 0, 1<<16, "transport.ack-every")
	c.within(int64(t.CThresh), 0, 1<<23, "transport.c-thresh")
	c.within(int64(t.Hold), 0, 1<<23, "transport.hold")
	c.within(int64(t.RTT), 0, int64(time.Minute), "transport.rtt")
	c.within(int64(t.Cap), 0, 1<<16, "transport.cap")
	c.within(int64(t.RTOLow), 0, int64(time.Minute), "transport.rto-low")
	c.within(int64(t.RTOHigh), 0, int64(time.Minute), "transport.rto-high")
	c.within(int64(t.Few), 0, 1<<16, "transport.few")
	c.within(int64(t.Paths), 0, 1<<10, "transport.virtual-paths")
	c.within(int64(t.InitialWindow), 0, 1<<16, "transport.initial-window")
	c.within(int64(t.Delta), 0, 1<<16, "transport.delta")
	c.within(int64(t.Slots), 0, 1<<16, "transport.slots")
}

// machines are the two ends of a direction of a queue pair, whose requester is at
// an end.
func (s *Scenario) machines(end int, ask, answer transport.QP) (requester, transport.Machine) {
	t := &s.Transport
	switch t.Name {
	case Windowless:
		p := s.windowless(end)
		return windowless.NewRequester(ask, p), windowless.NewResponder(answer, p)
	case IRN:
		p := irn.Config{Cap: t.Cap, RTOLow: t.RTOLow, RTOHigh: t.RTOHigh, Few: t.Few}
		return irn.NewRequester(ask, p), irn.NewResponder(answer, p)
	case MPRDMA:
		p := mprdma.Config{Paths: t.Paths, Window: float64(t.InitialWindow), Delta: t.Delta, Slots: t.Slots, RTT: t.RTT, Seed: s.Seed + uint64(ask.DestQP)}
		if p.RTT == 0 {
			p.RTT = s.roundTrip()
		}
		return mprdma.NewRequester(ask, p), mprdma.NewResponder(answer, p)
	}
	return gobackn.NewRequester(ask, t.Window), gobackn.NewResponder(answer, t.AckEvery)
}

// windowless are the parameters of a windowless flow that an end sends.
func (s *Scenario) windowless(end int) windowless.Params {
	t, host := &s.Transport, &s.Sender
	if end == 1 {
		host = &s.Receiver
	}
	rate := t.Rate
	if rate == 0 {
		rate = host.Rate / Rate(s.Pairs.Count)
	}
	p := windowless.Params{Mode: windowless.Anchored, Interval: max(taken(s.fullFrame(), rate).time(), 1), RTT: t.RTT, Hold: t.Hold}
	if t.Mode == Literal {
		p.Mode = windowless.Literal
	}
	if p.RTT == 0 {
		p.RTT = s.roundTrip()
	}
	p.DefaultThresholds()
	if t.CThresh > 0 {
		p.Packets, p.Period = t.CThresh, 2*time.Duration(t.CThresh)*p.Interval
	}
	if t.TThresh > 0 {
		p.Period = t.TThresh
	}
	return p
}

// Room for everything around the payload of a full packet, and for a report,
// whatever the carrier.
const (
	headers = 114
	report  = 160
)

// fullFrame is the length of a frame with as much payload as the MTU allows.
func (s *Scenario) fullFrame() int { return s.Pairs.MTU + headers }

// roundTrip is the longest time that a full packet and a report of it take: over
// the longest path, behind queues that are full and queue pairs that were first.
func (s *Scenario) roundTrip() (longest time.Duration) {
	for _, p := range s.paths() {
		trip := taken(s.fullFrame(), s.Sender.Rate) + taken(s.Pairs.Count*report, s.Receiver.Rate)
		for i := range p.Links {
			l := &p.Links[i]
			trip += 2 * exact(l.Delay)
			if l.Rate > 0 {
				trip += taken(int(l.Queue.Max)+s.fullFrame()+report, l.Rate)
			}
			for _, late := range slices.Concat(l.There.Reorder, l.Back.Reorder) {
				trip += exact(late.By)
			}
		}
		longest = max(longest, trip.time())
	}
	return longest
}

// packetsPerSecond is the rate that an end advertises, 0 if its transport has
// none.
func (s *Scenario) packetsPerSecond(end int) uint32 {
	if s.Transport.Name != Windowless {
		return 0
	}
	return uint32(time.Second / s.windowless(end).Interval)
}
