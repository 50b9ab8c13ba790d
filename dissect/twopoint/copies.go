package twopoint

import "github.com/rdmadump/rdmadump/psn"

// copies counts the transmissions of each PSN of a stream at one point. PSNs in
// front of the highest one were sent once unless they are in repeats or unseen,
// so that only trouble takes memory.
type copies struct {
	on      bool
	first   psn.Seq
	top     psn.Seq // one past the highest PSN
	unseen  psn.Set // passed over
	repeats map[psn.Seq]int32
	epochs  int64
	moved   psn.PSN // where a packet far from the top was, if stray
	stray   bool
	unsaid  []unsaid
}

const (
	// reach is how far from the top PSNs of the same epoch lie.
	reach = 1 << 16
	// coherent is how far apart two packets at a new place may be.
	coherent = 64
	// mostRepeats bounds repeats, and the spans of unseen.
	mostRepeats = 1 << 14
)

// number gives the place of a PSN in its stream and says which transmission of
// it this is, from 1.
func (c *copies) number(p psn.PSN) (psn.Seq, int32) {
	if !c.on {
		c.begin(p)
	}
	seq := psn.Unwrap(c.top, p)
	if seq > c.top+reach || seq < c.top-reach {
		// A queue pair that begins anew goes on from there; a stray does not.
		if far := p.Sub(c.moved); !c.stray || far < -coherent || far > coherent {
			c.stray, c.moved = true, p
			return seq, 1
		}
		c.begin(c.moved)
		seq = psn.Unwrap(c.top, p)
	}
	c.stray = false
	switch {
	case seq >= c.top:
		if seq > c.top {
			c.unseen.Insert(psn.Span{First: c.top, Last: seq - 1})
		}
		c.top = seq + 1
		c.prune()
		return seq, 1
	case seq < c.first:
		// Behind the first one seen: late at the start of the capture.
		c.unseen.Insert(psn.Span{First: seq + 1, Last: c.first - 1})
		c.first = seq
		return seq, 1
	case c.unseen.Remove(psn.Span{First: seq, Last: seq}) > 0:
		return seq, 1
	}
	if c.repeats == nil {
		c.repeats = map[psn.Seq]int32{}
	}
	n := max(c.repeats[seq], 1) + 1
	c.repeats[seq] = n
	return seq, n
}

// unsay takes back a transmission that was none, the sight with this place. last
// is the place of the last sight that was numbered.
func (c *copies) unsay(seq psn.Seq, place, last int64) {
	if n := c.repeats[seq]; n > 2 {
		c.repeats[seq] = n - 1
	} else {
		delete(c.repeats, seq)
	}
	const most = 16 // it happens to the first packets only
	if len(c.unsaid) < most {
		c.unsaid = append(c.unsaid, unsaid{seq, place, last})
	}
}

// unsaid is a transmission that was taken back; sights with places from after
// to last were numbered too high.
type unsaid struct {
	seq         psn.Seq
	after, last int64
}

// corrected is the number of a transmission without what was taken back since.
func (c *copies) corrected(s *sight) int {
	n := int(s.nth)
	for _, u := range c.unsaid {
		if u.seq == s.seq && s.place > u.after && s.place <= u.last {
			n--
		}
	}
	return n
}

func (c *copies) begin(p psn.PSN) {
	c.on = true
	c.epochs++
	c.first = psn.Seq(c.epochs<<32) + psn.Seq(p) // epochs never share a Seq
	c.top = c.first
	c.unseen.Clear()
	clear(c.repeats)
}

// prune forgets what is too far behind to be sent again.
func (c *copies) prune() {
	if len(c.repeats) > mostRepeats {
		for seq := range c.repeats {
			if seq < c.top-reach/2 {
				delete(c.repeats, seq)
			}
		}
		if len(c.repeats) > mostRepeats {
			clear(c.repeats)
		}
	}
	if spans := c.unseen.Spans(); len(spans) > mostRepeats {
		c.unseen.Remove(psn.Span{First: spans[0].First, Last: spans[len(spans)/2].Last})
	}
}
