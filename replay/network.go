package replay

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/sim"
)

// Network is what happens to packets. The zero value does nothing.
type Network struct {
	About string `yaml:"about"` // one line
	Seed  uint64 `yaml:"seed"`
	There Way    `yaml:"there"` // to the end that answers: requests
	Back  Way    `yaml:"back"`  // to the end that asks: READ responses, acknowledgements, CNPs
}

// Way is one direction. A packet that is picked under several names has all of it
// done to it; one that is lost is lost.
type Way struct {
	Loss      []Pick `yaml:"loss"`
	Damage    []Pick `yaml:"damage"`    // a bit is wrong, and with it the ICRC
	Duplicate []Pick `yaml:"duplicate"` // the packet arrives twice
	Mark      []Pick `yaml:"mark"`      // CE, where its sender takes part in ECN
	Reorder   []Late `yaml:"reorder"`
}

// Pick chooses packets as in a scenario, and by where they come from and go to.
// Packets that it is not about are not counted either.
type Pick struct {
	sim.Pick `yaml:",inline"`
	QPN      []uint32 `yaml:"qpn"` // destination queue pairs
	Src      []Host   `yaml:"src"` // addresses or networks
	Dst      []Host   `yaml:"dst"`
}

// Late holds packets back, so that later ones overtake them.
type Late struct {
	Pick `yaml:",inline"`
	By   time.Duration `yaml:"by"`
}

// Host is an address, a network, or a LID.
type Host struct{ dissect.Host }

// UnmarshalText takes what dissect.ParseHost takes.
func (h *Host) UnmarshalText(b []byte) (err error) {
	h.Host, err = dissect.ParseHost(string(b))
	return err
}

// Parse reads a network from YAML. name stands for it in messages. The error is a
// *sim.Fault that names the line and the key.
func Parse(text []byte, name string) (*Network, error) {
	n := &Network{Seed: 1}
	return n, sim.Decode(text, name, n, n.check)
}

// ParsePick reads one pick, as a flag has it: a probability, or what stands
// between the braces of {model: burst, first: 3, count: 2}.
func ParsePick(text string) (Pick, error) {
	var p Pick
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		p.P = n
		if f := p.check(""); f != nil {
			return p, errors.New("want a probability above 0, up to 1")
		}
		return p, nil
	}
	return p, sim.Decode([]byte(text), "", &p, func() *sim.Fault { return p.check("") })
}

// Check finds what makes no sense. The error is a *sim.Fault.
func (n *Network) Check() error {
	if f := n.check(); f != nil {
		return f
	}
	return nil
}

func (n *Network) check() *sim.Fault {
	for _, way := range []struct {
		*Way
		key string
	}{{&n.There, "there"}, {&n.Back, "back"}} {
		for _, picks := range []struct {
			name string
			all  []Pick
		}{{"loss", way.Loss}, {"damage", way.Damage}, {"duplicate", way.Duplicate}, {"mark", way.Mark}} {
			for i := range picks.all {
				if f := picks.all[i].check(fmt.Sprintf("%s.%s[%d]", way.key, picks.name, i)); f != nil {
					return f
				}
			}
		}
		for i := range way.Reorder {
			key := fmt.Sprintf("%s.reorder[%d]", way.key, i)
			if f := way.Reorder[i].check(key); f != nil {
				return f
			}
			if way.Reorder[i].By <= 0 {
				return &sim.Fault{Key: key + ".by", Msg: "want how long the packets are held back"}
			}
		}
	}
	return nil
}

func (p *Pick) check(key string) *sim.Fault {
	if p.QP != 0 {
		return &sim.Fault{Key: key + ".qp", Msg: "counts the queue pairs of a scenario; a capture has qpn"}
	}
	for i, n := range p.QPN {
		if n > psn.Mask {
			return &sim.Fault{Key: fmt.Sprintf("%s.qpn[%d]", key, i), Msg: fmt.Sprintf("%d: want 0 to %d", n, psn.Mask)}
		}
	}
	return p.Pick.Check(key)
}
