package conform

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// confirmed are the PSNs that windowless reports say have come. Their sender has
// no reason to send those again: they are in no gap, and the tail rule names what no
// report confirms. The timer alone may name what came above a gap. The sender need
// not have the newest report yet, though, when a packet passes that waited in its
// port.
type confirmed struct {
	known  psn.Set // the sender has processed the report
	told   psn.Set // the report has passed here
	newest psn.Set // what the last report says is missing and none before it could say
	named  psn.Set // gaps of all reports
	report sight   // the last one
	sent   psn.Seq // one past the highest PSN sent then
	cum    psn.Seq // one past the highest LastFinishedPSN that the sender has processed
	last   psn.Seq // and of all that have passed here
}

// mostSpans is how many runs of PSNs are kept, and keptPSNs of how many PSNs behind
// the newest where there are more.
const (
	mostSpans = 1 << 10
	keptPSNs  = 1 << 16
)

// confirms notes what a report says.
func (c *Checker) confirms(w *flow) {
	if !c.config.Rules.has(tcResendOnlyGaps) {
		return
	}
	k, h := &w.confirmed, &c.packet.TCAETH
	last := psn.Unwrap(c.f.Seq, h.LastFinishedPSN)
	segments, n := h.Segments()
	k.report = c.here()
	k.newest.Clear()
	k.told.Insert(psn.Span{First: min(w.first, last), Last: last})
	k.last = max(k.last, last+1)
	top := last
	for _, r := range segments[:n] {
		block := psn.Span{First: psn.Unwrap(last, r.First), Last: psn.Unwrap(last, r.Last)}
		k.gap(psn.Span{First: top + 1, Last: block.First - 1})
		k.told.Insert(block)
		top = block.Last
	}
	if n < len(segments) { // else there may be more blocks than fit
		k.missing(psn.Span{First: top + 1, Last: max(top, w.top)})
		k.newest.Insert(psn.Span{First: max(top+1, k.sent), Last: w.top - 1})
	}
	k.sent = w.top
	for _, s := range [...]*psn.Set{&k.known, &k.told, &k.named} {
		if spans := s.Spans(); len(spans) > mostSpans {
			s.Remove(psn.Span{First: spans[0].First, Last: w.top - keptPSNs})
		}
	}
}

// gap notes a gap of a report.
func (k *confirmed) gap(span psn.Span) {
	if span.Len() == 0 {
		return
	}
	for _, fresh := range k.named.Gaps(nil, span) {
		k.newest.Insert(fresh)
	}
	k.named.Insert(span)
	k.missing(span)
}

// missing notes PSNs that may be sent again, whatever was said of them before.
func (k *confirmed) missing(span psn.Span) {
	if span.Len() > 0 {
		k.known.Remove(span)
		k.told.Remove(span)
	}
}

// refuses notes that all from s on may be sent again.
func (k *confirmed) refuses(s, top psn.Seq) { k.missing(psn.Span{First: s, Last: max(s, top)}) }

// tcRequest judges a packet that a windowless sender sends again.
func (c *Checker) tcRequest(w *flow, s psn.Seq, fresh bool) {
	k := &w.confirmed
	if fresh || answered(c.f.BTH.Opcode) || k.report.frame == 0 {
		return
	}
	// A gap that is sent again shows that its report was processed; and nothing
	// waits in a port for so long.
	if k.newest.Contains(s) || c.f.Packet.Time-k.report.time > speaking {
		for _, span := range k.told.Spans() {
			k.known.Insert(span)
		}
		k.told.Clear()
		k.cum = k.last
	}
	if k.known.Contains(s) && (s < k.cum || c.f.Packet.Time-k.report.time < w.patience()) {
		c.doubt(w, ifSurelySender, tcResendOnlyGaps, say("%s resent, which reports say has come", s.PSN()), k.report.frame)
	}
}

// patience is how long, in nanoseconds, no timer ends after a report. One that is
// shorter than a round trip would send everything again.
func (w *flow) patience() int64 {
	if timer := w.handle.AckTimeout().Nanoseconds(); timer > 0 {
		return timer / 4 * 3
	}
	return w.handle.RTT().Nanoseconds()
}

// tcSays takes what a windowless responder says without a report.
func (c *Checker) tcSays(w *flow) {
	if p := &c.packet; w.handle.Transport() == "windowless" && p.Has(codec.HeaderAETH) && p.AETH.Syndrome.Kind() != codec.KindACK {
		w.confirmed.refuses(c.f.Seq, w.top)
	}
}
