//go:build !linux

package live

import "github.com/rdmadump/rdmadump/dissect"

// Capture gives the frames of some interfaces. It needs Linux.
type Capture struct{}

// Open fails with ErrSystem.
func Open(o Options) (*Capture, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return nil, &Error{Interface: o.Interfaces[0], Msg: ErrSystem.Error(), Err: ErrSystem}
}

// Next fails with ErrSystem.
func (*Capture) Next(*dissect.Frame) error { return ErrSystem }

// Interfaces tells of none.
func (*Capture) Interfaces() []Interface { return nil }

// Close does nothing.
func (*Capture) Close() error { return nil }
