package report

import (
	"fmt"
	"strings"
)

// column is a count of the table. Columns in which every row has zero are left
// out, but for those that are always wanted.
type column struct {
	title  string
	always bool
	value  func(row) int64
	paint  func(Style) paint // of values that are not zero
}

var columns = []column{
	{"packets", true, func(r row) int64 { return r.Packets }, nil},
	{"lost", true, func(r row) int64 { return r.Lost }, func(s Style) paint { return s.bad }},
	{"resent", true, func(r row) int64 { return r.Retransmitted.Packets }, func(s Style) paint { return s.warn }},
	{"NAKs", true, func(r row) int64 { return r.Feedback.Naks }, func(s Style) paint { return s.warn }},
	{"RNR", false, func(r row) int64 { return r.Feedback.RNRNaks }, func(s Style) paint { return s.warn }},
	{"undecided", false, func(r row) int64 { return r.Undecided }, func(s Style) paint { return s.warn }},
	{"damaged", false, func(r row) int64 { return r.Damaged }, func(s Style) paint { return s.bad }},
	{"refused", false, func(r row) int64 { return r.Discarded }, nil},
	{"uncaptured", false, func(r row) int64 { return r.NotCaptured }, nil},
	{"reordered", false, func(r row) int64 { return r.Reordered }, nil},
}

// table appends the streams, the worst first, and sums up those behind limit
// and those of which there is nothing to tell.
func (p *page) table(rows []row, limit int) {
	if len(rows) == 0 {
		return
	}
	shown := rows[:min(len(rows), limit)]
	if len(rows) > limit { // no room for streams without an event
		for len(shown) > 1 && shown[len(shown)-1].clean() {
			shown = shown[:len(shown)-1]
		}
	}
	used, widths := usedColumns(shown)
	sum, path := 0, len("stream")
	for _, w := range widths {
		sum += w
	}
	for _, r := range shown {
		path = max(path, printedLen(r.name()))
	}
	id := max(1, len(fmt.Sprint(maxID(shown))))
	gap := "  "
	if id+2+path+sum+2*len(used) > p.width {
		gap = " "
	}
	if numbers := sum + len(gap)*len(used); id+2+path+numbers > p.width {
		gap = "  "
		path = max(len("stream"), p.width-(sum+2*len(used))-id-2)
	}
	p.line()
	p.b = append(p.b, p.style.dim.on...)
	p.b = fmt.Appendf(p.b, "%*s  %-*s", id, "#", path, "stream")
	for i, c := range used {
		p.b = fmt.Appendf(p.b, "%s%*s", gap, widths[i], c.title)
	}
	p.line(p.style.dim.off)
	for _, r := range shown {
		name := r.name()
		p.b = fmt.Appendf(p.b, "%*d  ", id, r.connection.ID)
		if printedLen(name) > path {
			p.line(name)
			p.b = fmt.Appendf(p.b, "%*s  ", id, "")
			name = ""
		}
		p.b = append(append(p.b, name...), strings.Repeat(" ", path-printedLen(name))...)
		for i, c := range used {
			v := c.value(r)
			text := fmt.Sprintf("%s%*s", gap, widths[i], grouped(v))
			if v != 0 && c.paint != nil {
				text = c.paint(p.style).text(text)
			}
			p.b = append(p.b, text...)
		}
		p.line()
	}
	p.summary(rows[len(shown):])
}

// name is what a row of the table begins with.
func (r row) name() string {
	s := r.connection.Service + " " + r.path()
	if t := r.connection.Transport; t != "go-back-n" && t != "none" {
		s = r.connection.Transport + " " + s
	}
	if r.Kind == "read-response" {
		s += " READ responses"
	}
	return s
}

func usedColumns(shown []row) (used []column, widths []int) {
	for _, c := range columns {
		any, width := c.always, len(c.title)
		for _, r := range shown {
			any = any || c.value(r) != 0
			width = max(width, len(grouped(c.value(r))))
		}
		if !any {
			continue
		}
		used, widths = append(used, c), append(widths, width)
	}
	return used, widths
}

func maxID(rows []row) int {
	id := 0
	for _, r := range rows {
		id = max(id, r.connection.ID)
	}
	return id
}

// summary appends one line about the streams that the table leaves out.
func (p *page) summary(rest []row) {
	if len(rest) == 0 {
		return
	}
	var lossy, lost, resent, undecided, clean int64
	for _, r := range rest {
		if r.Lost > 0 {
			lossy++
		}
		if r.clean() {
			clean++
		}
		lost += r.Lost
		resent += r.Retransmitted.Packets
		undecided += r.Undecided
	}
	var text string
	switch {
	case clean == int64(len(rest)):
		text = fmt.Sprintf("... and %s more without any event", grouped(len(rest)))
	case lossy == 0:
		text = fmt.Sprintf("... and %s more without loss, %s resent", grouped(len(rest)), grouped(resent))
	default:
		text = fmt.Sprintf("... and %s more: %s with %s lost, %s resent (--json lists all)", grouped(len(rest)), grouped(lossy), grouped(lost), grouped(resent))
	}
	if undecided > 0 {
		text = strings.Replace(text, " resent", " resent, "+grouped(undecided)+" undecided", 1)
	}
	p.wrap("", "  ", painted(p.style.dim, text))
}

// tells reports a stream whose gaps or findings are worth telling.
func (r row) tells() bool {
	return r.Lost > 0 || r.Undecided > 0 || r.NotCaptured > 0 || r.Damaged > 0 || len(r.Findings) > 0 || len(r.Stream.Gaps) > 0
}
