package irn

import (
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// sender knows what is in flight in one PSN space, and what is to be sent
// again.
//
//	      una                      high        nxt
//	-------+-------------------------+----------+------
//	 acked | holes among the SACKed  | in flight| not sent
type sender struct {
	una    psn.Seq // the cumulative acknowledgement: everything before it has arrived
	nxt    psn.Seq // the next PSN to be sent for the first time
	high   psn.Seq // the highest PSN selectively acknowledged; not above una if there is none
	sacked bitmap

	recovering bool
	recovery   psn.Seq // the newest PSN when recovery began; it ends when this is acknowledged
	resend     psn.Seq // the PSNs before it were resent in this recovery, or had arrived
	first      bool    // una is to be resent whatever is known of it

	since   transport.Time // when una was last sent, or became the oldest
	retries int            // that are left without progress
	config  *Config
	limit   int // retries after progress
}

func newSender(qp *transport.QP, c *Config) sender {
	start := psn.Seq(qp.StartPSN)
	return sender{una: start, nxt: start, high: start, sacked: newBitmap(c.Cap), config: c, retries: qp.RetryCount, limit: qp.RetryCount}
}

// ack takes a cumulative acknowledgement of everything before upto, which must
// not be more than was sent. It reports progress.
func (s *sender) ack(now transport.Time, upto psn.Seq) bool {
	if upto <= s.una {
		return false
	}
	for ; s.una < upto; s.una++ {
		s.sacked.clear(s.una)
	}
	s.since, s.retries, s.first = now, s.limit, false
	s.resend = max(s.resend, s.una)
	if s.una > s.recovery {
		s.recovering = false
	}
	return true
}

// sack takes a selective acknowledgement of one PSN.
func (s *sender) sack(q psn.Seq) {
	if q >= s.una && q < s.nxt {
		s.sacked.set(q)
		s.high = max(s.high, q)
	}
}

// lost enters recovery, if there is a hole below the highest PSN selectively
// acknowledged. It reports false when there is no retry left.
func (s *sender) lost() bool {
	if s.recovering || s.high <= s.una {
		return true
	}
	return s.recover()
}

// recover enters recovery, or begins it anew, for one retry.
func (s *sender) recover() bool {
	if s.retries == 0 {
		return false
	}
	s.retries--
	s.restart()
	return true
}

// restart makes una the next PSN to be sent.
func (s *sender) restart() {
	s.recovering, s.recovery = true, s.nxt-1
	s.resend, s.first = s.una, true
}

// deadline is when the timer of una ends.
func (s *sender) deadline() transport.Time {
	switch {
	case s.una == s.nxt, s.first:
		return transport.Never // nothing in flight, or the copy that counts is yet to be sent
	case int(s.nxt-s.una) <= s.config.Few:
		return s.since + s.config.RTOLow
	}
	return s.since + s.config.RTOHigh
}

// timeout enters recovery if the timer has ended. It reports false when there
// is no retry left.
func (s *sender) timeout(now transport.Time) bool {
	return now < s.deadline() || s.recover()
}

// hole is the PSN to be resent next; ok is false when there is none. In a
// recovery that is una, and then each hole below the highest PSN selectively
// acknowledged, once.
func (s *sender) hole() (q psn.Seq, ok bool) {
	if !s.recovering {
		return 0, false
	}
	if s.first {
		return s.una, true
	}
	for s.resend < s.high && s.sacked.has(s.resend) {
		s.resend++
	}
	return s.resend, s.resend < s.high
}

// open reports whether BDP-FC lets a new packet go.
func (s *sender) open() bool { return int(s.nxt-s.una) < s.config.Cap }

// sent takes note of a PSN that hole gave, or of nxt.
func (s *sender) sent(now transport.Time, q psn.Seq) {
	if q == s.una {
		s.since = now
	}
	if q == s.nxt {
		s.nxt++
		return
	}
	s.first, s.resend = false, q+1
}
