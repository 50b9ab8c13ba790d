package sim

import (
	"time"

	"github.com/rdmadump/rdmadump/transport"
)

// Result sums up a run.
type Result struct {
	Posted    int64         // work requests
	Ended     [32]int64     // of them, by transport.Status
	LastEnded time.Duration // when the last of them did
	Time      time.Duration // when the run did
	BrokenOff bool          // at Scenario.Until

	Packets    int64 // copies sent, connection management left out
	Bytes      int64 // of their frames
	Data       int64 // of them, requests and READ responses
	Payload    int64 // bytes that these carry
	Resent     int64 // of them, copies of what was sent before
	ResentLoad int64 // bytes of payload that these carry
	Acks       int64 // acknowledgements of every kind
	AckBytes   int64 // of their frames
	Lost       int64 // copies
	Damaged    int64
	Duplicated int64
	Reordered  int64

	// Held is what the sender and the receiver kept of their requests to send it
	// again, all queue pairs together.
	Held [2]transport.Buffer

	Missed []Copy // what picks by PSN name and never came by
}

// Failed is how many work requests ended without success.
func (r *Result) Failed() (n int64) {
	for status, count := range r.Ended {
		if transport.Status(status) != transport.Success {
			n += count
		}
	}
	return n
}

// Unfinished is how many were posted and never ended.
func (r *Result) Unfinished() int64 { return r.Posted - r.Ended[transport.Success] - r.Failed() }

func (r *Result) ended(s transport.Status, now time.Duration) {
	r.Ended[int(s)%len(r.Ended)]++
	r.LastEnded = now
}
