package dissect

import (
	"fmt"

	"github.com/rdmadump/rdmadump/codec"
)

// defaultRetries is the retry count of a queue pair of which connection
// management is not in the capture: what applications set nearly always.
const defaultRetries = 7

// patience is how many times as long as it waited before a sender must be
// silent, while the capture goes on, to have given up.
const patience = 2

// silence is the findings that only the end of the capture makes.
func (s *stream) silence() []Finding {
	var out []Finding
	for _, f := range [2]*Finding{s.exhausted(), s.neverReady()} {
		if f != nil {
			out = append(out, *f)
		}
	}
	return out
}

// exhausted is the finding that the sender gave up: its last retry went out,
// nothing came back, and no further retry follows. No packet says so.
func (s *stream) exhausted() *Finding {
	d := s.d
	if d.timeouts == 0 {
		return nil
	}
	retries := int(s.half.retries)
	if retries < 0 {
		retries = defaultRetries
	}
	silent := d.timeouts >= 2 && s.a.last-s.lastTime > patience*max(d.timer, s.half.timer())
	if d.timeouts < retries && !silent {
		return nil
	}
	return &Finding{Kind: "retry-exhausted", Counter: "local_ack_timeout_err", Frames: d.timeoutFrames,
		Text: fmt.Sprintf("%d retries went unanswered: the application sees IBV_WC_RETRY_EXC_ERR (12)", d.timeouts)}
}

// neverReady is the finding that the sender gave up on a receiver that was not
// ready: it was refused, and did not try again though the time to wait is over.
func (s *stream) neverReady() *Finding {
	d := s.d
	if !d.rnr.pending || s.a.last-d.rnr.at.time <= patience*d.rnrWait {
		return nil
	}
	return &Finding{Kind: "rnr-retry-exhausted", Counter: "rnr_nak_retry_err", Frames: []int{d.rnr.at.number},
		Text: "the receiver stayed without a receive buffer: the application sees IBV_WC_RNR_RETRY_EXC_ERR (13)"}
}

// fatal notes a NAK that ends the connection.
func (s *stream) fatal(in *arrival) {
	var kind, text, counter string
	switch in.aeth.Syndrome & 0x7f {
	case codec.SyndromeInvalidRequest:
		kind, counter, text = "invalid-request", "req_remote_invalid_request", "the responder refused a request as invalid: the application sees IBV_WC_REM_INV_REQ_ERR (9)"
	case codec.SyndromeRemoteAccess:
		kind, counter, text = "remote-access-error", "req_remote_access_errors", "the responder refused access to its memory: the application sees IBV_WC_REM_ACCESS_ERR (10)"
	case codec.SyndromeRemoteOperational:
		kind, text = "remote-operational-error", "the responder failed: the application sees IBV_WC_REM_OP_ERR (11)"
	default:
		return
	}
	s.find(kind, text, counter, in.number)
	s.half.end()
}

// often is how many RNR NAKs are a storm, and ACKs without credit starvation: a
// few are how a receiver that is a little late looks.
const often = 8

// summed is the findings that counts make.
func (s *stream) summed(out *Stream) []Finding {
	var all []Finding
	h, f := s.half, &out.Feedback
	if h.bad > 0 && h.uselessICRC() {
		all = append(all, Finding{Kind: "icrc-useless",
			Text: "most packets have no valid ICRC, as before a NIC fills it in: it says nothing about damage here"})
	}
	if f.RNRNaks >= often {
		all = append(all, Finding{Kind: "rnr-storm", Counter: "rnr_nak_retry_err",
			Text: fmt.Sprintf("%d RNR NAKs made the sender wait and send %d packets again: the receiving application posts receive buffers too slowly",
				f.RNRNaks, out.Retransmitted.ByCause[CauseRNR])})
	}
	if f.NoCredit >= often && s.receives {
		all = append(all, Finding{Kind: "credit-starvation",
			Text: fmt.Sprintf("%d of %d ACKs grant no credit: the receiving application has no receive buffer posted, and the sender must hold back", f.NoCredit, f.Acks)})
	}
	if f.Cut > 0 {
		all = append(all, Finding{Kind: "feedback-cut",
			Text: fmt.Sprintf("frames end before the AETH of %d of %d acknowledgements, NAKs may be among them: what is lost is a lower bound", f.Cut, f.Packets)})
	}
	return all
}
