package report

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/rdmadump/rdmadump/dissect"
)

// Loss writes a loss report for people: the verdict first, then a table of the
// connections, the worst first, then what happened to the worst.
type Loss struct {
	Style
	Width  int // columns to stay within, as far as addresses and names allow
	Rows   int // streams in the table; the rest is summed up
	Detail int // streams of which gaps and findings are told
	Gaps   int // gaps that are told of one stream
}

// Write writes the report to w. The error is that of w.
func (l Loss) Write(w io.Writer, r *dissect.Report) error {
	rows := worstFirst(r)
	p := &page{style: l.Style, width: l.Width}
	for i := range r.Captures {
		p.capture(&r.Captures[i])
	}
	if r.Selection != nil {
		p.phrases(p.style.bold.text("selected")+"  ", "  ", selected(r.Selection))
	}
	p.verdict(r, rows)
	p.table(rows, l.Rows)
	p.details(rows, l.Detail, l.Gaps, len(r.Captures))
	p.evicted(r.Evicted)
	_, err := w.Write(p.b)
	return err
}

// page is a report that is being written.
type page struct {
	style Style
	width int
	b     []byte
}

// row is a stream and the connection that it belongs to.
type row struct {
	connection *dissect.Connection
	*dissect.Stream
}

// worstFirst lists the streams by what an operator would look at first.
func worstFirst(r *dissect.Report) []row {
	var rows []row
	for i := range r.Connections {
		c := &r.Connections[i]
		for j := range c.Streams {
			rows = append(rows, row{c, &c.Streams[j]})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(
			cmp.Compare(b.Lost, a.Lost),
			cmp.Compare(b.Undecided, a.Undecided),
			cmp.Compare(len(b.Findings), len(a.Findings)),
			cmp.Compare(b.Retransmitted.Packets, a.Retransmitted.Packets),
			cmp.Compare(b.NotCaptured, a.NotCaptured),
			cmp.Compare(b.Reordered, a.Reordered),
			cmp.Compare(a.connection.ID, b.connection.ID))
	})
	return rows
}

// clean reports a stream of which there is nothing to tell.
func (r row) clean() bool {
	return r.Lost == 0 && r.Undecided == 0 && r.NotCaptured == 0 && r.Damaged == 0 &&
		r.Retransmitted.Packets == 0 && r.Feedback.Naks == 0 && r.Feedback.RNRNaks == 0 && len(r.Findings) == 0 && len(r.Stream.Gaps) == 0
}

// path names both ends of a stream, its sender first.
func (r row) path() string {
	return r.Src.String() + " " + r.sourceQPN() + " > " + r.Dst.String() + " " + r.destQPN()
}

// heardOf reports whether nothing but feedback tells of the stream.
func (r row) heardOf() bool { return r.Packets == 0 }

// destQPN is the QPN that the packets go to, "?" when none was captured.
func (r row) destQPN() string {
	if r.heardOf() && r.DestQP == 0 {
		return "?"
	}
	return r.DestQP.String()
}

// sourceQPN is the QPN of the sending end, "?" when nothing in the capture
// tells it.
func (r row) sourceQPN() string {
	for _, end := range []*dissect.End{r.connection.A, r.connection.B} {
		if end != nil && end.Address == r.Src && (r.Src != r.Dst || end.QPN != r.DestQP) {
			return end.QPN.String()
		}
	}
	return "?"
}

// line appends words as a line.
func (p *page) line(parts ...string) {
	for _, s := range parts {
		p.b = append(p.b, s...)
	}
	p.b = append(p.b, '\n')
}

// wrap appends words with lines no longer than the page is wide; indent stands
// before every line but the first.
//
// A nobreak in a word is written as a space at which no line breaks.
func (p *page) wrap(first, indent string, words []string) {
	p.b = append(p.b, first...)
	column, start := printedLen(first), true
	for _, word := range words {
		n := printedLen(strings.TrimRight(word, " "))
		if !start && column+1+n > p.width {
			p.b = append(append(trimRight(p.b), '\n'), indent...)
			column, start = len(indent), true
		}
		if !start {
			p.b = append(p.b, ' ')
			column++
		}
		p.b = append(p.b, strings.ReplaceAll(word, nobreak, " ")...)
		column, start = column+printedLen(word), false
	}
	p.b = append(trimRight(p.b), '\n')
}

// nobreak holds a name and its value together. It is not in what is read, see
// Visible.
const nobreak = "\x00"

// printedLen is the width of a text without what only sets its colour.
func printedLen(s string) int {
	n, escape := 0, false
	for _, c := range s {
		switch {
		case c == '\x1b':
			escape = true
		case !escape:
			n++
		case c == 'm':
			escape = false
		}
	}
	return n
}
