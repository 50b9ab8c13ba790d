package live

import (
	"errors"
	"fmt"
	"time"

	"github.com/rdmadump/rdmadump/dissect"
)

// Any is the name that stands for all interfaces, those included that come
// later. Their frames are LinkLinuxSLL2.
const Any = "any"

// The kinds of fault that are met where a capture is opened. An Error wraps one
// of them, or what the operating system said.
var (
	ErrSystem      = errors.New("live capture needs Linux, on this system only files can be read")
	ErrRight       = errors.New("no right to capture (CAP_NET_RAW)")
	ErrNoInterface = errors.New("no such interface")
	ErrLink        = errors.New("frames of this interface cannot be read")
	ErrDown        = errors.New("the interface went down")
	ErrGone        = errors.New("the interface is gone")
)

// Options says what to capture. The zero value but for Interfaces is sound.
type Options struct {
	Interfaces  []string // names, or Any alone
	Filter      Filter
	SnapLen     int           // bytes of a frame that are kept; 0 is all, at most MaxSnapLen
	Ring        int           // bytes of memory for each interface; 0 is DefaultRing
	Promiscuous bool          // frames to other stations too
	Hardware    bool          // time stamps of the network card, where it gives them
	Duration    time.Duration // how long to capture; 0 is no limit

	// Waiting, if not nil, is called by Next each time before it waits for
	// frames, and a few times a second while it waits.
	Waiting func()

	// Stop, once closed, ends the capture as Duration does: what is in the ring
	// by then is given still, and then io.EOF.
	Stop <-chan struct{}
}

// Bounds of Options.
const (
	DefaultRing = 64 << 20
	MinRing     = 1 << 20
	MaxRing     = 2 << 30
	MaxSnapLen  = 256 << 10 // above any frame that a network carries
)

// Interface is one interface that is captured from.
type Interface struct {
	Name     string
	Link     dissect.LinkType
	SnapLen  uint32
	Drops    uint64 // frames that found no room in the ring so far
	Hardware bool   // its frames bear time stamps of the network card
}

// Error says what is wrong with an interface.
type Error struct {
	Interface string
	Msg       string // in words
	Hint      string // what helps, empty if nothing is known to
	Err       error
}

// Error gives one line: "eth7: no such interface (there is eth0)".
func (e *Error) Error() string {
	if e.Interface == "" {
		return e.Msg
	}
	return fmt.Sprintf("%s: %s", e.Interface, e.Msg)
}

// Unwrap gives the kind of the fault.
func (e *Error) Unwrap() error { return e.Err }

func (o *Options) snapLen() int {
	if o.SnapLen <= 0 {
		return MaxSnapLen
	}
	return min(o.SnapLen, MaxSnapLen)
}

func (o *Options) ring() int {
	if o.Ring <= 0 {
		return DefaultRing
	}
	return min(max(o.Ring, MinRing), MaxRing)
}

// check finds what is wrong with the options whatever interfaces there are.
func (o *Options) check() error {
	seen := map[string]bool{}
	for _, name := range o.Interfaces {
		switch {
		case name == Any && len(o.Interfaces) > 1:
			return &Error{Interface: name, Msg: "stands for all interfaces and goes with no other", Err: ErrNoInterface}
		case seen[name]:
			return &Error{Interface: name, Msg: "is named twice", Err: ErrNoInterface}
		}
		seen[name] = true
	}
	if len(o.Interfaces) == 0 {
		return &Error{Msg: "no interface is named", Err: ErrNoInterface}
	}
	if n := len(o.Filter.UDPPorts); n > maxPorts {
		return &Error{Msg: fmt.Sprintf("%d UDP ports are more than the %d that fit a filter", n, maxPorts), Err: ErrNoInterface}
	}
	return nil
}
