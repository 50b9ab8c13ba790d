package sim

import (
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/transport"
)

// Capture takes what one capture point sees.
type Capture struct {
	At      Tap
	SnapLen int // bytes of a frame that it wants, 0 for all
	Frame   func(*dissect.Frame) error
}

// tap is a Capture at work.
type tap struct {
	Capture
	frame dissect.Frame
}

// capture shows a packet to a capture point.
func (r *run) capture(t *tap, f *flight, at transport.Time) {
	t.frame.Data = f.frame
	if t.SnapLen > 0 && len(f.frame) > t.SnapLen {
		t.frame.Data = f.frame[:t.SnapLen]
	}
	t.frame.WireLen = f.wire
	t.frame.Time = r.start + int64(at)
	t.frame.Number++
	if err := t.Frame(&t.frame); err != nil && r.err == nil {
		r.err = err
	}
}

// taps puts the capture points in their places.
func (r *run) taps(captures []Capture) {
	for _, c := range captures {
		t := &tap{Capture: c, frame: dissect.Frame{Link: r.s.link()}}
		if c.SnapLen == 0 || c.SnapLen > r.snap {
			r.snap = c.SnapLen
			if c.SnapLen == 0 {
				r.snap = 1 << 30
			}
		}
		switch c.At {
		case "sender":
			r.hosts[0].taps = append(r.hosts[0].taps, t)
			r.hosts[1].watched = true
		case "receiver":
			r.hosts[1].taps = append(r.hosts[1].taps, t)
			r.hosts[0].watched = true
		}
		for _, p := range r.paths {
			for i, n := range p.there {
				if n.Name == string(c.At) {
					n.behind = append(n.behind, t)
					back := p.back[len(p.back)-1-i]
					back.before = append(back.before, t)
					r.hosts[0].watched, r.hosts[1].watched = true, true
				}
			}
		}
	}
}
