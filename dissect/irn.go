package dissect

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// irn is what the IRN sender does, as its packets and the feedback show it.
type irn struct {
	recoveries      int64
	rtoLow, rtoHigh int64
	until           psn.Seq // the recovery ends when this is acknowledged
	recovering      bool
	repairing       bool // and its first resend was seen
}

// fewInFlight is the largest number of packets in flight at which IRN uses the
// short timer (the paper's N).
const fewInFlight = 3

// steadyPeak is how many acknowledgements must find as many packets in flight as
// there ever were, for that to be the cap that the sender keeps to: one that is
// not limited by its cap shows its peak rarely.
const steadyPeak = 8

// irnNack follows a NACK: everything before seq has arrived, seq has not, and
// the packet SackPSN has.
func (s *stream) irnNack(seq psn.Seq, in *arrival) {
	d := s.recovery()
	s.watch = true
	if seq < s.first || seq >= s.top {
		return
	}
	s.tellAt(NakSeen, seq, in.sight())
	s.ack(seq, in)
	if !d.irn.recovering {
		d.irn.recovering = true
		d.irn.recoveries++
		d.irn.until, d.irn.repairing = s.top, false
	}
	newest := seq
	if in.has.Has(codec.HeaderSackETH) {
		newest = psn.Unwrap(s.top, in.sack)
		if newest >= s.acked && newest < s.top {
			d.picks.has.Insert(psn.Span{First: newest, Last: newest})
		}
	}
	s.reported(psn.Span{First: seq, Last: seq}, newest, in.sight(), EvidenceIRNNack)
}

// irnProgress ends a recovery once the point where it began is acknowledged.
func (s *stream) irnProgress() {
	d := s.d
	if d.irn.recovering && s.acked >= d.irn.until {
		d.irn.recovering = false
	}
}

// irnResends takes the recovery point: the highest PSN sent before the first
// resend. Before that, packets that the sender had sent already may not have
// passed here.
func (s *stream) irnResends() {
	if i := &s.d.irn; i.recovering && !i.repairing {
		i.until, i.repairing = s.top, true
	}
}

// irnTimeout counts a timeout by the timer that IRN must have used.
func (s *stream) irnTimeout() {
	if s.half.transport != irnTransport {
		return
	}
	if s.top-s.acked <= fewInFlight {
		s.d.irn.rtoLow++
	} else {
		s.d.irn.rtoHigh++
	}
}
