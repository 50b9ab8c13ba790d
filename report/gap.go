package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// details appends, of the worst streams, what was resent and why, what the
// receiver said, findings and gaps.
func (p *page) details(rows []row, limit, gaps, files int) {
	told := 0
	for _, r := range rows {
		if !r.tells() {
			continue
		}
		if told == limit {
			p.line()
			p.line(p.style.dim.text("gaps and findings of the other streams: --json"))
			return
		}
		told++
		p.line()
		p.wrap(p.style.bold.text(fmt.Sprintf("#%d", r.connection.ID))+"  ", "    ", p.heading(r))
		p.resent(r)
		p.feedback(r)
		p.times(r)
		for i := range r.Findings {
			if f := &r.Findings[i]; !f.Counted() {
				p.finding(f)
			}
		}
		p.counters(r.Findings)
		shown := r.Stream.Gaps[:min(gaps, len(r.Stream.Gaps))]
		p.gaps(r, shown, files)
		if rest := listable(r.Stream) - int64(len(shown)); rest > 0 && len(shown) > 0 {
			p.line(p.style.dim.text(fmt.Sprintf("    ... and %s more (--max-gaps lists more)", counted(rest, "gap", "gaps"))))
		}
	}
}

// listable is how many gaps of a stream the list has without a limit: late packets
// only where they were asked for.
func listable(s *dissect.Stream) int64 {
	if slices.ContainsFunc(s.Gaps, func(g dissect.Gap) bool { return g.Closed == dissect.ClosedReordered }) {
		return s.GapsTotal
	}
	return s.GapsTotal - s.GapsReordered
}

// heading names the stream in full.
func (p *page) heading(r row) []string {
	kind := "requests"
	if r.Kind == "read-response" {
		kind = "READ responses"
	}
	words := painted(p.style.bold, r.path())
	words = append(words, strings.Fields(r.connection.Service+" "+kind+",")...)
	words = append(words, r.connection.Transport+",", strings.Join([]string{"PSN", r.FirstPSN.String(), "to", r.LastPSN.String()}, nobreak))
	switch r.connection.PairedBy {
	case "", "none":
		words[len(words)-1] += ","
		words = append(words, strings.Fields("no answer seen")...)
	}
	if r.Epochs > 1 {
		words[len(words)-1] += ","
		words = append(words, grouped(r.Epochs), "epochs")
	}
	return words
}

func (p *page) resent(r row) {
	t := &r.Retransmitted
	if t.Packets == 0 {
		return
	}
	facts := []string{fmt.Sprintf("resent %s, %s:", counted(t.Packets, "packet", "packets"), counted(t.PayloadBytes, "byte", "bytes"))}
	facts = append(facts, breakdown(t.ByCause, causeNames)...)
	if len(t.ByVerdict) > 0 {
		facts[len(facts)-1] += ";"
		facts = append(facts, breakdown(t.ByVerdict, verdictNames)...)
	}
	if r.Efficiency != nil {
		facts[len(facts)-1] += ";"
		facts = append(facts, fmt.Sprintf("efficiency %.2f", *r.Efficiency))
	}
	p.wrap("    ", "      ", facts)
}

var causeNames = map[dissect.Cause]string{
	dissect.CauseNAK:        "after a NAK",
	dissect.CauseIRNNack:    "after an IRN NACK",
	dissect.CauseTCAETH:     "after a T/C AETH report",
	dissect.CauseMPNack:     "after an MP-RDMA NACK",
	dissect.CauseImpliedNAK: "after a repeated READ request",
	dissect.CauseRNR:        "after an RNR NAK",
	dissect.CauseTimeout:    "after a timeout",
	dissect.CauseEarly:      "for no reason seen here",
}

var verdictNames = map[dissect.Verdict]string{
	dissect.Needed:         "needed",
	dissect.Redundant:      "redundant",
	dissect.Wasted:         "wasted by starting over",
	dissect.UnknownVerdict: "needed or not, unknown",
}

// breakdown lists counts by kind, the largest first, with commas between them.
func breakdown[K ~string](counts map[K]int64, names map[K]string) []string {
	var kinds []K
	for k, n := range counts {
		if n > 0 {
			kinds = append(kinds, k)
		}
	}
	slices.SortFunc(kinds, func(a, b K) int {
		if counts[a] != counts[b] {
			return int(counts[b] - counts[a])
		}
		return strings.Compare(string(a), string(b))
	})
	facts := make([]string, len(kinds))
	for i, k := range kinds {
		name := names[k]
		if name == "" {
			name = string(k)
		}
		facts[i] = grouped(counts[k]) + " " + name
		if i < len(kinds)-1 {
			facts[i] += ","
		}
	}
	return facts
}

func (p *page) feedback(r row) {
	f := &r.Feedback
	if f.Packets == 0 {
		if r.Kind == "request" { // READ responses are not acknowledged, but by IRN
			p.line("    no acknowledgement seen")
		}
		return
	}
	var kinds []string
	add := func(n int64, one, many string) {
		if n > 0 {
			kinds = append(kinds, counted(n, one, many))
		}
	}
	add(f.Acks, "ACK", "ACKs")
	add(f.Naks, "NAK", "NAKs")
	add(f.RNRNaks, "RNR NAK", "RNR NAKs")
	add(f.Cut, "without its AETH", "without their AETH")
	switch len(kinds) {
	case 0: // ATOMIC acknowledges are counted apart
		kinds = []string{counted(f.Packets, "acknowledgement", "acknowledgements")}
	case 1:
	default: // a sum shows that none of them holds another
		kinds[0] = counted(f.Packets, "acknowledgement", "acknowledgements") + ": " + kinds[0]
	}
	var facts []string
	if f.AtomicAcks > 0 {
		facts = append(facts, counted(f.AtomicAcks, "ATOMIC acknowledge", "ATOMIC acknowledges"))
	}
	if f.NoCredit > 0 {
		facts = append(facts, counted(f.NoCredit, "ACK without credit", "ACKs without credit"))
	}
	if sent := r.Packets; sent > 0 && f.Bytes > 0 {
		facts = append(facts, fmt.Sprintf("overhead %.2f packets and %.1f bytes a packet sent", float64(f.Packets)/float64(sent), float64(f.Bytes)/float64(sent)))
	}
	for i := range kinds[:len(kinds)-1] {
		kinds[i] += ","
	}
	for _, fact := range facts {
		kinds[len(kinds)-1] += ";"
		kinds = append(kinds, fact)
	}
	p.wrap("    received ", "      ", kinds)
}

func (p *page) times(r row) {
	t := &r.Times
	var facts []string
	for _, s := range []struct {
		name string
		*dissect.Span
	}{
		{"RTT", t.RTT}, {"NAK generation", t.NakGeneration}, {"NAK reaction", t.NakReaction},
		{"recovery", t.Recovery}, {"timeout", t.Timeout}, {"message", t.Message},
	} {
		if s.Span == nil || s.Count == 0 {
			continue
		}
		text := s.name + " " + span(s.Median)
		if s.Count > 1 {
			text += fmt.Sprintf(" (%s to %s)", span(s.Min), span(s.Max))
		}
		facts = append(facts, text)
	}
	if len(facts) > 0 {
		p.phrases("    ", "      ", facts)
	}
}

// counters appends which counters of the NICs rise with what was told above.
func (p *page) counters(all []dissect.Finding) {
	var hosts []dissect.Address
	names := map[dissect.Address][]string{}
	for i := range all {
		if f := &all[i]; f.Counted() {
			if names[f.Host] == nil {
				hosts = append(hosts, f.Host)
			}
			names[f.Host] = append(names[f.Host], f.Counter)
		}
	}
	var words []string
	for i, host := range hosts {
		if i > 0 {
			words[len(words)-1] += ";"
		}
		words = append(words, strings.Fields(strings.Join(names[host], ", "))...)
		words = append(words, "on", host.String())
	}
	if len(words) > 0 {
		p.wrap("    NIC counters ", "      ", words)
	}
}

func (p *page) finding(f *dissect.Finding) {
	words := append(painted(p.style.warn, f.Kind+":"), strings.Fields(f.Text)...)
	if f.Counter != "" {
		words = append(words, "[NIC", "counter", f.Counter)
		if f.Host != (dissect.Address{}) {
			words = append(words, "on", f.Host.String())
		}
		words[len(words)-1] += "]"
	}
	if len(f.Frames) > 0 {
		words = append(words, "(frame")
		if len(f.Frames) > 1 {
			words[len(words)-1] = "(frames"
		}
		const most = 6
		for i, n := range f.Frames[:min(most, len(f.Frames))] {
			end := ","
			if i == len(f.Frames)-1 {
				end = ")"
			}
			words = append(words, strconv.Itoa(n)+end)
		}
		if len(f.Frames) > most {
			words = append(words, "...)")
		}
	}
	p.wrap("    ", "      ", words)
}

// gaps appends gaps in groups that share place and proof, in order: which PSNs
// were missing, when that showed and how it ended, and what it hit.
func (p *page) gaps(r row, gaps []dissect.Gap, files int) {
	type proof struct {
		where                 dissect.Where
		evidence, confirmedBy dissect.Evidence
	}
	var order []proof
	groups := map[proof][]*dissect.Gap{}
	for i := range gaps {
		g := &gaps[i]
		key := proof{g.Where, g.Evidence, g.ConfirmedBy}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], g)
	}
	for _, key := range order {
		words := append(painted(p.placePaint(key.where), place(r, key.where, key.evidence)+":"), strings.Fields(evidence(key.evidence, key.confirmedBy))...)
		p.wrap("    ", "      ", words)
		p.gapRows(groups[key], files, r.heardOf())
	}
}

// gapRows appends one row a gap, aligned.
func (p *page) gapRows(gaps []*dissect.Gap, files int, heardOf bool) {
	rows := make([][3]string, len(gaps))
	var widths [3]int
	for i, g := range gaps {
		rows[i] = [3]string{"PSN " + psn.Range{First: g.First, Last: g.Last}.String(), opening(g, files), closing(g, heardOf)}
		if g.Count > 1 {
			rows[i][0] += " (" + grouped(g.Count) + ")"
		}
		for j, s := range rows[i] {
			widths[j] = max(widths[j], len(s))
		}
	}
	const indent = "      "
	under := indent + strings.Repeat(" ", widths[0]+2) // the second cell
	if len(under) > p.width/3 {                        // no room to stand there
		under = indent + "  "
	}
	for i, g := range gaps {
		cells := make([]string, 0, 4)
		for j, s := range rows[i] {
			cells = append(cells, fmt.Sprintf("%-*s ", widths[j], s))
		}
		hit := strings.Fields(message(g))
		if len(hit) > 0 && p.width >= 120 {
			cells, hit = append(cells, strings.Join(hit, " ")), nil
		}
		p.wrap(indent, under, cells)
		if len(hit) > 0 {
			p.wrap(under, under, hit)
		}
	}
}

// opening says when a gap showed.
func opening(g *dissect.Gap, files int) string {
	text := fmt.Sprintf("frame %d, %s", g.OpenedFrame, span(g.OpenedNS))
	if g.OpenedNS < 0 { // captures are not always in order of time
		text = fmt.Sprintf("frame %d, %s before the first", g.OpenedFrame, between(g.OpenedNS, 0))
	}
	if files > 1 && g.File != nil {
		text = fmt.Sprintf("file %d ", *g.File) + text
	}
	return text
}

// closing says how and when a gap ended. Of a stream that is known from feedback alone
// only the acknowledgement was seen.
func closing(g *dissect.Gap, heardOf bool) string {
	text := closings[g.Closed]
	if heardOf && g.Closed == dissect.ClosedRetransmitted {
		text = "acknowledged"
	}
	if text == "" {
		text = string(g.Closed)
	}
	if g.Closed != dissect.Open && g.ClosedFrame != 0 {
		text += fmt.Sprintf(" in frame %d", g.ClosedFrame)
		if g.ClosedNS >= g.OpenedNS {
			text += " after " + between(g.OpenedNS, g.ClosedNS)
		}
	}
	if g.Copies > 1 {
		text += fmt.Sprintf(" (lost %d times)", g.Copies)
	}
	return text
}

func (p *page) placePaint(w dissect.Where) paint {
	switch w {
	case dissect.Nowhere, dissect.InCapture:
		return p.style.dim
	case dissect.Unknown:
		return p.style.warn
	}
	return p.style.bad
}

// place says where the packets went, with the ends between which it happened.
func place(r row, w dissect.Where, by dissect.Evidence) string {
	switch w {
	case dissect.Upstream:
		return "lost between " + r.Src.String() + " and this capture point"
	case dissect.Downstream:
		return "reported missing between this capture point and " + r.Dst.String()
	case dissect.Nowhere:
		return "late, not lost"
	case dissect.InCapture:
		return "delivered, but not captured"
	}
	if r.heardOf() {
		return "lost on the way from " + r.Src.String() + " to " + r.Dst.String()
	}
	if by == dissect.EvidenceObserved {
		return "lost, or missed by the capture, which dropped frames"
	}
	return "lost, or only its acknowledgement was"
}

// evidence says what a gap rests on.
func evidence(first, confirmed dissect.Evidence) string {
	text := evidenceNames[first]
	if text == "" {
		text = string(first)
	}
	if by := evidenceNames[confirmed]; by != "" {
		text += ", " + by
	}
	return text
}

var evidenceNames = map[dissect.Evidence]string{
	dissect.EvidenceObserved:   "a later packet came first",
	dissect.EvidenceNAK:        "a NAK named it",
	dissect.EvidenceIRNNack:    "an IRN NACK named it",
	dissect.EvidenceTCAETH:     "a T/C AETH report named it",
	dissect.EvidenceMPNack:     "an MP-RDMA NACK named it",
	dissect.EvidenceReTx:       "it says that it is sent again, and no copy came before",
	dissect.EvidenceImpliedNAK: "a repeated READ request named it",
	dissect.EvidenceTimeout:    "resent without feedback",
	dissect.EvidenceICRC:       "came with a bad ICRC",
}

var closings = map[dissect.Closed]string{
	dissect.ClosedRetransmitted: "resent",
	dissect.ClosedReordered:     "came late",
	dissect.ClosedNotCaptured:   "acknowledged",
	dissect.Open:                "still missing at the end",
}

// message says what a gap hit, as far as the capture saw it.
func message(g *dissect.Gap) string {
	m := g.Message
	if m == nil {
		return ""
	}
	text := "hit message " + grouped(m.Number)
	if m.OpcodeName != "" {
		text += ", " + m.OpcodeName
	}
	if m.VA != "" {
		text += ", va" + nobreak + string(m.VA)
	}
	if m.RKey != nil {
		text += fmt.Sprintf(", rkey%s0x%08x", nobreak, *m.RKey)
	}
	return text
}
