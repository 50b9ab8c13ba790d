package irn

import (
	"time"

	"github.com/rdmadump/rdmadump/transport"
)

// Config is what IRN adds to the set-up of a queue pair, the same at both ends.
// The zero Config has the paper's values.
type Config struct {
	Cap     int           // BDP-FC: packets that may be in flight, 0 for 109, the paper's 120,000 bytes at 1 KiB
	RTOLow  time.Duration // the timer while few packets are in flight, 0 for 100 us
	RTOHigh time.Duration // the timer otherwise, 0 for 320 us
	Few     int           // how many are few, 0 for 3
}

func (c Config) withDefaults() Config {
	if c.Cap == 0 {
		c.Cap = 109
	}
	if c.RTOLow == 0 {
		c.RTOLow = 100 * time.Microsecond
	}
	if c.RTOHigh == 0 {
		c.RTOHigh = 320 * time.Microsecond
	}
	if c.Few == 0 {
		c.Few = 3
	}
	return c
}

// patience is how long a requester waits for READ responses: the time that all
// of the responder's retries can take, and one more for the way.
func (c *Config) patience(qp *transport.QP) time.Duration {
	return time.Duration(qp.RetryCount+2) * c.RTOHigh
}
