package dissect

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// A capture may have one direction only, or miss one end's packets. READ
// responses without their requests are followed all the same. Of requests of
// which only the feedback was captured nothing can be followed; but what the
// receiver named was missing.

// claim is PSNs that a receiver named, of requests that were not captured.
type claim struct {
	first, last    psn.PSN
	evidence       Evidence
	opened, closed sight
	over           bool // all acknowledged since
}

// maxClaims bounds what is remembered of feedback on requests that were not
// captured.
const maxClaims = 1024

// hearsay is feedback without the requests that it is about.
type hearsay struct {
	first, last psn.PSN // PSNs that it named or acknowledged
	on          bool
	notReady    psn.PSN // named by the last RNR NAK
	refusing    bool    // nothing was acknowledged since
	claims      []claim // one after the other
	named       int64   // PSNs of them
	open        int     // of claims, the first that is not over
}

// overhear takes feedback whose requests nobody knows.
func (h *half) overhear(in *arrival) {
	reports := in.has.Has(codec.HeaderTCAETH)
	switch {
	case reports:
		if !h.heeds(windowless) || in.tc.Validate() != nil {
			return
		}
		h.speaks(windowless)
	case in.op == codec.OpcodeIRNNack && h.heeds(irnTransport):
		h.speaks(irnTransport)
	case !in.has.Has(codec.HeaderAETH) || in.op == codec.OpcodeMPRDMANack:
		return
	}
	if h.hearsay == nil {
		h.hearsay = &hearsay{}
	}
	y := h.hearsay
	if !y.on {
		y.first, y.last, y.on = in.psn, in.psn, true
	}
	if ahead := in.psn.Sub(y.last); ahead > 0 {
		y.last = in.psn
	}
	acked := in.psn.Add(1)
	switch kind := in.aeth.Syndrome.Kind(); {
	case reports:
		acked = y.report(in)
	case kind == codec.KindRNRNAK:
		y.notReady, y.refusing = in.psn, true
		acked = in.psn
	case kind == codec.KindNAK:
		acked = in.psn
		if in.aeth.Syndrome.IsSequenceNAK() && !(y.refusing && y.notReady == in.psn) {
			evidence := EvidenceNAK
			if in.op == codec.OpcodeIRNNack {
				evidence = EvidenceIRNNack
			}
			y.name(in.psn, in.psn, evidence, in)
		}
	default:
		y.refusing = false
	}
	for y.open < len(y.claims) && y.claims[y.open].last.Sub(acked) < 0 {
		y.claims[y.open].closed, y.claims[y.open].over = in.sight(), true
		y.open++
	}
}

// report takes what a T/C AETH says is missing between the blocks that arrived. It
// returns the PSN up to which all arrived.
func (y *hearsay) report(in *arrival) (acked psn.PSN) {
	last := in.tc.LastFinishedPSN
	segments, n := in.tc.Segments()
	for _, segment := range segments[:n] {
		y.name(last.Add(1), segment.First.Add(-1), EvidenceTCAETH, in)
		last = segment.Last
	}
	if last.Sub(y.last) > 0 {
		y.last = last
	}
	return in.tc.LastFinishedPSN.Add(1)
}

// name notes PSNs that the receiver misses, each once: what lies before those that
// it named last it names again.
func (y *hearsay) name(first, last psn.PSN, evidence Evidence, in *arrival) {
	n := len(y.claims)
	if n == maxClaims {
		return
	}
	if n > 0 && first.Sub(y.claims[n-1].last) <= 0 {
		first = y.claims[n-1].last.Add(1)
	}
	if count := int64(last.Sub(first)) + 1; count > 0 {
		y.named += count
		y.claims = append(y.claims, claim{first: first, last: last, evidence: evidence, opened: in.sight()})
	}
}

// unseenRequests is the stream of requests as far as feedback alone tells of it.
func (a *Analyzer) unseenRequests(h *half) Stream {
	y := h.hearsay
	s := &h.req // of the half that does not exist: for the form of gaps
	out := Stream{Src: h.key.dst, Dst: h.key.src, Kind: "request", Epochs: 1, FirstPSN: y.first, LastPSN: y.last,
		Lost: y.named, GapsTotal: int64(len(y.claims)), LostRanges: []psn.Range{}, Gaps: []Gap{},
		Retransmitted: (&resends{}).report(), Feedback: h.fb.report(), Findings: []Finding{{Kind: "feedback-only",
			Text: "of these requests only the acknowledgements were captured: what is lost is what they name, a lower bound"}}}
	for i := range y.claims {
		c := &y.claims[i]
		if n := len(out.LostRanges); n > 0 && out.LostRanges[n-1].Last.Add(1) == c.first {
			out.LostRanges[n-1].Last = c.last
		} else {
			out.LostRanges = append(out.LostRanges, psn.Range{First: c.first, Last: c.last})
		}
		if len(out.Gaps) == a.gapLimit {
			continue
		}
		span := psn.Span{First: psn.Unwrap(1<<32, c.first)}
		span.Last = psn.Unwrap(span.First, c.last)
		g := gap{Span: span, count: span.Len(), copies: 1, evidence: c.evidence, where: Unknown,
			closed: Open, opened: c.opened}
		if c.over {
			g.closed, g.filled = ClosedRetransmitted, c.closed
		}
		out.Gaps = append(out.Gaps, s.gap(&g))
	}
	return out
}
