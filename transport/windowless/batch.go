package windowless

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// batch is what has come since the last report.
type batch struct {
	start    transport.Time // BatchStartTime: of the first packet, or in literal mode of the reset
	packets  int            // BatchPacketCount
	segments psn.Set        // SegmentList of literal mode; anchored has Responder.had
	spans    int            // of had, when last looked at
	due      bool           // a report is to be sent
}

// merge adds a packet that is no duplicate to the batch.
func (r *Responder) merge(now transport.Time, span psn.Span) {
	r.had.Insert(span)
	if r.params.Mode == Literal {
		r.batch.segments.Insert(span)
	}
	r.count(now)
	above := len(r.had.Spans())
	if r.params.Mode == Anchored && above > 3 && above > r.batch.spans {
		r.batch.due = true
	}
	r.batch.spans = above
}

// again is what a duplicate does. The sender would not have sent it, had it had
// the report of the first, so anchored mode counts it; the draft does not, but
// looks at the clock.
func (r *Responder) again(now transport.Time) {
	if r.params.Mode == Anchored {
		r.count(now)
	} else if len(r.batch.segments.Spans()) > 0 {
		r.trigger(now)
	}
}

// count adds a packet to the batch.
func (r *Responder) count(now transport.Time) {
	if r.batch.packets == 0 && r.params.Mode == Anchored {
		r.batch.start = now
	}
	r.batch.packets++
	r.trigger(now)
}

// trigger looks whether a threshold is reached.
func (r *Responder) trigger(now transport.Time) {
	if r.batch.packets >= r.params.Packets || now-r.batch.start >= r.params.Period {
		r.batch.due = true
	}
}

// report makes p an acknowledgement that says what has arrived.
func (r *Responder) report(now transport.Time, p *transport.Packet) {
	op := codec.Op(codec.RC, codec.Acknowledge)
	*p = transport.Packet{Packet: codec.Packet{Headers: op.Headers()}}
	p.BTH = codec.BTH{Opcode: op, PKey: r.qp.PKey, DestQP: r.qp.SrcQP}
	p.AETH = codec.AETH{Syndrome: codec.SyndromeACK, MSN: r.exec.MSN}
	r.attach(now, p)
	p.BTH.PSN = p.TCAETH.LastFinishedPSN
}

// attach adds the T/C AETH to an acknowledgement and ends the batch.
func (r *Responder) attach(now transport.Time, p *transport.Packet) {
	var spans []psn.Span
	h := codec.TCAETH{SegmentNum: 1}
	if r.params.Mode == Literal {
		spans = r.batch.segments.Spans()
		h.LastFinishedPSN = spans[0].Last.PSN()
		spans = spans[1:]
	} else {
		spans = r.had.Spans()
		h.LastFinishedPSN = (r.next - 1).PSN()
		if len(spans) > 0 && spans[0].First == r.next {
			// The next packet is here, but no receive was posted for it: it
			// must be sent again, so it is none of the blocks.
			head := spans[0]
			head.First += psn.Seq(transport.Span(r.held[r.next], r.qp.MTU))
			segment(&h, head)
			spans = spans[1:]
		}
	}
	for _, s := range spans {
		segment(&h, s)
	}
	p.TCAETH = h
	p.Headers |= codec.Set(codec.HeaderTCAETH)
	p.BTH.PadCnt = 2 // 30 bytes are no whole words
	r.batch.packets, r.batch.due = 0, false
	if r.params.Mode == Literal {
		r.batch.start = now
		r.batch.segments.Clear()
	}
}

// segment adds a block to a report, if there is room.
func segment(h *codec.TCAETH, s psn.Span) {
	if s.Len() == 0 || h.SegmentNum == 4 {
		return
	}
	places := [...]struct{ left, right *psn.PSN }{{&h.Seg1Left, &h.Seg1Right}, {&h.Seg2Left, &h.Seg2Right}, {&h.Seg3Left, &h.Seg3Right}}
	place := places[h.SegmentNum-1]
	*place.left, *place.right = s.First.PSN(), s.Last.PSN()
	h.SegmentNum++
}
