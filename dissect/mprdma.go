package dissect

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// path is a virtual path of MP-RDMA: a UDP source port.
type path struct {
	sport   uint16
	packets int64
	acks    int64
	ce      int64 // ACKs that echo a CE mark
	slow    int64 // ACKs further behind than the tolerance
	rtt     int64 // smallest seen, nanoseconds
	probe   psn.Seq
	sent    int64 // when the probe passed, 0 without one
}

// maxPaths bounds the source ports that a stream is parted by.
const maxPaths = 256

// slowBehind is the sender's tolerance Delta: an ACK further behind the newest
// acknowledged PSN came over a path that is too slow.
const slowBehind = 32

// mp is what the MP-RDMA receiver shows of itself.
type mp struct {
	outOfOrder int64 // largest distance from the lowest missing PSN to an arrival
	early      int64 // synchronise packets that came before what they wait for
	highest    psn.Seq
}

// travelled counts a packet on its path.
func (s *stream) travelled(in *arrival, seq psn.Seq) {
	if s.paths == nil {
		if s.sport == in.sport {
			return
		}
		s.firstPath(seq - 1)
		for before := max(s.first, seq-64); before < seq; before++ {
			s.unanswered.push(before, s.sport)
		}
	}
	s.unanswered.push(seq, in.sport)
	p := s.path(in.sport)
	if p == nil {
		return
	}
	p.packets++
	switch {
	case !in.reTx && p.sent == 0:
		p.probe, p.sent = seq, in.time
	case in.reTx:
		for i := range s.paths {
			if s.paths[i].probe == seq {
				s.paths[i].sent = 0 // only what was sent once tells the time
			}
		}
	}
}

// firstPath begins to tell paths apart: all packets so far took one, of which the
// last is timed.
func (s *stream) firstPath(last psn.Seq) {
	p := path{sport: s.sport, packets: s.packets}
	if s.packets > 0 {
		p.probe, p.sent = last, s.lastTime
	}
	s.paths = append(s.paths, p)
}

func (s *stream) path(sport uint16) *path {
	for i := range s.paths {
		if s.paths[i].sport == sport {
			return &s.paths[i]
		}
	}
	if len(s.paths) >= maxPaths {
		return nil
	}
	s.paths = append(s.paths, path{sport: sport})
	return &s.paths[len(s.paths)-1]
}

// slowestPath is the longest of the round trips of the paths.
func (s *stream) slowestPath() (rtt int64) {
	for i := range s.paths {
		rtt = max(rtt, s.paths[i].rtt)
	}
	return rtt
}

// mpFeedback follows a 0xFA, which acknowledges one packet and everything up to
// AACK, or a 0xFB, which refuses one packet.
func (s *stream) mpFeedback(seq psn.Seq, in *arrival) {
	d := s.recovery()
	s.watch = true
	if s.paths == nil {
		s.firstPath(s.top - 1)
	}
	if in.has.Has(codec.HeaderMPETH) {
		cumulative := psn.Unwrap(s.top, in.mp.AACK)
		switch {
		case cumulative >= s.top:
		case in.op == codec.OpcodeMPRDMAAck:
			s.accepted(seq, cumulative, in.sport)
			s.heardOf(seq, in)
		case seq == cumulative+1:
			s.turnedAway(cumulative, in.sport)
		}
		if cumulative >= s.acked && cumulative < s.top {
			s.ack(cumulative+1, in)
		}
	}
	if in.op == codec.OpcodeMPRDMANack {
		s.mpNack(seq, in)
		return
	}
	if seq >= s.acked && seq < s.top {
		d.picks.has.Insert(psn.Span{First: seq, Last: seq})
	}
	d.mp.highest = max(d.mp.highest, seq)
	p := s.path(in.sport)
	if p == nil {
		return
	}
	p.acks++
	if in.mp.ECE {
		p.ce++
	}
	if !in.mp.ReTxEcho && seq < d.mp.highest-slowBehind {
		p.slow++
		s.find("slow-path", "ACKs of a path came more than 32 PSNs behind the newest: the sender takes it for too slow", "", in.number)
	}
	if p.sent != 0 && p.probe == seq && !in.mp.ReTxEcho {
		if span := in.time - p.sent; span > 0 {
			if p.rtt == 0 || span < p.rtt {
				p.rtt = span
			}
			s.roundTrip(span)
		}
		p.sent = 0
	}
}

// waitsFor notes a synchronise packet, which must not overtake those before it.
// The first ones pass before feedback shows that the connection is MP-RDMA.
func (s *stream) waitsFor(seq psn.Seq) {
	if set := &s.recovery().picks.synchronised; len(set.Spans()) < maxRepairs {
		set.Insert(psn.Span{First: seq, Last: seq})
	}
}

// mpNack follows a refusal: of a packet beyond the last slot, with the PSN that
// the head waits for, or of a synchronise packet that came early, with its own.
func (s *stream) mpNack(seq psn.Seq, in *arrival) {
	d := s.d
	if seq < s.first || seq >= s.top {
		return
	}
	s.tellAt(NakSeen, seq, in.sight())
	d.discarded++
	d.picks.after = byMPNack
	if d.picks.synchronised.Contains(seq) && !d.holes.Contains(seq) {
		d.mp.early++
		if len(d.picks.turned.Spans()) < maxRepairs {
			d.picks.turned.Insert(psn.Span{First: seq, Last: seq})
		}
		s.unanswered.answer(in.sport, seq, seq)
		s.find("synchronise-early", "a synchronise packet overtook what it must wait for and was refused", "", in.number)
		return
	}
	s.wants(seq, in.time)
	s.find("bitmap-overflow", "packets came further ahead than the receiver has slots for, and were refused", "", in.number)
	if !d.picks.turned.Contains(seq) { // else it was refused, and neither lost nor late
		s.reported(psn.Span{First: seq, Last: seq}, seq, in.sight(), EvidenceMPNack)
	}
}
