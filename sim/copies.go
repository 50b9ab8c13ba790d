package sim

import "github.com/rdmadump/rdmadump/psn"

// copies counts the transmissions of each PSN of a stream. It remembers the last
// PSNs only: as many as are sent again, and no more than a bound.
type copies struct {
	newest psn.Seq
	begun  bool
	counts []uint16 // of the newest PSNs, by PSN modulo its length, a power of two
	sent   int64    // copies of the whole stream
	come   int64    // the ordinal of the newest copy that has arrived
}

const (
	fewestCopies = 256
	mostCopies   = 1 << 18
)

// send counts a copy and says which of its PSN it is. again says that the PSN,
// or a later one, was sent before.
func (c *copies) send(p psn.PSN) (n int, again bool) {
	c.sent++
	if !c.begun {
		c.begun, c.newest = true, psn.Seq(p)-1
		c.counts = make([]uint16, fewestCopies)
	}
	s := psn.Unwrap(c.newest, p)
	if s <= c.newest {
		return c.resend(s), true
	}
	if s-c.newest > mostCopies {
		c.newest = s - 1
		clear(c.counts)
	}
	for c.newest < s {
		if *c.at(c.newest + 1) > 1 { // what was sent again may be so once more
			c.grow()
		}
		c.newest++
		*c.at(c.newest) = 0
	}
	*c.at(s) = 1
	return 1, false
}

func (c *copies) resend(s psn.Seq) int {
	for s <= c.newest-psn.Seq(len(c.counts)) {
		if !c.grow() {
			return 2 // as far as is remembered
		}
	}
	n := c.at(s)
	*n = min(*n, 1<<16-2) + 1
	return int(*n)
}

func (c *copies) at(s psn.Seq) *uint16 { return &c.counts[int(s)&(len(c.counts)-1)] }

// grow doubles what is remembered. What was forgotten had been sent once.
func (c *copies) grow() bool {
	old := c.counts
	if len(old) >= mostCopies {
		return false
	}
	c.counts = make([]uint16, 2*len(old))
	for i := range 2 * len(old) {
		s := c.newest - psn.Seq(i)
		if i < len(old) {
			*c.at(s) = old[int(s)&(len(old)-1)]
		} else {
			*c.at(s) = 1
		}
	}
	return true
}
