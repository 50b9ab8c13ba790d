package inject

import "time"

// Pace says when frames are sent. The zero value keeps the times of the capture.
type Pace struct {
	Rate     float64 // bits per second, of frames from the link header to their end; 0 without
	PPS      float64 // frames per second; 0 without
	TopSpeed bool    // as fast as the interface takes them
}

// Clock tells when each frame is due.
type Clock struct {
	pace   Pace
	due    time.Duration // when the next frame is, by rate
	base   time.Duration // when this round began
	first  int64         // time of its first frame
	begun  bool
	frames int64
}

// NewClock starts a clock.
func NewClock(p Pace) *Clock { return &Clock{pace: p} }

// Round begins the capture anew, where the last round ended.
func (c *Clock) Round() { c.begun = false }

// Due is when a frame is to be sent, since the start. at is its time in the
// capture, bytes its length. It never lies before that of the frame before.
func (c *Clock) Due(at int64, bytes int) time.Duration {
	now := c.due
	switch {
	case c.pace.TopSpeed:
		return 0
	case c.pace.PPS > 0:
		now = time.Duration(float64(c.frames) * 1e9 / c.pace.PPS)
		c.frames++
	case c.pace.Rate > 0:
		c.frames += int64(bytes)
		c.due = time.Duration(float64(c.frames) * 8e9 / c.pace.Rate)
		return now
	default:
		if !c.begun {
			c.begun, c.first, c.base = true, at, c.due
		}
		now = max(c.base+time.Duration(max(at-c.first, 0)), c.due)
	}
	c.due = now
	return now
}
