package dissect

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// A capture may have one direction only, or miss one end's packets. READ
// responses without their requests are followed all the same. Of requests of
// which only the feedback was captured nothing can be followed; but what the
// receiver named was missing.

// claim is a PSN that a receiver named, of requests that were not captured.
type claim struct {
	psn            psn.PSN
	opened, closed sight
	over           bool // acknowledged since
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
	claims      []claim
	open        int // of claims, the first that is not over
}

// overhear takes feedback whose requests nobody knows.
func (h *half) overhear(in *arrival) {
	if !in.has.Has(codec.HeaderAETH) || in.op == codec.OpcodeMPRDMANack || in.has.Has(codec.HeaderTCAETH) {
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
	case kind == codec.KindRNRNAK:
		y.notReady, y.refusing = in.psn, true
		acked = in.psn
	case kind == codec.KindNAK:
		acked = in.psn
		if in.aeth.Syndrome.IsSequenceNAK() && !(y.refusing && y.notReady == in.psn) {
			y.name(in)
		}
	default:
		y.refusing = false
	}
	for y.open < len(y.claims) && y.claims[y.open].psn.Sub(acked) < 0 {
		y.claims[y.open].closed, y.claims[y.open].over = in.sight(), true
		y.open++
	}
}

// name notes a PSN that the receiver misses, once.
func (y *hearsay) name(in *arrival) {
	n := len(y.claims)
	if n == maxClaims || n > 0 && in.psn.Sub(y.claims[n-1].psn) <= 0 {
		return
	}
	y.claims = append(y.claims, claim{psn: in.psn, opened: in.sight()})
}

// unseenRequests is the stream of requests as far as feedback alone tells of it.
func (a *Analyzer) unseenRequests(h *half) Stream {
	y := h.hearsay
	s := &h.req // of the half that does not exist: for the form of gaps
	out := Stream{Src: h.key.dst, Dst: h.key.src, Kind: "request", Epochs: 1, FirstPSN: y.first, LastPSN: y.last,
		Lost: int64(len(y.claims)), GapsTotal: int64(len(y.claims)), LostRanges: []psn.Range{}, Gaps: []Gap{},
		Retransmitted: (&resends{}).report(), Feedback: h.fb.report(), Findings: []Finding{{Kind: "feedback-only",
			Text: "of these requests only the acknowledgements were captured: what is lost is what NAKs name, a lower bound"}}}
	for i := range y.claims {
		c := &y.claims[i]
		if n := len(out.LostRanges); n > 0 && out.LostRanges[n-1].Last.Add(1) == c.psn {
			out.LostRanges[n-1].Last = c.psn
		} else {
			out.LostRanges = append(out.LostRanges, psn.Range{First: c.psn, Last: c.psn})
		}
		if len(out.Gaps) == a.gapLimit {
			continue
		}
		seq := psn.Unwrap(1<<32, c.psn)
		g := gap{Span: psn.Span{First: seq, Last: seq}, count: 1, copies: 1, evidence: EvidenceNAK, where: Unknown,
			closed: Open, opened: c.opened}
		if c.over {
			g.closed, g.filled = ClosedRetransmitted, c.closed
		}
		out.Gaps = append(out.Gaps, s.gap(&g))
	}
	return out
}
