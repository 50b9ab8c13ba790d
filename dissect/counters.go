package dissect

import (
	"fmt"
	"slices"
	"time"

	"github.com/rdmadump/rdmadump/codec"
)

// counterSide says which end's NIC has a counter: the one that asks, whose
// requests these are, or the one that answers.
type counterSide uint8

const (
	atRequester counterSide = iota + 1
	atResponder
	atReceiver // of whatever it is
)

// counterSides are the counters that findings name, as mlx5 calls them, and who
// counts. A requester counts what it is told (NAKs) and what it waits for in vain;
// a responder counts what comes to it.
var counterSides = map[string]counterSide{
	"packet_seq_err":             atRequester, // NAKs for a sequence error that came
	"implied_nak_seq_err":        atRequester, // responses that came behind a gap
	"local_ack_timeout_err":      atRequester, // ACK timers that ran out
	"rnr_nak_retry_err":          atRequester, // RNR NAKs that came
	"roce_adp_retrans":           atRequester, // resends before the ACK timer
	"req_remote_invalid_request": atRequester,
	"req_remote_access_errors":   atRequester,
	"out_of_sequence":            atResponder, // requests that came behind a gap
	"duplicate_request":          atResponder, // requests that came again
	"rx_icrc_encapsulated":       atReceiver,  // packets that came damaged
}

// at fills in on which host's NIC the finding's counter is to be looked up.
func (s *stream) at(f *Finding) {
	requester, responder := s.half.key.src, s.half.key.dst
	if s.response {
		requester, responder = responder, requester
	}
	switch counterSides[f.Counter] {
	case atRequester:
		f.Host = requester
	case atResponder:
		f.Host = responder
	case atReceiver:
		f.Host = s.half.key.dst
	}
}

// counted is the findings that stand for counters of the NICs at both ends: what
// an operator sees rise there. Exact figures differ, as NICs may count an event
// that many packets belong to once.
func (s *stream) counted(out *Stream) []Finding {
	if s.response || s.half.transport != goBackN || s.half.service != codec.RC && s.half.service != codec.XRC {
		return nil // other recovery schemes have no such counters
	}
	var all []Finding
	add := func(kind, counter, text string, numbers ...any) {
		for i := range out.Findings {
			if out.Findings[i].Counter == counter {
				return // more than this is known of it
			}
		}
		f := Finding{Kind: kind, Counter: counter, Text: fmt.Sprintf(text, numbers...)}
		all = append(all, f)
	}
	src, dst := s.half.key.src, s.half.key.dst
	by, r := out.Retransmitted.ByCause, &out.Retransmitted
	naks := int64(0)
	if p := s.half.partner; p != nil && p.fb.seldom != nil {
		naks = p.fb.sequence
	}
	if naks > 0 {
		add("packet-sequence-error", "packet_seq_err", "%s told %s of missing packets, in %s", dst, src, plural(naks, "NAK", "NAKs"))
	}
	if naks > 0 || passedOver(out.Gaps) {
		add("out-of-sequence", "out_of_sequence", "packets came to %s behind a gap", dst)
	}
	if again := r.ByVerdict[Redundant] + by[CauseImpliedNAK]; again > 0 {
		add("duplicate-request", "duplicate_request", "%s of what %s had already: those that reach it are duplicates", plural(again, "packet was resent", "packets were resent"), dst)
	}
	if n := by[CauseImpliedNAK]; n > 0 {
		add("implied-nak", "implied_nak_seq_err", "%s, since responses from %s were missing", plural(n, "READ request was repeated", "READ requests were repeated"), dst)
	}
	if n := out.Feedback.RNRNaks; n > 0 && n < often {
		add("rnr-nak", "rnr_nak_retry_err", "%s: the application on %s had no receive buffer posted", plural(n, "RNR NAK", "RNR NAKs"), dst)
	}
	if n := by[CauseTimeout]; n > 0 {
		add("ack-timeout", "local_ack_timeout_err", "%s after the ACK timer ran out", plural(n, "packet was resent", "packets were resent"))
	}
	if n, timer := by[CauseEarly], s.half.timer(); n > 0 && timer > 0 {
		add("adaptive-retransmission", "roce_adp_retrans", "%s unasked before the ACK timer (%v) ran out, as adaptive retransmission does",
			plural(n, "packet was resent", "packets were resent"), time.Duration(timer).Round(time.Microsecond))
	}
	return all
}

// Counted reports whether a finding says no more than which counter of a NIC goes
// with what the counts of its stream tell already.
func (f *Finding) Counted() bool { return slices.Contains(countedKinds, f.Kind) }

var countedKinds = []string{"packet-sequence-error", "out-of-sequence", "duplicate-request", "implied-nak", "rnr-nak", "ack-timeout", "adaptive-retransmission"}

// passedOver reports gaps that a later packet showed here, so that it came to the
// receiver out of sequence too.
func passedOver(gaps []Gap) bool {
	for i := range gaps {
		if g := &gaps[i]; g.Evidence == EvidenceObserved && g.Where == Upstream {
			return true
		}
	}
	return false
}

// plural is "1 NAK", "2 NAKs".
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
