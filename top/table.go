package top

import (
	"strings"
	"unicode/utf8"

	"github.com/rdmadump/rdmadump/dissect"
)

// column is one of the table's, right-aligned.
type column struct {
	title string
	order Order // that sorts by it
	rate  func(r *Row) float64
	total func(c *dissect.Counts) int64
	paint paint // where it is not zero
	spare bool  // only where there is room
}

// The columns of numbers, in order.
var columns = [...]column{
	{"PKTS", ByPackets, func(r *Row) float64 { return r.Rates.Packets }, func(c *dissect.Counts) int64 { return c.Packets }, plain, false},
	{"BITS", ByPackets, func(r *Row) float64 { return 8 * r.Rates.Bytes }, func(c *dissect.Counts) int64 { return 8 * c.PayloadBytes }, plain, true},
	{"LOST", ByLost, func(r *Row) float64 { return r.Rates.Lost }, func(c *dissect.Counts) int64 { return c.Lost }, bad, false},
	{"RESNT", ByResent, func(r *Row) float64 { return r.Rates.Resent }, func(c *dissect.Counts) int64 { return c.Retransmitted }, warn, false},
	{"NAK", ByNaks, func(r *Row) float64 { return r.Rates.Naks }, func(c *dissect.Counts) int64 { return c.Naks }, warn, false},
	{"RNR", ByRNRNaks, func(r *Row) float64 { return r.Rates.RNRNaks }, func(c *dissect.Counts) int64 { return c.RNRNaks }, warn, false},
	{"TMOUT", ByTimeouts, func(r *Row) float64 { return r.Rates.Timeouts }, func(c *dissect.Counts) int64 { return c.Timeouts }, bad, true},
	{"CE", ByCNPs, func(r *Row) float64 { return r.Rates.CEMarked }, func(c *dissect.Counts) int64 { return c.CEMarked }, warn, true},
	{"CNP", ByCNPs, func(r *Row) float64 { return r.Rates.CNPs }, func(c *dissect.Counts) int64 { return c.CNPs }, warn, false},
}

const (
	numberWidth = 6 // with the space before it
	rttWidth    = 6
	trendWidth  = 9
	wideTrend   = bins + 1
	leastEnds   = 26
	wholeEnds   = 52 // both addresses and QPNs of IPv4
)

// layout is what fits a width.
type layout struct {
	ends, trend int
	columns     int // of those that are not spare, the first
	spare       bool
	rtt         bool
}

func layoutOf(width int) layout {
	l := layout{rtt: true}
	spare := 0
	for i := range columns {
		if columns[i].spare {
			spare += numberWidth
		} else {
			l.columns++
		}
	}
	left := width - 1 - l.columns*numberWidth // the mark of the row
	for ; left < leastEnds && l.columns > 2; l.columns-- {
		left += numberWidth
	}
	if left >= leastEnds+rttWidth {
		left -= rttWidth
	} else {
		l.rtt = false
	}
	if left >= leastEnds+trendWidth-4 {
		l.trend = trendWidth
		left -= trendWidth
	}
	if left >= wholeEnds+spare-8 {
		l.spare = true
		left -= spare
	}
	if left >= wholeEnds+wideTrend-trendWidth {
		left -= wideTrend - trendWidth
		l.trend = wideTrend
	}
	l.ends = max(0, min(left, wholeEnds+2))
	return l
}

// shown calls put for the columns that the layout has.
func (l *layout) shown(put func(c *column)) {
	least := 0
	for i := range columns {
		c := &columns[i]
		if !c.spare {
			least++
		}
		if c.spare && l.spare || !c.spare && least <= l.columns {
			put(c)
		}
	}
}

// name is an end in full.
func name(e *dissect.SnapshotEnd) string { return e.Address.String() + " " + number(e) }

func number(e *dissect.SnapshotEnd) string {
	if !e.Known {
		return "?"
	}
	return e.QPN.String()
}

// endsText names a connection in as many columns: whole where they suffice, else
// what tells most, the addresses and the queue pair of B. What does not fit loses
// its beginning, which hosts of a network share.
func endsText(r *Row, columns int, ascii bool) string {
	arrow := "→"
	if ascii {
		arrow = ">"
	}
	whole := name(&r.A) + " " + arrow + " " + name(&r.B)
	if utf8.RuneCountInString(whole) <= columns {
		return whole
	}
	qpn := number(&r.B)
	a, b := r.A.Address.String(), r.B.Address.String()
	room := max(2, columns-utf8.RuneCountInString(qpn)-2)
	half := room / 2
	switch {
	case len(a)+len(b) <= room:
	case len(a) <= half:
		b = tail(b, room-len(a), ascii)
	case len(b) <= half:
		a = tail(a, room-len(b), ascii)
	default:
		a, b = tail(a, half, ascii), tail(b, room-half, ascii)
	}
	text := []rune(a + arrow + b + " " + qpn)
	return string(text[:min(len(text), max(0, columns))])
}

// tail is the end of a text that is too long.
func tail(s string, columns int, ascii bool) string {
	if len(s) <= columns {
		return s
	}
	more := "…"
	if ascii {
		more = "~"
	}
	return more + s[len(s)-max(0, columns-1):]
}

// titles is the line above the table.
func (m *Model) titles(width int) *line {
	l := m.line(width)
	l.under = dim
	how := layoutOf(width)
	l.put(plain, " ")
	l.column(m.titlePaint(ByAddress), clip("CONNECTION", how.ends), how.ends)
	how.shown(func(c *column) { l.pad(m.titlePaint(c.order), c.title, numberWidth) })
	if how.rtt {
		l.pad(m.titlePaint(ByRTT), "RTT", rttWidth)
	}
	if how.trend > 0 {
		l.put(plain, " TREND")
	}
	return l
}

// titlePaint marks the column that rows are sorted by.
func (m *Model) titlePaint(o Order) paint {
	if o == m.query.Order {
		return "1;4"
	}
	return plain
}

func clip(s string, n int) string { return s[:min(len(s), max(n, 0))] }

// row is a line of the table.
func (m *Model) row(r *Row, width int, selected bool) *line {
	l := m.line(width)
	how := layoutOf(width)
	mark := " "
	if selected {
		mark, l.under = "▸", marked
		if m.ASCII {
			mark = ">"
		}
	}
	l.put(accent, mark)
	trouble := plain
	switch {
	case r.Trouble >= 0.05 && r.Trouble < 10:
		trouble = warn
	case r.Trouble >= 10:
		trouble = bad
	}
	l.column(trouble, endsText(r, how.ends, m.ASCII), how.ends)
	how.shown(func(c *column) {
		n := c.rate(r)
		if m.query.Totals {
			n = float64(c.total(&r.Total))
		}
		if n == 0 {
			l.pad(dim, m.nothing(), numberWidth)
			return
		}
		l.pad(c.paint, short(n), numberWidth)
	})
	if how.rtt {
		if r.RTT > 0 {
			l.pad(plain, span(int64(r.RTT)), rttWidth)
		} else {
			l.pad(dim, m.nothing(), rttWidth)
		}
	}
	if how.trend > 0 {
		l.put(plain, " ")
		l.draw(&r.Spark, how.trend-1, m.ASCII)
	}
	if selected {
		l.put(plain, strings.Repeat(" ", l.left))
	}
	return l
}

// nothing stands for zero, so that what is not zero shows.
func (m *Model) nothing() string {
	if m.ASCII {
		return "."
	}
	return "·"
}
