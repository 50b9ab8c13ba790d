package twopoint

import (
	"math"

	"github.com/rdmadump/rdmadump/dissect"
)

// Window is a stretch of a capture, by its own clock: From is in it, To is not. A
// copy counts if it passed the first of two points in the stretch of that one's
// capture.
type Window struct{ From, To int64 }

// stretch is how the clocks of two captures differ.
type stretch struct {
	points [2]int
	line   line
}

// Windows gives the stretch from one point in time to another, by the clock of the
// capture with the index of, as the clocks of all captures show it. nil is from the
// beginning, or to the end. A capture whose clock cannot be compared is taken to
// agree.
func (c *Comparison) Windows(of int, from, to *dissect.Time) []Window {
	all := make([]Window, len(c.Captures))
	known := make([]bool, len(all))
	all[of], known[of] = Window{math.MinInt64, math.MaxInt64}, true
	if from != nil {
		all[of].From = int64(*from)
	}
	if to != nil {
		all[of].To = int64(*to)
	}
	for reached := []int{of}; len(reached) > 0; reached = reached[1:] {
		for i := range c.between {
			s := &c.between[i]
			for k, at := range s.points {
				other := s.points[1-k]
				if at == reached[0] && !known[other] && s.line.basis != NoBasis {
					all[other] = Window{s.line.across(all[at].From, k), s.line.across(all[at].To, k)}
					known[other] = true
					reached = append(reached, other)
				}
			}
		}
	}
	for i := range all {
		if !known[i] {
			all[i] = all[of]
		}
	}
	return all
}

// across is the time that the other clock shows when the clock of point k shows t.
func (l *line) across(t int64, k int) int64 {
	if t == math.MinInt64 || t == math.MaxInt64 {
		return t
	}
	if k == 0 {
		return t + l.at(t)
	}
	return t - l.at(t-l.at(t)) // the offset hardly changes while the clocks run apart by it
}

// selects reports whether some copies may not count.
func (c *Config) selects() bool { return c.Selection != nil || c.Windows != nil }

// phase says where a time of a capture lies: before its window, in it, behind it.
func (c *Config) phase(file int, time int64) int8 {
	switch {
	case c.Windows == nil:
		return 0
	case time < c.Windows[file].From:
		return -1
	case time >= c.Windows[file].To:
		return 1
	}
	return 0
}

// between reports whether a packet is from or to a selected host.
func (c *Config) between(p *dissect.Packet) bool {
	return c.Selection == nil || c.Selection.TakesHosts(p)
}
