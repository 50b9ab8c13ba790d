package capture

import (
	"errors"
	"io"
	"strings"

	"github.com/rdmadump/rdmadump/capture/live"
	"github.com/rdmadump/rdmadump/dissect"
)

// openLive begins to capture from the interfaces of s.Live.
func (s Source) openLive() (*Reader, error) {
	o := *s.Live
	o.Waiting, o.Stop = s.Waiting, s.Stop
	c, err := live.Open(o)
	if err != nil {
		return nil, liveError(err)
	}
	r := &Reader{name: strings.Join(o.Interfaces, ","), format: "live", live: c, opened: true}
	r.interfaces = make([]iface, len(o.Interfaces))
	r.tellLive()
	return r, nil
}

// nextFrame is Next of a live capture.
func (r *Reader) nextFrame(f *dissect.Frame) error {
	err := r.live.Next(f)
	if err == nil {
		r.frames++
		return nil
	}
	if err != io.EOF {
		err = liveError(err)
	}
	r.err = err
	return err
}

// tellLive takes over what is known of the interfaces.
func (r *Reader) tellLive() {
	for i, in := range r.live.Interfaces() {
		r.interfaces[i].Interface = Interface{Name: in.Name, Link: in.Link, SnapLen: in.SnapLen}
		r.interfaces[i].osDrop = in.Drops
	}
}

// liveError is what package live says, as an error of a capture.
func liveError(err error) *Error {
	var e *live.Error
	if errors.As(err, &e) {
		return &Error{File: e.Interface, Offset: noOffset, Msg: e.Msg, Err: err}
	}
	return fileError("", err)
}
