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

	Memory Memory // of the side that the machine is

	// Complete is called as each work request ends, in the order in which they
	// were posted. It may post more.
	Complete func(Completion)
}
