package inject

import "errors"

// Why an interface takes no frames. An Error wraps one of them, or what the
// operating system said.
var (
	ErrPlatform  = errors.New("frames can be sent on Linux only")
	ErrInterface = errors.New("no such interface")
	ErrRight     = errors.New("no right to send frames (CAP_NET_RAW)")
	ErrLink      = errors.New("wrong link type")
	ErrLength    = errors.New("wrong length of a frame")
)

// Error says what is wrong with an interface, or with a frame for it.
type Error struct {
	Interface string
	Msg       string
	Hint      string // what to do about it; empty where nothing is known
	Err       error
}

// Error gives "eth0: no right to send frames (CAP_NET_RAW)".
func (e *Error) Error() string { return e.Interface + ": " + e.Msg }

// Unwrap gives the kind of the fault.
func (e *Error) Unwrap() error { return e.Err }
