package live

import (
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rdmadump/rdmadump/dissect"
)

const (
	// glance is how long Next waits at most before it looks at Stop and calls
	// Waiting again, in milliseconds.
	glance = 100

	// settle is when a frame of one interface may be given although another has
	// none: what the other one received before it has been handed over by then.
	settle = 2 * retire * time.Millisecond
)

// Capture gives the frames of some interfaces. It is not safe for concurrent
// use.
type Capture struct {
	options  Options
	rings    []*ring
	polls    []unix.PollFd
	frames   int
	merge    bool // frames of several rings are put in order of time
	deadline time.Time
	ended    time.Time // when the capture was to end, zero before
	counted  time.Time // when drops were asked for last
	err      error
}

// Open begins to capture. The error is an *Error.
func Open(o Options) (*Capture, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	c := &Capture{options: o}
	for _, name := range o.Interfaces {
		r, err := openRing(name, &o)
		if err != nil {
			_ = c.Close()
			return nil, err
		}
		c.rings = append(c.rings, r)
		c.polls = append(c.polls, unix.PollFd{Fd: int32(r.fd), Events: unix.POLLIN})
	}
	// Clocks of network cards have nothing to do with ours, nor with each other.
	c.merge = len(c.rings) > 1 && !slices.ContainsFunc(c.rings, func(r *ring) bool { return r.Hardware })
	if o.Duration > 0 {
		c.deadline = time.Now().Add(o.Duration)
	}
	return c, nil
}

// Next waits for a frame and reads it into f, and sets all of it but f.File.
// f.Data is in memory that is shared with the kernel: it is valid until the next
// call of Next or Close, and reading it later ends the program. The error is
// io.EOF at the end of the capture, else an *Error.
//
// Frames of several interfaces come in order of their times.
func (c *Capture) Next(f *dissect.Frame) error {
	if c.err != nil {
		return c.err
	}
	for {
		i := c.choose()
		if i < 0 {
			if c.err = c.wait(); c.err != nil {
				return c.err
			}
			continue
		}
		r := c.rings[i]
		if !c.ended.IsZero() && r.time() > c.ended.UnixNano() && !r.Hardware {
			c.err = io.EOF
			return c.err
		}
		r.take(f)
		c.frames++
		f.Number, f.Interface = c.frames, i
		if r.left == 0 {
			c.look()
		}
		return nil
	}
}

// choose is the ring whose frame is next, -1 if none is known yet.
func (c *Capture) choose() int {
	if !c.merge {
		return slices.IndexFunc(c.rings, (*ring).ready)
	}
	first, earliest, quiet := -1, int64(0), false
	for i, r := range c.rings {
		switch {
		case !r.ready():
			quiet = true
		case first < 0 || r.time() < earliest:
			first, earliest = i, r.time()
		}
	}
	if quiet && first >= 0 && time.Now().UnixNano()-earliest < int64(settle) {
		return -1
	}
	return first
}

// look finds out whether the capture is to end, and asks for drops now and then.
func (c *Capture) look() {
	now := time.Now()
	if now.Sub(c.counted) > time.Second {
		c.counted = now
		for _, r := range c.rings {
			r.count()
		}
	}
	if !c.ended.IsZero() {
		return
	}
	select {
	case <-c.options.Stop:
		c.ended = now
	default:
		if !c.deadline.IsZero() && now.After(c.deadline) {
			c.ended = c.deadline
		}
	}
}

// wait waits a while for frames. The error says that none come any more.
func (c *Capture) wait() error {
	c.look()
	if !c.ended.IsZero() && time.Since(c.ended) > settle {
		return io.EOF
	}
	for _, r := range c.rings {
		if r.fault != nil && time.Since(r.since) > settle {
			return r.fault
		}
	}
	if c.options.Waiting != nil {
		c.options.Waiting()
	}
	if slices.ContainsFunc(c.rings, func(r *ring) bool { return r.fault != nil || c.merge && r.left > 0 }) || !c.ended.IsZero() {
		time.Sleep(retire * time.Millisecond / 4)
		return nil
	}
	n, err := unix.Poll(c.polls, c.patience())
	if err != nil && !errors.Is(err, unix.EINTR) {
		return &Error{Interface: c.rings[0].Name, Msg: err.Error(), Err: err}
	}
	for i := range c.polls {
		if n > 0 && c.polls[i].Revents&^unix.POLLIN != 0 {
			c.rings[i].look()
		}
	}
	return nil
}

// patience is how long to wait, in milliseconds.
func (c *Capture) patience() int {
	if c.deadline.IsZero() {
		return glance
	}
	return int(min(max(time.Until(c.deadline).Milliseconds()+1, 0), glance))
}

// Interfaces tells of each interface what is known so far.
func (c *Capture) Interfaces() []Interface {
	out := make([]Interface, len(c.rings))
	for i, r := range c.rings {
		r.count()
		r.Interface.Drops = r.drops
		out[i] = r.Interface
	}
	return out
}

// Close ends the capture. Interfaces may still be called.
func (c *Capture) Close() error {
	for _, r := range c.rings {
		r.close()
	}
	if c.err == nil {
		c.err = os.ErrClosed
	}
	return nil
}
