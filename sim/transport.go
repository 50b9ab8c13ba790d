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

	Window   int `yaml:"window"`    // go-back-n: packets in flight, 0 for no limit; mp-rdma: those that it begins with
	AckEvery int `yaml:"ack-every"` // go-back-n: packets of one acknowledgement, where none is asked for

	Mode    Mode          `yaml:"mode"`     // windowless; the empty one is Anchored
	Rate    Rate          `yaml:"rate"`     // windowless: that each queue pair sends at, in bits of frames; 0 is its share of the port
	CThresh int           `yaml:"c-thresh"` // windowless: packets of one report
	TThresh time.Duration `yaml:"t-thresh"` // windowless: longest time between two
	Hold    int           `yaml:"hold"`     // windowless: packets that the receiver keeps
	RTT     time.Duration `yaml:"rtt"`      // windowless: longest round trip; mp-rdma: what is taken for it until one was measured

	Cap     int           `yaml:"cap"`      // irn: packets in flight (BDP-FC)
	RTOLow  time.Duration `yaml:"rto-low"`  // irn: the timer while few packets are in flight
	RTOHigh time.Duration `yaml:"rto-high"` // irn: and otherwise
	Few     int           `yaml:"few"`      // irn: how many are few

	Paths int     `yaml:"paths"` // mp-rdma: virtual paths, a UDP source port each
	Delta int     `yaml:"delta"` // mp-rdma: packets that an acknowledged one may be behind the newest
	Slots int     `yaml:"slots"` // mp-rdma: packets that the receiver has room for out of order
	Alpha float64 `yaml:"alpha"` // mp-rdma: how much longer or shorter a synchronise operation waits
}

func (t *Transport) check(c *checker, carrier Carrier) {
	c.want(slices.Contains(transports, t.Name), "transport.name", "%q: want %s", t.Name, list(transports))
	c.want(t.Name != MPRDMA || carrier == CarrierIPv4 || carrier == CarrierIPv6, "transport.name", "mp-rdma tells paths apart by UDP ports, which %s has not", carrier)
	for _, v := range []struct {
		key   string
		given bool
		of    []TransportName
	}{
		{"window", t.Window != 0, []TransportName{GoBackN, MPRDMA}},
		{"ack-every", t.AckEvery != 0, []TransportName{GoBackN}},
		{"mode", t.Mode != "", []TransportName{Windowless}},
		{"rate", t.Rate != 0, []TransportName{Windowless}},
		{"c-thresh", t.CThresh != 0, []TransportName{Windowless}},
		{"t-thresh", t.TThresh != 0, []TransportName{Windowless}},
		{"hold", t.Hold != 0, []TransportName{Windowless}},
		{"rtt", t.RTT != 0, []TransportName{Windowless, MPRDMA}},
		{"cap", t.Cap != 0, []TransportName{IRN}},
		{"rto-low", t.RTOLow != 0, []TransportName{IRN}},
		{"rto-high", t.RTOHigh != 0, []TransportName{IRN}},
		{"few", t.Few != 0, []TransportName{IRN}},
		{"paths", t.Paths != 0, []TransportName{MPRDMA}},
		{"delta", t.Delta != 0, []TransportName{MPRDMA}},
		{"slots", t.Slots != 0, []TransportName{MPRDMA}},
		{"alpha", t.Alpha != 0, []TransportName{MPRDMA}},
	} {
		c.want(!v.given || slices.Contains(v.of, t.Name), "transport."+v.key, "is for %s, not for %s", list(v.of), t.Name)
	}
	for _, v := range []struct {
		key   string
		value int
		most  int64
	}{
		{"window", t.Window, 1 << 23}, {"ack-every", t.AckEvery, 1 << 16}, {"c-thresh", t.CThresh, 1 << 23}, {"hold", t.Hold, 1 << 23},
		{"cap", t.Cap, 1 << 16}, {"few", t.Few, 1 << 16},
		{"paths", t.Paths, mostPaths}, {"delta", t.Delta, 1 << 16}, {"slots", t.Slots, 1 << 16},
	} {
		c.within(int64(v.value), 0, v.most, "transport."+v.key)
	}
	c.want(t.Alpha >= 0 && t.Alpha <= 1000, "transport.alpha", "%v: want 0 to 1000", t.Alpha)
	c.want(t.RTOLow >= 0 && t.RTOHigh >= 0 && (t.RTOHigh == 0 || t.RTOLow <= t.RTOHigh), "transport.rto-low", "want no more than rto-high")
}

// mostPaths is how many paths a queue pair of MP-RDMA may have.
const mostPaths = 256

// machines are the two ends of a direction of a queue pair, whose requester is at
// an end.
func (s *Scenario) machines(end int, ask, answer transport.QP) (requester, transport.Machine) {
	switch t := &s.Transport; t.Name {
	case Windowless:
		p := s.windowless(end)
		return windowless.NewRequester(ask, p), windowless.NewResponder(answer, p)
	case IRN:
		c := s.irn(end)
		sends := c
		if s.Fault == IRNOverCap {
			sends.Cap++
		}
		return irn.NewRequester(ask, sends), irn.NewResponder(answer, c)
	case MPRDMA:
		c := s.mprdma(s.random("paths " + number(end) + " " + number(int(ask.SrcQP))).Uint64())
		return mprdma.NewRequester(ask, c), mprdma.NewResponder(answer, c)
	default:
		return gobackn.NewRequester(ask, t.Window), gobackn.NewResponder(answer, t.AckEvery)
	}
}

// irn are the parameters of an IRN flow that an end sends.
func (s *Scenario) irn(end int) irn.Config {
	t, host := &s.Transport, &s.Sender
	if end == 1 {
		host = &s.Receiver
	}
	c := irn.Config{Cap: t.Cap, RTOLow: t.RTOLow, RTOHigh: t.RTOHigh, Few: t.Few}
	if c.Cap == 0 {
		c.Cap = irn.Cap(irn.BDP(int64(host.Rate), s.emptyTrip()), s.Pairs.MTU)
	}
	if c.RTOLow == 0 {
		c.RTOLow = max(100*time.Microsecond, s.roundTrip())
	}
	if c.RTOHigh == 0 {
		c.RTOHigh = max(320*time.Microsecond, c.RTOLow)
	}
	return c
}

// mprdma are the parameters of an MP-RDMA flow.
func (s *Scenario) mprdma(seed uint64) mprdma.Config {
	t := &s.Transport
	c := mprdma.Config{Paths: t.Paths, Window: float64(t.Window), Delta: t.Delta, Slots: t.Slots, Alpha: t.Alpha, RTT: t.RTT, Seed: seed}
	if c.Paths == 0 && len(s.Paths) > 0 {
		c.Paths = min(s.ways(), mostPaths)
	}
	if c.RTT == 0 {
		c.RTT = s.emptyTrip()
	}
	return c
}

// ways is how many paths the network has.
func (s *Scenario) ways() (n int) {
	for _, p := range s.paths() {
		n += max(p.Count, 1)
	}
	return n
}

// emptyTrip is how long a full packet and a report of it take over the longest
// path when nothing else is under way.
func (s *Scenario) emptyTrip() (longest time.Duration) {
	for _, p := range s.paths() {
		trip := taken(s.fullFrame(), s.Sender.Rate) + taken(report, s.Receiver.Rate)
		for i := range p.Links {
			l := &p.Links[i]
			trip += 2 * exact(l.Delay)
			if l.Rate > 0 {
				trip += taken(s.fullFrame()+report, l.Rate)
			}
		}
		longest = max(longest, trip.time())
	}
	return longest
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
