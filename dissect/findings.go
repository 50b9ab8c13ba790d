package dissect

import (
	"fmt"

	"github.com/rdmadump/rdmadump/codec"
)

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
