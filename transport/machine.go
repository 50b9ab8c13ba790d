package transport

import (
	"math"
	"time"

	"github.com/rdmadump/rdmadump/codec"
)

// Time is a moment, in nanoseconds since the run began.
type Time = time.Duration

// Never is the moment that does not come.
const Never Time = math.MaxInt64

// Packet is a transport packet with what its carrier tells of it. The headers
// and the payload are those of codec.Packet; Pad and ICRC stay nil, since both
// are made when the packet is written. BTH.PadCnt says how much pad follows.
type Packet struct {
	codec.Packet

	// Path is the virtual path of MP-RDMA that the packet takes; zero for the
	// other transports. The carrier shows it as the UDP source port.
	Path uint16

	// CE reports that a switch has marked the packet (Congestion Experienced).
	CE bool
}

// Machine is one side of a queue pair: a requester or a responder.
//
// After each call of Receive or Next, and at Wake, the driver asks Ready again.
// Time does not run backwards from call to call.
type Machine interface {
	// Receive takes a packet that arrived intact. What p points to may be kept
	// until the message that it belongs to is complete, p itself may not.
	Receive(now Time, p *Packet)

	// Ready runs the timers that are due and says what Next would give.
	Ready(now Time) Ready

	// Next fills p with the packet to send next. It may be called only when
	// Ready, asked at the same moment, said that there is one. All of p is
	// overwritten.
	Next(now Time, p *Packet)

	// Wake is the next moment at which Ready can change though no packet
	// arrives: a timer, or the next turn of a paced sender. It is Never when
	// there is none, and may be in the past when a packet is ready.
	Wake() Time
}

// Ready is what a machine has to send.
type Ready uint8

// What can be ready, in the order in which a shared port serves it by default.
const (
	Idle   Ready = iota // nothing
	Fresh               // a packet that was not sent before
	Resend              // a retransmission
	Reply               // an acknowledgement or a READ response
)
