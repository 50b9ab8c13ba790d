package dissect

import (
	"slices"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// Report says what was found so far. It ends what is open: packets that were on
// trial are judged as if nothing came after them.
func (a *Analyzer) Report() *Report {
	a.pairAtLast()
	r := &Report{Schema: Schema, Captures: []Capture{}, Connections: []Connection{}, Totals: a.totals}
	dropped := false
	for i := range a.captures {
		c := a.captures[i].Capture
		dropped = dropped || c.CaptureDrops > 0
		r.Captures = append(r.Captures, c)
	}
	halves := slices.Clone(a.halves)
	kept := tally{packets: a.retired.Packets, marked: a.retired.CEMarked}
	slices.SortFunc(halves, func(x, y *half) int { return int(int64(x.id) - int64(y.id)) })
	for _, h := range halves {
		if p := h.partner; p != nil && p.id < h.id {
			continue
		}
		c := a.connection(h, dropped)
		if s := a.config.Selection; a.narrows() && (!s.matches(h) || len(s.QPNs) > 0 && !s.connection(&c)) {
			continue
		}
		kept.add(tally{packets: h.packets, marked: h.marked})
		if h.partner != nil {
			kept.add(tally{packets: h.partner.packets, marked: h.partner.marked})
		}
		for i := range c.Streams {
			r.Totals.Lost += c.Streams[i].Lost
			r.Totals.Retransmitted += c.Streams[i].Retransmitted.Packets
			r.Totals.NotCaptured += c.Streams[i].NotCaptured
		}
		r.Connections = append(r.Connections, c)
	}
	r.Totals.Lost += a.retired.Lost
	r.Totals.Retransmitted += a.retired.Retransmitted
	r.Totals.NotCaptured += a.retired.NotCaptured
	r.Totals.Connections = len(r.Connections)
	r.Totals.PauseFrames, r.Totals.PFC = a.pauses.frames, a.pauses.priorities
	if a.narrows() {
		a.asides.narrow(r, a.config.Selection, kept)
	}
	if s := a.config.Selection; s != nil && !s.Everything() {
		r.Selection = s
	}
	r.UnmatchedPairs = a.unmatched()
	if a.evicted != (Evicted{}) {
		e := a.evicted
		r.Evicted = &e
	}
	return r
}

// connection sums up a half and its partner.
func (a *Analyzer) connection(h *half, dropped bool) Connection {
	asking := h.asking()
	if asking.number == 0 {
		a.numbers++
		asking.number = a.numbers
		if asking.partner != nil {
			asking.partner.number = a.numbers
		}
	}
	c := Connection{ID: int(asking.number), Service: asking.service.String(), Transport: asking.transportName(),
		PairedBy: pairingNames[asking.pairedBy], Streams: []Stream{}}
	c.B = &End{asking.key.dst, QPN(asking.key.qpn)}
	if p := asking.partner; p != nil {
		c.A = &End{p.key.dst, QPN(p.key.qpn)}
	} else if asking.promised != nil {
		c.A = &End{asking.promised.dst, QPN(asking.promised.qpn)}
	}
	if asking.partner == nil && !asking.req.on { // it answers, and A is its receiver
		c.A, c.B = c.B, c.A
	}
	asking.extension(&c)
	t := trust{dropped: dropped, leaky: asking.leaky(dropped)}
	for _, side := range [2]*half{asking, asking.partner} {
		if side == nil {
			continue
		}
		if side.req.on {
			c.Streams = append(c.Streams, a.stream(&side.req, t))
		}
		if side.resp != nil && side.resp.on {
			c.Streams = append(c.Streams, a.stream(side.resp, t))
		}
	}
	if y := asking.hearsay; y != nil && asking.partner == nil {
		c.Streams = append(c.Streams, a.unseenRequests(asking))
	}
	return c
}

// extension adds what the transport of the connection shows, of both directions
// together.
func (h *half) extension(c *Connection) {
	if h.transport == goBackN {
		return
	}
	streams := make([]*stream, 0, 4)
	for _, side := range [2]*half{h, h.partner} {
		if side == nil {
			continue
		}
		for _, s := range [2]*stream{&side.req, side.resp} {
			if s != nil && s.on {
				s.recovery()
				streams = append(streams, s)
			}
		}
	}
	switch h.transport {
	case irnTransport:
		c.IRN = &IRN{}
		for _, s := range streams {
			c.IRN.Recoveries += s.d.irn.recoveries
			c.IRN.RTOLow += s.d.irn.rtoLow
			c.IRN.RTOHigh += s.d.irn.rtoHigh
			c.IRN.InFlightPeak = max(c.IRN.InFlightPeak, s.peak)
			if s.atPeak >= steadyPeak {
				c.IRN.BDPCap = max(c.IRN.BDPCap, s.peak)
			}
		}
	case windowless:
		c.Windowless = &Windowless{}
		for _, s := range streams {
			if s.d.windowless.reports > 0 {
				c.Windowless.add(s.d.windowless.summary())
			}
		}
	case mpRDMA:
		c.MPRDMA = &MPRDMA{Paths: []Path{}}
		for _, s := range streams {
			if s.paths == nil {
				continue
			}
			c.MPRDMA.SynchroniseEarly += s.d.mp.early
			if s.d.mp.outOfOrder > 0 {
				c.MPRDMA.OutOfOrderMax = max(c.MPRDMA.OutOfOrderMax, s.d.mp.outOfOrder)
				c.MPRDMA.BitmapPeak = c.MPRDMA.OutOfOrderMax + 1
			}
			for _, p := range s.paths {
				c.MPRDMA.Paths = append(c.MPRDMA.Paths, Path{p.sport, p.packets, p.acks, p.ce, p.rtt, p.slow})
			}
		}
	}
}

// add joins the reports on both directions.
func (w *Windowless) add(o *Windowless) {
	w.Reports += o.Reports
	w.Invalid += o.Invalid
	w.ByCount += o.ByCount
	w.ByTime += o.ByTime
	w.ByRanges += o.ByRanges
	w.BoundaryLosses += o.BoundaryLosses
	w.TailResends += o.TailResends
	if w.CThresh == 0 {
		w.CThresh = o.CThresh
	}
	if w.TThresh == 0 {
		w.TThresh = o.TThresh
	}
}

// stream sums up a stream.
func (a *Analyzer) stream(s *stream, t trust) Stream {
	h := s.half
	out := Stream{Src: h.key.src, Dst: h.key.dst, DestQP: QPN(h.key.qpn), Kind: "request", Epochs: int(s.epochs),
		FirstPSN: s.origin, LastPSN: (s.top - 1).PSN(), Packets: s.packets, PayloadBytes: s.bytes,
		LostRanges: []psn.Range{}, Gaps: []Gap{}, Findings: []Finding{}}
	if s.response {
		out.Kind = "read-response"
		if p := h.partner; p != nil {
			if p.readFB != nil {
				out.Feedback = p.readFB.report()
			}
		}
	} else if p := h.partner; p != nil {
		out.Feedback = p.fb.report()
	}
	if c := s.moved; c != nil {
		out.Packets++
	}
	if s.d == nil {
		out.Retransmitted = (&resends{}).report()
	} else {
		s.settle()
		out.Retransmitted = s.d.resent.report()
		s.foretell(&out, t)
	}
	out.Findings = append(out.Findings, s.summed(&out)...)
	out.Findings = append(out.Findings, s.counted(&out)...)
	for i := range out.Findings {
		s.at(&out.Findings[i])
	}
	out.Times = s.timesHere()
	out.Efficiency = s.efficiency()
	return out
}

// efficiency is the payload that was acknowledged, each byte once, per byte of
// payload that was sent; nil where nothing was acknowledged or sent. Of what is
// in flight at the end the share of PSNs is taken.
func (s *stream) efficiency() *float64 {
	if !s.heard || s.bytes == 0 || s.response {
		return nil
	}
	unique := s.bytes
	if d := s.d; d != nil {
		unique -= d.resent.bytes - d.firstBytes
	}
	share := 1.0
	if sent := s.top - s.first; sent > 0 && s.acked < s.top {
		share = float64(s.acked-s.first) / float64(sent)
	}
	e := share * float64(unique) / float64(s.bytes)
	return &e
}

func (f *feedback) report() Feedback {
	out := Feedback{Packets: f.packets, Bytes: f.bytes, Acks: f.acks, NoCredit: f.noCredit}
	if f.seldom != nil {
		out.Naks, out.NakPSNs, out.RNRNaks, out.AtomicAcks, out.Cut = f.naks, slices.Clone(f.nakPSNs), f.rnrs, f.atomicAcks, f.cut
	}
	return out
}

// foretell fills in what recovery knows, and judges gaps that are still open: a
// loss where feedback named them, or where nobody will ever repair them, else
// undecided.
func (s *stream) foretell(out *Stream, t trust) {
	d := s.d
	final := s.half.service == codec.UC && !t.dropped
	lostPSNs := psn.Set{}
	for _, span := range d.lostPSNs.Spans() {
		lostPSNs.Insert(span)
	}
	open := d.abandoned
	if final {
		for _, span := range d.forgotten.Spans() {
			lostPSNs.Insert(span)
		}
	}
	out.Lost, out.LostHarmless = d.lost, d.harmless
	gaps := slices.Clone(d.done)
	for i := range d.gaps {
		g := d.gaps[i]
		if g.unheard(s) {
			g.closed = Open
			g.filled = sight{}
		}
		if g.suspect && g.left > 0 {
			continue
		}
		out.GapsTotal--
		for _, piece := range s.pieces(&g) {
			out.GapsTotal++
			switch {
			case piece.left == 0:
			case piece.closed == Open:
				for _, hole := range within(&d.holes, piece.Span) {
					open += hole.Len() - lostPSNs.Overlap(hole)
					if final {
						lostPSNs.Insert(hole)
					}
				}
			case piece.where == InCapture:
				out.NotCaptured += piece.count
				lost := d.counted.Overlap(piece.Span)
				for k := range piece.again {
					lost += piece.again[k].Len()
				}
				if lost > 0 { // as uncount does
					out.Lost -= lost
					lostPSNs.Remove(piece.Span)
				}
			default:
				for _, rest := range outside(&d.counted, piece.Span) {
					out.Lost += rest.Len()
					out.LostHarmless += rest.Len()
					lostPSNs.Insert(rest)
				}
			}
			gaps = append(gaps, piece)
		}
	}
	if t.leaky {
		gaps = s.unvouched(out, gaps, &lostPSNs)
	}
	if t.dropped {
		doubtOpen(gaps, &lostPSNs)
	}
	for _, span := range d.spoilt.Spans() {
		out.Lost += span.Len()
		lostPSNs.Insert(span)
		out.GapsTotal++
		gaps = append(gaps, gap{Span: span, count: span.Len(), left: span.Len(), copies: 1, evidence: EvidenceICRC, where: Upstream,
			closed: Open, opened: s.a.here, message: s.messageOf(span.First)})
	}
	if final {
		out.Lost += open
		open = 0
	}
	out.Undecided += d.doubtful + open
	out.Damaged, out.Discarded = d.damaged, d.discarded
	out.Reordered = d.reordered
	out.GapsTotal += d.gapsTotal
	out.GapsReordered = d.gapsReordered
	out.NotCaptured += d.notCaptured
	out.LostRanges = ranges(&lostPSNs)
	gaps = s.a.room.worst(gaps, s.a.gapLimit)
	for i := range gaps {
		out.Gaps = append(out.Gaps, s.gap(&gaps[i]))
	}
	for _, f := range d.findings {
		if f.Kind != "boundary-loss" || !t.dropped { // the capture may have dropped what no report names
			out.Findings = append(out.Findings, f)
		}
	}
	out.Findings = append(out.Findings, s.silence()...)
}

// ranges is a set as PSN ranges. Epochs lie far apart, so that a PSN that was
// lost in two of them stands there twice.
func ranges(set *psn.Set) []psn.Range {
	out := make([]psn.Range, 0, len(set.Spans()))
	for _, span := range set.Spans() {
		out = append(out, span.Range())
	}
	return out
}

// gap is a gap in the form of the report.
func (s *stream) gap(g *gap) Gap {
	out := Gap{First: g.First.PSN(), Last: g.Last.PSN(), Count: g.count, Evidence: g.evidence, ConfirmedBy: g.confirmed,
		Where: g.where, OpenedFrame: g.opened.number, OpenedNS: g.opened.time - s.a.start, Closed: g.closed, Copies: g.copies}
	if g.closed != Open {
		out.ClosedFrame, out.ClosedNS = g.filled.number, max(0, g.filled.time-s.a.start)
	}
	if len(s.a.captures) > 1 {
		file := g.opened.file
		out.File = &file
	}
	out.Message = g.message.report()
	return out
}

// report is the message in the form of the report, nil if it is not known.
func (m *inMessage) report() *Message {
	if m.number == 0 {
		return nil
	}
	out := &Message{Number: m.number}
	if m.known {
		out.OpcodeName = m.op.String()
	}
	if m.hasVA {
		key := m.reth.RKey
		out.VA, out.RKey = NewHex64(m.reth.VA), &key
	}
	return out
}
