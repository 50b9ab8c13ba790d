package sim

import (
	"slices"
	"time"

	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/gobackn"
	"github.com/rdmadump/rdmadump/transport/windowless"
)

// TransportName names a transport.
type TransportName string

// The transports.
const (
	GoBackN    TransportName = "go-back-n"
	Windowless TransportName = "windowless"
)

var transports = []TransportName{GoBackN, Windowless}

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
	RTT     time.Duration `yaml:"rtt"`      // windowless: longest round trip
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
	of(Windowless, t.RTT != 0, "rtt")
	c.within(int64(t.Window), 0, 1<<23, "transport.window")
	c.within(int64(t.AckEvery), 0, 1<<16, "transport.ack-every")
	c.within(int64(t.CThresh), 0, 1<<23, "transport.c-thresh")
	c.within(int64(t.Hold), 0, 1<<23, "transport.hold")
}

// machines are the two ends of a direction of a queue pair, whose requester is at
// an end.
func (s *Scenario) machines(end int, ask, answer transport.QP) (requester, transport.Machine) {
	t := &s.Transport
	if t.Name == Windowless {
		p := s.windowless(end)
		return windowless.NewRequester(ask, p), windowless.NewResponder(answer, p)
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
