//go:build !linux

package inject

import "context"

// Interface is a network interface that frames are sent on. There is none on
// this system.
type Interface struct{ name string }

// Open returns an *Error that wraps ErrPlatform.
func Open(name string) (*Interface, error) {
	i := &Interface{name}
	return nil, i.fault()
}

// Send returns an *Error that wraps ErrPlatform.
func (i *Interface) Send(context.Context, []byte) error { return i.fault() }

func (i *Interface) fault() error {
	return &Error{Interface: i.name, Msg: ErrPlatform.Error(), Err: ErrPlatform}
}

// Close does nothing.
func (i *Interface) Close() {}
