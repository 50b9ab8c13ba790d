package top

import (
	"errors"
	"strconv"
	"sync"
	"time"
)

// Speed is how fast a capture is replayed: 1 is as it was captured, 0 is as fast
// as it can be read.
type Speed float64

// String is the value of --speed.
func (s *Speed) String() string {
	if *s == 0 {
		return "max"
	}
	return strconv.FormatFloat(float64(*s), 'g', -1, 64)
}

// Type stands for the value in help.
func (s *Speed) Type() string { return "N" }

// Set takes a factor, or max.
func (s *Speed) Set(text string) error {
	if text == "max" {
		*s = 0
		return nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0 && n <= 1e9) {
		return errors.New("want a number above 0, such as 0.5 or 10, or max")
	}
	*s = Speed(n)
	return nil
}

// Pace holds the frames of a capture back until it is their time.
type Pace struct {
	speed Speed
	quit  <-chan struct{}

	mutex  sync.Mutex
	first  int64     // time of the first frame
	began  time.Time // when that was due
	newest int64     // time of a frame that was let go
	paused time.Time // since when, zero if it is not
	turn   chan struct{}
}

// NewPace replays at a speed. Frames are no longer held back once quit is closed.
func NewPace(speed Speed, quit <-chan struct{}) *Pace {
	return &Pace{speed: speed, quit: quit, turn: make(chan struct{}, 1)}
}

// tardy is how late a frame may be for the replay to catch up. What falls behind
// further, since it cannot be read as fast, goes on from there.
const tardy = 100 * time.Millisecond

// Wait returns when it is the time of a frame.
func (p *Pace) Wait(at int64) {
	for {
		wait := p.left(at)
		if wait <= 0 {
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-p.turn:
		case <-p.quit:
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// left is how long the frame has to wait.
func (p *Pace) left(at int64) time.Duration {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.first == 0 {
		p.first, p.began = at, time.Now()
	}
	wait := time.Duration(0)
	switch {
	case !p.paused.IsZero():
		wait = time.Hour // until there is a turn
	case p.speed > 0:
		wait = p.due(at)
		if wait < -tardy && at > p.newest {
			p.began = p.began.Add(-wait)
		}
	}
	if wait <= 0 {
		p.newest = max(p.newest, at)
	}
	return wait
}

// due is in how long it is the time of a frame.
func (p *Pace) due(at int64) time.Duration {
	const longest = 24 * 365 * time.Hour
	ahead := float64(at-p.first) / float64(p.speed)
	return time.Duration(min(ahead, float64(longest))) - time.Since(p.began)
}

// Pause holds all frames back, or lets them go on.
func (p *Pace) Pause(on bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	switch {
	case on && p.paused.IsZero():
		p.paused = time.Now()
	case !on && !p.paused.IsZero():
		p.began = p.began.Add(time.Since(p.paused))
		p.paused = time.Time{}
	}
	select {
	case p.turn <- struct{}{}:
	default:
	}
}

// Now is the present time of the replay, by the clock of the frames.
func (p *Pace) Now() int64 {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.speed == 0 || !p.paused.IsZero() {
		return p.newest
	}
	return max(p.newest, p.first+int64(float64(time.Since(p.began))*float64(p.speed)))
}
