package sim

import (
	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/gobackn"
)

// TransportName names a transport.
type TransportName string

// The transports.
const (
	GoBackN TransportName = "go-back-n"
)

var transports = []TransportName{GoBackN}

// TransportNames are the names of all transports.
func TransportNames() (names []string) {
	for _, t := range transports {
		names = append(names, string(t))
	}
	return names
}

// UnmarshalText takes the name of a transport.
func (t *TransportName) UnmarshalText(b []byte) error { return choose(t, b, transports...) }

// Transport is how loss is recovered. A parameter that is 0 is left to the
// transport.
type Transport struct {
	Name     TransportName `yaml:"name"`
	Window   int           `yaml:"window"`    // go-back-n: packets in flight, 0 for no limit
	AckEvery int           `yaml:"ack-every"` // go-back-n: packets of one acknowledgement, where none is asked for
}

func (t *Transport) check(c *checker) {
	c.within(int64(t.Window), 0, 1<<23, "transport.window")
	c.within(int64(t.AckEvery), 0, 1<<16, "transport.ack-every")
}

// machines are the two ends of a direction of a queue pair.
func (t *Transport) machines(ask, answer transport.QP) (requester, transport.Machine) {
	return gobackn.NewRequester(ask, t.Window), gobackn.NewResponder(answer, t.AckEvery)
}

// packetsPerSecond is the rate that the sender advertises, 0 if it does not.
func (t *Transport) packetsPerSecond() uint32 { return 0 }
