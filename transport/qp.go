package transport

import (
	"time"

	"github.com/rdmadump/rdmadump/psn"
)

// QP is what one direction of a queue pair is set up with, the same at the
// requester and at the responder.
type QP struct {
	DestQP    uint32 // of the responder
	SrcQP     uint32 // of the requester; what it receives carries it as DestQP
	PKey      uint16
	MTU       int // path MTU in bytes, 256 to 4096
	StartPSN  psn.PSN
	ReadLimit int // READs and atomics that may be outstanding, 0 for 16

	AckTimeout    time.Duration // of the requester's timer, 0 for none
	RetryCount    int           // retries without progress before the queue pair fails, 0 to 7
	RNRRetryCount int           // the same after RNR NAKs; 7 is without end
	RNRTimer      time.Duration // what the responder asks for in an RNR NAK; rounded up to a code

	// Memory is that of the side which the machine is. Without one nothing is
	// placed, every access is allowed, a receive is always posted, atomics find
	// zero, and packets have the length of their payload but not its bytes.
	Memory Memory

	// Buffer, where there is one, counts what the requester keeps to be sent again.
	// The requesters of one sender may share it.
	Buffer *Buffer

	// StartMSN is how many messages the responder has completed before the
	// first packet. Joined says that the flow is joined in its middle, as a
	// capture may be: the responder lets the first packet continue a message
	// whose beginning it has not seen.
	StartMSN uint32
	Joined   bool

	// Complete is called as each work request ends, in the order in which they
	// were posted. It may post more; once a request has failed, what is posted
	// is flushed at once, so that posting again then has no end.
	Complete func(Completion)
}

// MaxReads is ReadLimit with its default.
func (q *QP) MaxReads() int {
	if q.ReadLimit == 0 {
		return 16
	}
	return q.ReadLimit
}
