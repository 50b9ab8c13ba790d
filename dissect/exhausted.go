package dissect

import (
	"fmt"
	"slices"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// A requester retries after a timeout and after a sequence NAK, and counts both
// down from one number until an answer makes progress (IBA 9.9.2). When none
// is left it waits for its timer once more and gives up. No packet says so: what
// shows is the retries, and that none follows, to the end of the capture or until
// the connection is torn down.

const (
	// defaultRetries is the retry count of a queue pair of which connection
	// management is not in the capture: what applications set nearly always.
	defaultRetries = 7
	// endless is the RNR retry count that never runs out.
	endless = 7
	// patience is how many times as long as it waited before a sender must be
	// silent, while the capture goes on, to have given up.
	patience = 2
	// maxRetryFrames is how many retries a finding names.
	maxRetryFrames = 16
)

// retry counts a retry that begins with seq. Where recovery is selective every
// packet that a timer sends again comes here, and the first one counts. Else one
// that begins further up than the last shows progress, whoever saw its answer.
func (s *stream) retry(seq psn.Seq, at sight) {
	d := s.d
	if d.retries > 0 && seq > d.retried {
		if s.half.transport != goBackN {
			return
		}
		d.timeouts, d.retries, d.retryFrames = 0, 0, d.retryFrames[:0]
	}
	d.retries++
	d.retried = seq
	if len(d.retryFrames) < maxRetryFrames {
		d.retryFrames = append(d.retryFrames, at.number)
	}
}

// progressed notes that an answer acknowledged something new.
func (d *recovery) progressed() {
	d.timeouts, d.retries, d.refusals, d.retryFrames = 0, 0, 0, d.retryFrames[:0]
}

// tornDown notes that the connection of the requests was closed.
func (s *stream) tornDown(now int64) {
	if s.on && s.half.retries == 0 {
		s.recovery() // it gives up without any trouble before
	}
	if s.d != nil {
		s.d.closed = now
	}
}

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

// until is when the stream ended: when the connection was torn down, unless
// packets followed, or else when the capture ended.
func (s *stream) until() (end int64, torn bool) {
	if d := s.d; d.closed > 0 && d.closed >= s.lastTime {
		return d.closed, true
	}
	return s.a.last, false
}

// exhausted is the finding that the sender gave up: its last retry went out,
// nothing came back, and no further retry follows.
func (s *stream) exhausted() *Finding {
	d := s.d
	allowed, known := int(s.half.retries), s.half.retries >= 0
	if !known {
		allowed = defaultRetries
	}
	if s.response || s.service() == codec.UC || d.retries == 0 && (allowed > 0 || !s.awaitsAnswer() && !s.refusedLast()) {
		return nil
	}
	end, torn := s.until()
	timer := max(d.timer, s.half.timer())
	quiet := end - s.lastTime
	waited := quiet
	if d.retries > 0 {
		waited = end - d.run.began.time
	}
	timedOut := timer > 0 && waited >= timer*3/4
	steady := d.timeouts >= 2 && d.run.reason == byTimeout && d.run.waited <= d.timer*3/2 && waited >= d.run.waited*3/4
	var gaveUp bool
	switch {
	case d.timeouts >= 2 && quiet > patience*timer:
		gaveUp = true
	case torn && !known:
		// It would have gone on retrying before the connection was torn down.
		gaveUp = d.timeouts > 0 && (steady || d.retries >= allowed) && timedOut && quiet >= timer/2
	case d.retries < allowed:
	case torn:
		gaveUp = timedOut || s.refusedLast()
	default:
		gaveUp = d.run.reason == byTimeout && d.timeouts > 0 || timer > 0 && quiet > patience*timer
	}
	if !gaveUp {
		return nil
	}
	text := d.unanswered(allowed, known)
	if torn {
		text += ", then the connection was torn down"
	}
	return &Finding{Kind: "retry-exhausted", Counter: "local_ack_timeout_err", Frames: d.retryFrames,
		Text: text + ": the application sees IBV_WC_RETRY_EXC_ERR (12)"}
}

// unanswered says how many retries were in vain, of how many that are allowed.
func (d *recovery) unanswered(allowed int, known bool) string {
	switch seen := plural(int64(d.retries), "retry", "retries"); {
	case !known:
		return seen + " went unanswered"
	case allowed == 0:
		return "a request went unanswered, and connection management allowed no retry"
	case d.retries == allowed:
		return fmt.Sprintf("%s went unanswered, as many as connection management allowed", seen)
	default:
		return fmt.Sprintf("%s went unanswered, where connection management allowed %d", seen, allowed)
	}
}

// awaitsAnswer reports whether an acknowledgement that was asked for is missing,
// in a flow that was answered before.
func (s *stream) awaitsAnswer() bool {
	last := s.marks[(s.marked-1)%uint8(len(s.marks))]
	return s.heard && last.seq >= s.acked && last.time >= s.beganAt
}

// refusedLast reports whether a sequence NAK was not answered: where no retry is
// left it ends the connection at once.
func (s *stream) refusedLast() bool {
	return slices.ContainsFunc(s.d.asks, func(k ask) bool { return k.reason == byNAK && k.seq >= s.acked })
}

// neverReady is the finding that the sender gave up on a receiver that was not
// ready: it was refused once more than it may retry, or did not try again though
// the time to wait is over.
func (s *stream) neverReady() *Finding {
	d := s.d
	allowed := int(s.half.rnrRetries)
	if !d.rnr.pending || allowed == endless {
		return nil
	}
	end, torn := s.until()
	text := "the receiver stayed without a receive buffer"
	switch {
	case allowed >= 0 && d.refusals > allowed:
		text += " and connection management allowed "
		if allowed == 0 {
			text += "no retry"
		} else {
			text += plural(int64(allowed), "retry", "retries")
		}
	case end-d.rnr.at.time <= patience*d.rnrWait:
		return nil
	}
	if torn {
		text += ", then the connection was torn down"
	}
	return &Finding{Kind: "rnr-retry-exhausted", Counter: "rnr_nak_retry_err", Frames: []int{d.rnr.at.number},
		Text: text + ": the application sees IBV_WC_RNR_RETRY_EXC_ERR (13)"}
}
