package top

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// frameLines are the lines of the screen that are not rows: two of totals, what the
// table shows, the titles, and the keys at the bottom.
const frameLines = 5

// View draws the screen.
func (m *Model) View() tea.View {
	v := tea.NewView(strings.Join(m.lines(), "\n"))
	v.AltScreen = true
	return v
}

// lines are those of the screen, height of them, none wider than width.
func (m *Model) lines() []string {
	if m.width <= 0 || m.height <= 0 {
		return nil
	}
	var body []*line
	switch {
	case m.mode == helping:
		body = m.help()
	case m.screen == nil:
		l := m.line(m.width)
		l.put(dim, "waiting for packets")
		body = []*line{l}
	case m.mode == opened:
		body = m.detail()
	default:
		body = m.list()
	}
	out := make([]string, 0, m.height)
	var head []*line
	if m.mode != helping {
		head = m.head()
	}
	room := max(0, m.height-len(head)-1)
	if m.mode == helping || m.mode == opened {
		m.scroll = min(m.scroll, max(0, len(body)-room))
		body = body[m.scroll:]
	}
	for _, l := range append(head, body[:min(len(body), room)]...) {
		out = append(out, l.String())
	}
	for len(out) < m.height-1 {
		out = append(out, "")
	}
	out = append(out[:m.height-1], m.keys().String())
	return out
}

// head is what all of it comes to.
func (m *Model) head() []*line {
	first, second := m.line(m.width), m.line(m.width)
	first.put(bold, "rdmadump top ")
	first.put(accent, m.Title)
	s := m.screen
	if s == nil {
		return []*line{first, second, m.line(m.width)}
	}
	age := clock(time.Duration(s.At - s.Start))
	switch {
	case s.Ended && s.Message != "":
		first.put(bad, "  ended: "+s.Message)
		first.right(plain, age)
	case m.paused:
		first.put(warn, "  paused")
		first.right(plain, age)
	case s.Ended:
		first.put(good, "  end of capture")
		first.right(plain, age)
	default:
		first.right(plain, age)
	}
	second.put(bold, commas(int64(s.Connections)))
	conns := " conns  "
	if s.Connections == 1 {
		conns = " conn  "
	}
	second.put(dim, conns)
	add := func(n float64, text string, p paint) {
		if n == 0 {
			p = plain
		}
		second.put(p, short(n))
		second.put(dim, " "+text+"  ")
	}
	rare := func(n int64, text string, p paint) {
		if n > 0 {
			add(float64(n), text, p)
		}
	}
	add(s.Rates.Packets, "pkt/s", plain)
	second.put(plain, bits(s.Rates.Bytes)+"  ")
	add(float64(s.Counts.Lost), "lost", bad)
	add(float64(s.Counts.Retransmitted), "resent", warn)
	rare(int64(s.Drops), "dropped by the kernel", bad)
	rare(s.Counts.Naks, "nak", warn)
	rare(s.Counts.RNRNaks, "rnr", warn)
	rare(s.Counts.Timeouts, "timeouts", bad)
	rare(s.Counts.CNPs, "cnp", warn)
	rare(s.Counts.CEMarked, "ce", warn)
	rare(s.Counts.NotCaptured, "not captured", warn)
	return []*line{first, second, m.setting()}
}

// setting says what the table shows and in which order.
func (m *Model) setting() *line {
	l := m.line(m.width)
	if m.mode != listing && m.mode != typing {
		return l
	}
	l.put(dim, "by ")
	l.put(plain, m.query.Order.String())
	if m.query.Totals {
		l.put(dim, ", events so far")
	} else {
		l.put(dim, ", events a second")
	}
	if text := m.query.Find.text; text != "" {
		l.put(dim, ", find ")
		l.put(accent, text)
	}
	if s := m.screen; s != nil && len(s.Rows) > 0 && m.at >= 0 {
		l.right(dim, commas(int64(m.at+1))+" of "+commas(int64(s.Matching)))
	}
	return l
}

// list is the table.
func (m *Model) list() []*line {
	s := m.screen
	out := []*line{m.titles(m.width)}
	visible := max(1, m.height-frameLines)
	for i := m.top; i < len(s.Rows) && i < m.top+visible; i++ {
		out = append(out, m.row(&s.Rows[i], m.width, i == m.at))
	}
	if len(s.Rows) == 0 {
		l := m.line(m.width)
		text := " no connections"
		if s.Connections > 0 {
			text = " none of " + commas(int64(s.Connections)) + " connections fits"
		}
		l.put(dim, text)
		out = append(out, l)
	}
	return out
}

// keys is the last line: what is set, and what can be done.
func (m *Model) keys() *line {
	l := m.line(m.width)
	var hints []hint
	key := func(k, what string) { hints = append(hints, hint{k, what}) }
	switch m.mode {
	case typing:
		l.put(bold, "find: ")
		l.put(plain, m.typed)
		l.put(marked, " ")
		l.right(dim, "0x000222, 192.0.2.1, 192.0.2.0/24; enter, esc")
		return l
	case helping:
		key("esc", "back")
		key("q", "quit")
		return l.hints(hints)
	case opened:
		key("esc", "back")
		key("↑↓", "scroll")
		key("p", "pause")
		key("q", "quit")
		return l.hints(hints)
	}
	if m.ASCII {
		key("up down", "select")
	} else {
		key("↑↓", "select")
	}
	key("enter", "open")
	key("s", "sort")
	key("/", "find")
	if m.query.Totals {
		key("t", "rates")
	} else {
		key("t", "totals")
	}
	key("p", "pause")
	key("?", "help")
	key("q", "quit")
	return l.hints(hints)
}

// hint is a key and what it does.
type hint struct{ key, what string }

// hints puts the keys. Where there is no room for all of them, the last two stay: how
// to find the others, and how to leave.
func (l *line) hints(hints []hint) *line {
	const apart = 2
	width := -apart
	for _, h := range hints {
		width += h.width() + apart
	}
	for width > l.left && len(hints) > 2 {
		drop := len(hints) - 3
		width -= hints[drop].width() + apart
		hints = slices.Delete(hints, drop, drop+1)
	}
	for i, h := range hints {
		if i > 0 {
			l.put(plain, strings.Repeat(" ", apart))
		}
		l.put(bold, h.key)
		l.put(dim, " "+h.what)
	}
	return l
}

func (h hint) width() int { return utf8.RuneCountInString(h.key) + 1 + len(h.what) }
