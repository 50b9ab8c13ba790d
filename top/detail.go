package top

import (
	"fmt"
	"time"

	"github.com/rdmadump/rdmadump/dissect"
)

// detail is one connection.
func (m *Model) detail() []*line {
	d := m.screen.Detail
	if d == nil || d.Key != m.query.Open {
		l := m.line(m.width)
		l.put(dim, "no more is known of this connection: nothing came of it for long")
		return []*line{l}
	}
	var out []*line
	add := func() *line {
		l := m.line(m.width)
		out = append(out, l)
		return l
	}
	l := add()
	if d.ID > 0 {
		l.put(bold, fmt.Sprintf("connection %d  ", d.ID))
	}
	l.put(plain, d.Service+" "+d.Transport+"  ")
	l.put(dim, "last packet ")
	l.put(plain, clock(max(0, time.Duration(m.screen.At-d.Last)))+" ago")
	l = add()
	l.put(accent, "A ")
	l.put(plain, name(&d.A))
	l.put(accent, "   B ")
	l.put(plain, name(&d.B))
	l = add()
	l.draw(&d.Spark, bins, m.ASCII)
	l.put(dim, "  "+short(d.Rates.Packets)+" pkt/s  "+bits(d.Rates.Bytes)+"  trouble "+short(d.Trouble))
	add()
	m.ways(d, add)
	m.gaps(d, add)
	return out
}

// wayWidth is the columns of a direction.
const wayWidth = 16

// ways puts both directions side by side, in two blocks where there is room.
func (m *Model) ways(d *Detail, add func() *line) {
	arrow := "→"
	if m.ASCII {
		arrow = ">"
	}
	type figure struct {
		name  string
		of    func(w *Way) string
		paint paint
	}
	count := func(n func(c *dissect.Counts) int64) func(w *Way) string {
		return func(w *Way) string { return commas(n(&w.Counts)) }
	}
	trip := func(n func(s *dissect.Span) int64) func(w *Way) string {
		return func(w *Way) string {
			if w.RTT == nil {
				return m.nothing()
			}
			return span(n(w.RTT))
		}
	}
	figures := []figure{
		{"packets", count(func(c *dissect.Counts) int64 { return c.Packets }), plain},
		{"payload bytes", count(func(c *dissect.Counts) int64 { return c.PayloadBytes }), plain},
		{"lost", count(func(c *dissect.Counts) int64 { return c.Lost }), bad},
		{"undecided", count(func(c *dissect.Counts) int64 { return c.Undecided }), warn},
		{"not captured", count(func(c *dissect.Counts) int64 { return c.NotCaptured }), warn},
		{"resent", count(func(c *dissect.Counts) int64 { return c.Retransmitted }), warn},
		{"reordered", count(func(c *dissect.Counts) int64 { return c.Reordered }), warn},
		{"damaged", count(func(c *dissect.Counts) int64 { return c.Damaged }), bad},
		{"timeouts", count(func(c *dissect.Counts) int64 { return c.Timeouts }), bad},
		{"acks", count(func(c *dissect.Counts) int64 { return c.Acks }), plain},
		{"naks", count(func(c *dissect.Counts) int64 { return c.Naks }), warn},
		{"rnr naks", count(func(c *dissect.Counts) int64 { return c.RNRNaks }), warn},
		{"ce marks", count(func(c *dissect.Counts) int64 { return c.CEMarked }), warn},
		{"cnps", count(func(c *dissect.Counts) int64 { return c.CNPs }), warn},
		{"rtt median", trip(func(s *dissect.Span) int64 { return s.Median }), plain},
		{"rtt p99", trip(func(s *dissect.Span) int64 { return s.P99 }), plain},
	}
	blocks := 1
	const label, each, between = 14, 14, 4
	if m.width >= 2*(label+2*each)-2*between {
		blocks = 2
	}
	rows := (len(figures) + blocks - 1) / blocks
	wide := each
	if blocks == 2 {
		wide = min(wayWidth, ((m.width-between)/2-label)/2)
	}
	l := add()
	for b := range blocks {
		if b > 0 {
			l.put(plain, "    ")
		}
		l.put(plain, fmt.Sprintf("%*s", label, ""))
		l.pad(dim, "A"+arrow+"B", wide)
		l.pad(dim, "B"+arrow+"A", wide)
	}
	for i := range rows {
		l := add()
		for b := range blocks {
			at := b*rows + i
			if at >= len(figures) {
				continue
			}
			if b > 0 {
				l.put(plain, "    ")
			}
			f := &figures[at]
			l.column(dim, f.name, label)
			for w := range d.Ways {
				text, p := f.of(&d.Ways[w]), f.paint
				if text == "0" {
					text, p = m.nothing(), dim
				}
				l.pad(p, text, wide)
			}
		}
	}
}

// gaps lists the last gaps of both directions.
func (m *Model) gaps(d *Detail, add func() *line) {
	add()
	if len(d.Ways[0].Gaps)+len(d.Ways[1].Gaps) == 0 {
		add().put(dim, "no gaps so far")
		return
	}
	l := add()
	l.under = dim
	l.put(plain, fmt.Sprintf("%-4s%9s %-17s%5s %-11s%-12s%-14s%s", "", "AT", "PSNS", "PKTS", "WHERE", "EVIDENCE", "NOW", "AFTER"))
	for w := range d.Ways {
		which := [2]string{"A→B", "B→A"}[w]
		if m.ASCII {
			which = [2]string{"A>B", "B>A"}[w]
		}
		for i := range d.Ways[w].Gaps {
			m.gap(add(), which, &d.Ways[w].Gaps[i])
		}
	}
}

func (m *Model) gap(l *line, which string, g *dissect.Gap) {
	l.put(accent, which+" ")
	opened := time.Duration(g.OpenedNS)
	l.pad(plain, fmt.Sprintf("%.6f", opened.Seconds()), 9)
	psns := g.First.String()
	if g.Last != g.First {
		psns += "-" + g.Last.String()
	}
	l.put(plain, fmt.Sprintf(" %-17s%5d ", psns, g.Count))
	l.column(plain, string(g.Where), 11)
	l.column(plain, string(g.Evidence), 12)
	if g.Closed == dissect.Open {
		l.put(bad, "open")
		return
	}
	l.column(good, string(g.Closed), 14)
	l.put(plain, span(g.ClosedNS-g.OpenedNS))
}
