package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/dissect/twopoint"
)

// Compare writes a comparison of capture points for people: what vanished first,
// then the clocks, then a table of the streams, the worst first, then the copies
// that vanished from the worst.
type Compare struct {
	Style
	Width  int // columns to stay within, as far as addresses and names allow
	Rows   int // streams in the table; the rest is summed up
	Detail int // streams of which vanished copies are told
	Copies int // vanished copies that are told of one stream
}

// Write writes the report to w. The error is that of w.
func (l Compare) Write(w io.Writer, c *twopoint.Comparison) error {
	p := &page{style: l.Style, width: l.Width}
	points := points{}
	for i, k := range c.Captures {
		points[k.File] = string(rune('A' + i))
		k.Error = strings.TrimPrefix(k.Error, k.File+": ")
		k.File = points[k.File] + "  " + k.File
		p.capture(&k)
	}
	if c.Selection != nil {
		facts := selected(c.Selection)
		if c.Selection.From != nil || c.Selection.To != nil {
			facts[len(facts)-1] += " by the clock of A"
		}
		p.phrases(p.style.bold.text("selected")+"  ", "  ", facts)
	}
	p.found(c)
	p.doubt(c, points)
	p.clocks(c, points)
	streams := worstCompared(c)
	p.hops(streams, points, l.Rows)
	p.copies(streams, points, l.Detail, l.Copies)
	p.once(c.Once, points, l.Detail)
	p.letGo(c.Evicted)
	_, err := w.Write(p.b)
	return err
}

// points name the captures by letters, in the order in which they were given:
// paths are long, and each is said once.
type points map[string]string

// worstCompared lists the streams of all kinds by what an operator would look at
// first.
func worstCompared(c *twopoint.Comparison) []*twopoint.Stream {
	var all []*twopoint.Stream
	for _, list := range [...][]twopoint.Stream{c.Streams, c.Datagrams, c.Feedback} {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	slices.SortStableFunc(all, func(a, b *twopoint.Stream) int {
		return cmp.Or(
			cmp.Compare(b.VanishedTotal+b.Damaged, a.VanishedTotal+a.Damaged),
			cmp.Compare(b.Reordered+b.Duplicated, a.Reordered+a.Duplicated),
			cmp.Compare(b.NotCaptured, a.NotCaptured))
	})
	return all
}

// nothingShared reports whether no copy passed while both captures of a pair ran.
func nothingShared(c *twopoint.Comparison) bool {
	for _, list := range [...][]twopoint.Stream{c.Streams, c.Feedback, c.Datagrams} {
		if slices.ContainsFunc(list, func(s twopoint.Stream) bool { return s.CopiesAtFirst+s.CopiesAtSecond > 0 }) {
			return false
		}
	}
	return true
}

// found appends the one line that everybody reads.
func (p *page) found(c *twopoint.Comparison) {
	p.line()
	t := c.Totals
	var lossy int64
	for _, s := range c.Streams {
		if s.VanishedTotal+s.Damaged > 0 {
			lossy++
		}
	}
	streams := counted(int64(len(c.Streams)), "stream", "streams")
	switch {
	case c.Selection != nil && len(c.Streams)+len(c.Feedback)+len(c.Datagrams)+len(c.Once) == 0:
		p.line(p.style.warn.text("NOTHING SELECTED"), ": no RDMA packet is in the selection")
		return
	case nothingShared(c):
		p.wrap(p.style.warn.text("NOTHING TO COMPARE")+": ", "  ", strings.Fields("no packet was seen in two captures"))
		return
	case t.Vanished+t.Damaged > 0:
		p.wrap(p.style.bad.text("LOSS")+": ", "  ", append(strings.Fields(fmt.Sprintf("%s lost between the capture points, on %d of %s",
			counted(t.Vanished+t.Damaged, "packet", "packets"), lossy, streams)), "("+percent(t.Vanished+t.Damaged, t.Copies), "of", "what", "was", "sent)"))
	default:
		p.wrap(p.style.good.text("NO LOSS")+": ", "  ", strings.Fields(fmt.Sprintf("%s passed both capture points, on %s", counted(t.Copies, "packet", "packets"), streams)))
	}
	var facts []string
	for _, f := range []struct {
		n         int64
		one, many string
	}{
		{t.Damaged, "damaged between the points", "damaged between the points"},
		{t.Reordered, "overtaken by a later one", "overtaken by later ones"},
		{t.Duplicated, "duplicated", "duplicated"},
		{t.NotCaptured, "missed by the first capture", "missed by the first capture"},
		{t.FeedbackVanished, "acknowledgement vanished", "acknowledgements vanished"},
		{t.DatagramsVanished, "datagram vanished", "datagrams vanished"},
	} {
		if f.n > 0 {
			facts = append(facts, counted(f.n, f.one, f.many))
		}
	}
	if t.Damaged > 0 && t.Vanished > 0 {
		facts = slices.Insert(facts, 0, grouped(t.Vanished)+" vanished")
	}
	if len(facts) > 0 {
		p.phrases("  ", "  ", facts)
	}
}

// doubt appends that a capture which lost frames may have lost those that seem
// to have vanished.
func (p *page) doubt(c *twopoint.Comparison, at points) {
	if c.Totals.Vanished == 0 {
		return
	}
	for i := range c.Captures {
		k := &c.Captures[i]
		if k.CaptureDrops > 0 && slices.ContainsFunc(c.Streams, func(s twopoint.Stream) bool { return s.Downstream == k.File && s.VanishedTotal > 0 }) {
			p.wrap("  ", "  ", painted(p.style.warn, fmt.Sprintf("%s lost %s itself: some of what vanished on the way to it may be among them",
				at[k.File], counted(int64(min(k.CaptureDrops, 1<<62)), "frame", "frames"))))
		}
	}
}

// clocks appends how the clocks differ and what that rests on.
func (p *page) clocks(c *twopoint.Comparison, at points) {
	clocks := c.Clocks
	if len(c.Captures) == 2 {
		clocks = []twopoint.Clock{c.Clock}
	}
	for _, k := range clocks {
		if k.Basis == twopoint.NoBasis {
			continue
		}
		text := fmt.Sprintf("the clock of %s is %s ahead of that of %s", at[k.To], span(k.Offset), at[k.From])
		switch {
		case k.Offset == 0:
			text = fmt.Sprintf("the clocks of %s and %s agree", at[k.From], at[k.To])
		case k.Offset < 0:
			text = fmt.Sprintf("the clock of %s is %s behind that of %s", at[k.To], span(-k.Offset), at[k.From])
		}
		if k.Drift != 0 {
			text += fmt.Sprintf(" and drifts by %.3f ppm", float64(k.Drift)/1000)
		}
		if k.Basis == twopoint.OneWay {
			text += "; packets went one way only, so the fastest is taken to have needed no time"
		} else {
			text += ", if both directions take equally long"
		}
		p.wrap("  ", "  ", strings.Fields(text))
	}
}

// comparedColumns are the counts of the table; see columns.
var comparedColumns = []struct {
	title  string
	always bool
	value  func(*twopoint.Stream) int64
	paint  func(Style) paint
}{
	{"sent", true, func(s *twopoint.Stream) int64 { return s.CopiesAtFirst }, nil},
	{"vanished", true, func(s *twopoint.Stream) int64 { return s.VanishedTotal }, func(s Style) paint { return s.bad }},
	{"damaged", false, func(s *twopoint.Stream) int64 { return s.Damaged }, func(s Style) paint { return s.bad }},
	{"overtaken", false, func(s *twopoint.Stream) int64 { return s.Reordered }, func(s Style) paint { return s.warn }},
	{"duplicated", false, func(s *twopoint.Stream) int64 { return s.Duplicated }, func(s Style) paint { return s.warn }},
	{"CE", false, func(s *twopoint.Stream) int64 { return s.CEMarked }, func(s Style) paint { return s.warn }},
	{"uncaptured", false, func(s *twopoint.Stream) int64 { return s.NotCaptured }, nil},
	{"outside", false, func(s *twopoint.Stream) int64 { return s.Outside }, nil},
}

// hops appends the streams between two points each.
func (p *page) hops(streams []*twopoint.Stream, at points, limit int) {
	for i, s := range streams[:min(len(streams), limit)] {
		if i == 0 {
			p.line()
		}
		p.wrap("", "    ", []string{p.style.bold.text(comparedName(s))})
		facts := []string{"from " + at[s.Upstream] + " to " + at[s.Downstream] + orderNote[s.OrderBy]}
		for _, c := range comparedColumns {
			n := c.value(s)
			if n == 0 && !c.always {
				continue
			}
			text := grouped(n) + " " + c.title
			if n != 0 && c.paint != nil {
				text = c.paint(p.style).text(text)
			}
			facts = append(facts, text)
		}
		for _, k := range s.ECNChanges {
			if k.To != dissect.ECNCE {
				facts = append(facts, fmt.Sprintf("%s ECN changed from %s to %s", grouped(k.Copies), ecnNames[k.From], ecnNames[k.To]))
			}
		}
		for _, k := range s.DSCPChanges[:min(len(s.DSCPChanges), 3)] {
			facts = append(facts, fmt.Sprintf("%s DSCP changed from %d to %d", grouped(k.Copies), k.From, k.To))
		}
		if h := s.Hops; h != nil && h.Min == h.Max {
			facts = append(facts, counted(h.Min, "hop", "hops"))
		} else if h != nil {
			facts = append(facts, fmt.Sprintf("%d to %d hops", h.Min, h.Max))
		}
		if d := s.Delay; d.Count > 0 {
			facts = append(facts, fmt.Sprintf("delay %s (%s to %s)", span(d.Median), span(d.Min), span(d.Max)))
		}
		p.phrases("    ", "    ", facts)
	}
	if rest := len(streams) - limit; rest > 0 {
		p.line(p.style.dim.text(fmt.Sprintf("... and %s more (--json lists all)", grouped(rest))))
	}
}

// orderNote says that the order of two points is less than certain.
var orderNote = map[twopoint.Evidence]string{
	twopoint.ByLoss:  " (judged by what is missing)",
	twopoint.ByClock: " (judged by the clocks alone)",
}

// comparedName names a stream.
func comparedName(s *twopoint.Stream) string {
	name := s.Src.String() + " > " + s.Dst.String() + " " + s.DestQP.String()
	switch s.Kind {
	case twopoint.Request:
		return name + " requests"
	case twopoint.ReadResponse:
		return name + " READ responses"
	case twopoint.Feedback:
		return name + " acknowledgements"
	case twopoint.CNP:
		return name + " CNPs"
	}
	return name + " datagrams"
}

// copies appends which copies of the worst streams vanished or were damaged.
func (p *page) copies(streams []*twopoint.Stream, at points, detail, limit int) {
	for _, s := range streams[:min(len(streams), detail)] {
		p.list("vanished: "+comparedName(s), s.VanishedTotal, min(len(s.Vanished), limit), func(i int) string {
			return seenAt(&s.Vanished[i], at[s.Upstream])
		})
		p.list("damaged: "+comparedName(s), s.Damaged, min(len(s.DamagedCopies), limit), func(i int) string {
			k := &s.DamagedCopies[i]
			return fmt.Sprintf("%s, bad in frame %d of %s", seenAt(&k.Copy, at[s.Upstream]), k.FrameAtSecond, at[s.Downstream])
		})
	}
}

// list appends a heading, a line for each of the first shown, and how many more
// there are.
func (p *page) list(heading string, total int64, shown int, line func(i int) string) {
	if total == 0 {
		return
	}
	p.line()
	p.wrap("", "    ", []string{p.style.bold.text(heading)})
	for i := range shown {
		p.line("  " + line(i))
	}
	if rest := total - int64(shown); rest > 0 {
		p.line(p.style.dim.text(fmt.Sprintf("  ... and %s more (--max-vanished lists more)", grouped(rest))))
	}
}

// seenAt says which copy, and where it was seen.
func seenAt(c *twopoint.Copy, point string) string {
	text := fmt.Sprintf("PSN %v  frame %d of %s", c.PSN, c.Frame, point)
	if c.Copy > 1 {
		text += fmt.Sprintf(", transmission %d", c.Copy)
	}
	return text
}

// once appends what one capture alone has.
func (p *page) once(streams []twopoint.Once, at points, limit int) {
	if len(streams) == 0 {
		return
	}
	p.line()
	p.wrap("", "", painted(p.style.warn, fmt.Sprintf("not compared, as one capture alone has them: %s", counted(int64(len(streams)), "stream", "streams"))))
	for _, s := range streams[:min(len(streams), limit)] {
		p.line(fmt.Sprintf("  %s > %s %s %s, %s in %s", s.Src, s.Dst, s.DestQP, s.Kind, counted(s.Packets, "packet", "packets"), at[s.File]))
	}
}

// letGo appends what was left out because memory is bounded.
func (p *page) letGo(e *twopoint.Evicted) {
	if e == nil {
		return
	}
	p.line()
	p.wrap("", "", painted(p.style.warn, fmt.Sprintf("incomplete: to keep memory bounded %s and %s were dropped, %s not decided, and %s decided early",
		counted(e.Streams, "stream", "streams"), counted(e.Packets, "packet", "packets"), counted(e.Undecided, "copy was", "copies were"), grouped(e.Early))))
}
