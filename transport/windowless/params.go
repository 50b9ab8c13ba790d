package windowless

import (
	"time"

	"github.com/rdmadump/rdmadump/transport"
)

// Mode says how the draft is taken.
type Mode uint8

// The modes.
const (
	Anchored Mode = iota // with a cumulative point that is kept
	Literal              // word for word
)

// String is the mode as scenarios spell it.
func (m Mode) String() string { return [...]string{"anchored", "literal"}[m] }

// Params are what both ends agree on when they connect.
type Params struct {
	Mode Mode

	// Interval is the time from one packet of the sender to its next: the
	// preset rate turned over.
	Interval time.Duration

	// RTT is the longest time from a packet's departure to the arrival of a
	// report about it that was made as soon as it arrived.
	RTT time.Duration

	// Packets and Period are the thresholds C_thresh and T_thresh of the draft.
	// DefaultThresholds gives them in proportion to the rate.
	Packets int
	Period  time.Duration

	// Hold is how many packets the receiver keeps that it cannot execute yet,
	// 0 for 65,536. It drops what comes beyond.
	Hold int
}

// DefaultThresholds sets Packets to what a quarter of a round trip brings at
// the sender's rate, at least one, and Period to twice the time they take.
func (p *Params) DefaultThresholds() {
	p.Packets = max(1, int(p.RTT/(4*max(p.Interval, 1))))
	p.Period = 2 * time.Duration(p.Packets) * max(p.Interval, 1)
}

func (p *Params) hold() int {
	if p.Hold == 0 {
		return 1 << 16
	}
	return p.Hold
}

var (
	_ transport.Machine = (*Requester)(nil)
	_ transport.Machine = (*Responder)(nil)
)
