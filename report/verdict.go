package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rdmadump/rdmadump/dissect"
)

// capture appends what one input was.
func (p *page) capture(c *dissect.Capture) {
	if c.Format == "" { // it could not be opened
		p.wrap(p.style.bold.text(Visible(c.File))+"  ", "  ", painted(p.style.bad, "not read: "+Visible(strings.TrimPrefix(c.Error, c.File+": "))))
		return
	}
	facts := []string{c.Format, counted(c.Frames, "frame", "frames"), counted(c.RDMAFrames, "RDMA packet", "RDMA packets")}
	if first, last := int64(min(c.FirstTime, c.LastTime)), int64(max(c.FirstTime, c.LastTime)); first != 0 { // known
		facts = append(facts, time.Unix(0, first).UTC().Format("2006-01-02 15:04:05 UTC"), between(first, last))
	}
	p.phrases(p.style.bold.text(Visible(c.File))+"  ", "  ", facts)
	var trouble []string
	for _, t := range []struct {
		n         int64
		one, many string
	}{
		{int64(min(c.CaptureDrops, 1<<62)), "frame dropped by the capture", "frames dropped by the capture"},
		{c.BadICRC, "with a bad ICRC", "with a bad ICRC"},
		{c.CutFrames, "cut short", "cut short"},
		{c.DuplicateFrames, "seen twice", "seen twice"},
		{c.Fragments, "IP fragment, not decoded", "IP fragments, not decoded"},
	} {
		if t.n > 0 {
			trouble = append(trouble, counted(t.n, t.one, t.many))
		}
	}
	if len(trouble) > 0 {
		p.phrases("  ", "  ", trouble)
	}
	if c.Error != "" {
		p.wrap("  ", "  ", painted(p.style.bad, "read up to here: "+Visible(strings.TrimPrefix(c.Error, c.File+": "))))
	}
}

// verdict appends the one line that everybody reads.
func (p *page) verdict(r *dissect.Report, rows []row) {
	p.line()
	t := r.Totals
	lossy := map[int]bool{}
	var packets, undecided, damaged int64
	for _, row := range rows {
		packets += row.Packets
		undecided += row.Undecided
		damaged += row.Damaged
		if row.Lost > 0 {
			lossy[row.connection.ID] = true
		}
	}
	connections := counted(int64(t.Connections), "connection", "connections")
	switch {
	case t.Packets == 0 && r.Selection != nil:
		p.line(p.style.warn.text("NOTHING SELECTED"), ": no RDMA packet is in the selection")
		return
	case t.Packets == 0:
		p.line(p.style.warn.text("NO RDMA PACKETS"), ": nothing to analyse")
		return
	case t.Connections == 0 && t.Datagrams == 0 && t.CNPs == 0:
		p.wrap(p.style.warn.text("NO CONNECTION")+": ", "  ", strings.Fields(fmt.Sprintf("%s, too few or cut too short to follow any",
			counted(t.Packets, "RDMA packet", "RDMA packets"))))
	case t.Connections == 0:
		p.wrap(p.style.warn.text("NOTHING TO JUDGE")+": ", "  ", strings.Fields(fmt.Sprintf("%s and no connection; what datagrams lost, their PSNs do not tell",
			counted(t.Packets, "RDMA packet", "RDMA packets"))))
	case t.Lost > 0:
		how := "lost"
		if reported(rows) {
			how = "reported missing by the receiver"
		}
		p.wrap(p.style.bad.text("LOSS")+": ", "  ", append(strings.Fields(fmt.Sprintf("%s%s %s on %d of %s", atLeast(rows),
			counted(t.Lost, "packet", "packets"), how, len(lossy), connections)), ofSeen(t.Lost, packets)...))
	case failed(rows) > 0 && undecided > 0:
		p.wrap(p.style.bad.text("FAILED")+": ", "  ", strings.Fields(fmt.Sprintf("%s gave up; no loss is proved, and this capture cannot tell of %s",
			counted(failed(rows), "stream", "streams"), counted(undecided, "PSN", "PSNs"))))
	case failed(rows) > 0:
		p.wrap(p.style.bad.text("FAILED")+": ", "  ", strings.Fields(fmt.Sprintf("%s gave up, and nothing was lost", counted(failed(rows), "stream", "streams"))))
	case undecided > 0:
		p.wrap(p.style.warn.text("NO PROVEN LOSS")+": ", "  ", strings.Fields(fmt.Sprintf("but this capture cannot tell of %s, on %s",
			counted(undecided, "PSN", "PSNs"), connections)))
	case heardOf(rows) > 0:
		p.wrap(p.style.warn.text("NO PROVEN LOSS")+": ", "  ", strings.Fields(fmt.Sprintf("but of %s only the acknowledgements were captured, on %s",
			counted(heardOf(rows), "stream", "streams"), connections)))
	default:
		p.wrap(p.style.good.text("NO LOSS")+": ", "  ", strings.Fields(fmt.Sprintf("%s on %s", counted(t.Packets, "packet", "packets"), connections)))
	}
	var facts []string
	add := func(n int64, text string) {
		if n > 0 {
			facts = append(facts, text)
		}
	}
	add(t.Retransmitted, fmt.Sprintf("%s resent (%s)", grouped(t.Retransmitted), percent(t.Retransmitted, packets)))
	if t.Lost > 0 {
		add(undecided, grouped(undecided)+" undecided")
	}
	add(damaged, grouped(damaged)+" damaged on the way")
	add(t.NotCaptured, grouped(t.NotCaptured)+" not captured, though the network delivered them")
	add(t.CEMarked, grouped(t.CEMarked)+" marked CE")
	add(t.CNPs, counted(t.CNPs, "CNP", "CNPs"))
	add(t.PauseFrames, counted(t.PauseFrames, "pause frame", "pause frames"))
	for priority, n := range t.PFC {
		add(n, fmt.Sprintf("%s for priority %d", counted(n, "PFC pause", "PFC pauses"), priority))
	}
	add(t.Datagrams, counted(t.Datagrams, "datagram", "datagrams"))
	if len(facts) > 0 {
		p.phrases("  ", "  ", facts)
	}
	if t.Lost > 0 {
		p.places(rows)
	}
	p.failures(rows)
}

// reported says that nobody but the receiver missed what was lost. Where it passed
// here, a packet that is late behind this capture point looks like one that is lost.
func reported(rows []row) bool {
	for _, row := range rows {
		if row.Lost == 0 || row.heardOf() {
			continue
		}
		downstream := false
		for i := range row.Stream.Gaps {
			switch row.Stream.Gaps[i].Where {
			case dissect.Upstream:
				return false
			case dissect.Downstream:
				downstream = true
			}
		}
		if !downstream {
			return false
		}
	}
	return true
}

// atLeast says "at least " where the receiver named what is missing behind the
// capture point: of what followed it under go-back-N nobody here can tell.
func atLeast(rows []row) string {
	for _, row := range rows {
		if row.heardOf() && row.Lost > 0 {
			return "at least "
		}
		for i := range row.Stream.Gaps {
			if row.Stream.Gaps[i].Where == dissect.Downstream && row.connection.Transport == "go-back-n" {
				return "at least "
			}
		}
	}
	return ""
}

// fatal are the findings after which the application is told of an error.
var fatal = map[string]bool{"retry-exhausted": true, "rnr-retry-exhausted": true, "invalid-request": true,
	"remote-access-error": true, "remote-operational-error": true}

// heardOf is how many streams are known from feedback alone.
func heardOf(rows []row) (n int64) {
	for _, r := range rows {
		if r.heardOf() {
			n++
		}
	}
	return n
}

// failed counts the streams that ended in an error.
func failed(rows []row) int64 {
	var n int64
	for _, row := range rows {
		if slices.ContainsFunc(row.Findings, func(f dissect.Finding) bool { return fatal[f.Kind] }) {
			n++
		}
	}
	return n
}

// ofSeen is a part of the packets that were captured, nothing without any.
func ofSeen(part, packets int64) []string {
	if packets == 0 {
		return nil
	}
	return []string{"(" + percent(part, packets), "of", "what", "was", "seen)"}
}

// failures appends which findings there are, and of how many streams, so that a
// broken connection is not missed in a long report.
func (p *page) failures(rows []row) {
	var kinds []string
	count := map[string]int64{}
	for _, row := range rows {
		for i := range row.Findings {
			f := &row.Findings[i]
			if f.Counted() {
				continue
			}
			if count[f.Kind] == 0 {
				kinds = append(kinds, f.Kind)
			}
			count[f.Kind]++
		}
	}
	var facts []string
	for _, kind := range kinds {
		facts = append(facts, fmt.Sprintf("%s on %s", p.style.warn.text(kind), counted(count[kind], "stream", "streams")))
	}
	if len(facts) > 0 {
		p.phrases("  ", "  ", facts)
	}
}

// places appends where the gaps lie, as far as all of them are listed.
func (p *page) places(rows []row) {
	count := map[dissect.Where]int64{}
	var listed, total int64
	for _, row := range rows {
		for i := range row.Stream.Gaps {
			if g := &row.Stream.Gaps[i]; g.Where != dissect.Nowhere {
				count[g.Where] += g.Count
			}
		}
		listed += int64(len(row.Stream.Gaps))
		total += listable(row.Stream)
	}
	if listed < total {
		return
	}
	var places []string
	for _, w := range []dissect.Where{dissect.Upstream, dissect.Downstream, dissect.Unknown} {
		if count[w] > 0 {
			places = append(places, counted(count[w], "PSN", "PSNs")+" "+placeNames[w])
		}
	}
	if len(places) > 0 {
		p.phrases("  ", "  ", places)
	}
}

var placeNames = map[dissect.Where]string{
	dissect.Upstream:   "missing before this capture point",
	dissect.Downstream: "reported missing behind this capture point, lost or late there",
	dissect.Unknown:    "of which the place is unknown",
}

// evicted appends what was left out because memory is bounded.
func (p *page) evicted(e *dissect.Evicted) {
	if e == nil {
		return
	}
	p.line()
	var dropped []string
	if e.Halves > 0 {
		dropped = append(dropped, counted(e.Halves, "half connection", "half connections"))
	}
	if e.Gaps > 0 {
		dropped = append(dropped, counted(e.Gaps, "gap", "gaps"))
	}
	if e.Ranges > 0 {
		dropped = append(dropped, counted(e.Ranges, "range of lost PSNs", "ranges of lost PSNs"))
	}
	if e.Unproven > 0 {
		dropped = append(dropped, counted(e.Unproven, "packet without a valid ICRC", "packets without a valid ICRC"))
	}
	p.wrap("", "", painted(p.style.warn, "incomplete: "+strings.Join(dropped, ", ")+" dropped to keep memory bounded"))
}

// phrases appends facts with commas between them; a line breaks between facts.
func (p *page) phrases(first, indent string, facts []string) {
	for i := range facts[:len(facts)-1] {
		facts[i] += ","
	}
	p.wrap(first, indent, facts)
}

// painted splits a text into words that carry its colour each, so that it can
// be wrapped.
func painted(paint paint, text string) []string {
	words := strings.Fields(text)
	for i := range words {
		words[i] = paint.text(words[i])
	}
	return words
}
