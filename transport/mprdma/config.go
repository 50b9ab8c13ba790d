package mprdma

import (
	"time"

	"github.com/rdmadump/rdmadump/transport"
)

// Config is what MP-RDMA adds to the set-up of a queue pair. The zero Config
// has the paper's values, but for RTT, Seed and Probe.
type Config struct {
	Paths  int            // how many, from 0 on; 0 for 4
	Window float64        // initial window in packets, 0 for 16
	Delta  int            // how far behind the newest an acknowledged packet may be, 0 for 32
	Alpha  float64        // by how much a synchronise operation is delayed more or less, 0 for 1
	Slots  int            // L, of the receiver, 0 for 64
	RTT    transport.Time // what is taken for the round-trip time until one was measured, 0 for 24 us
	Probe  float64        // how likely a new path is probed in a round-trip time; 0 for 0.01, less for never
	Seed   uint64         // of the choice of paths
}

func (c Config) withDefaults() Config {
	if c.Paths == 0 {
		c.Paths = 4
	}
	if c.Window == 0 {
		c.Window = 16
	}
	if c.Delta == 0 {
		c.Delta = 32
	}
	if c.Alpha == 0 {
		c.Alpha = 1
	}
	if c.Slots == 0 {
		c.Slots = 64
	}
	if c.RTT == 0 {
		c.RTT = 24 * time.Microsecond
	}
	if c.Probe == 0 {
		c.Probe = 0.01
	}
	return c
}
