package top

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// paint is the parameters of a terminal's SGR sequence, "" for plain text.
type paint string

const (
	plain  paint = ""
	dim    paint = "2"
	bold   paint = "1"
	good   paint = "32"
	warn   paint = "33"
	bad    paint = "1;31"
	accent paint = "36"
	marked paint = "7"
)

// line is a line of the screen that cannot become wider than it may.
type line struct {
	b       strings.Builder
	left    int // columns
	colored bool
	under   paint // what all of it is painted with too
}

// newLine begins a line of a width.
func newLine(width int, colored bool) *line { return &line{left: max(0, width), colored: colored} }

// put appends text, as much of it as there is room for. Each rune is one column
// wide: what comes from outside, file names alone, was made so before.
func (l *line) put(p paint, text string) {
	n := utf8.RuneCountInString(text)
	if n > l.left {
		text, n = string([]rune(text)[:l.left]), l.left
	}
	if n == 0 {
		return
	}
	l.left -= n
	switch {
	case !l.colored || p == plain && l.under == plain:
		l.b.WriteString(text)
	case p == plain || l.under == plain:
		l.b.WriteString("\x1b[" + string(p+l.under) + "m" + text + "\x1b[m")
	default:
		l.b.WriteString("\x1b[" + string(p+";"+l.under) + "m" + text + "\x1b[m")
	}
}

// pad puts text that is moved right to fill the columns.
func (l *line) pad(p paint, text string, columns int) {
	l.put(plain, strings.Repeat(" ", max(0, columns-utf8.RuneCountInString(text))))
	l.put(p, text)
}

// column puts text and fills the columns behind it.
func (l *line) column(p paint, text string, columns int) {
	l.put(p, text)
	l.put(plain, strings.Repeat(" ", max(0, columns-utf8.RuneCountInString(text))))
}

// right puts text at the end of the line, where it has room.
func (l *line) right(p paint, text string) {
	if n := utf8.RuneCountInString(text); n < l.left {
		l.put(plain, strings.Repeat(" ", l.left-n))
		l.put(p, text)
	}
}

// String is the line.
func (l *line) String() string { return l.b.String() }

// short writes a number in at most five columns: 0, 0.25, 9.9, 123, 1.23k, 456k.
func short(n float64) string {
	switch {
	case n == 0:
		return "0"
	case n < 0.01:
		return "<0.01"
	case n < 0.995:
		return strconv.FormatFloat(n, 'f', 2, 64)
	case n < 9.95 && n != math.Trunc(n):
		return strconv.FormatFloat(n, 'f', 1, 64)
	case n < 9999.5:
		return strconv.FormatFloat(n, 'f', 0, 64)
	}
	for _, unit := range "kMGTPE" {
		n /= 1000
		switch {
		case n < 99.95:
			return strconv.FormatFloat(n, 'f', 1, 64) + string(unit)
		case n < 999.5:
			return strconv.FormatFloat(n, 'f', 0, 64) + string(unit)
		}
	}
	return "many"
}

// commas writes a number with its thousands apart.
func commas(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// span writes nanoseconds in at most six columns.
func span(ns int64) string {
	for _, u := range [...]struct {
		one  int64
		name string
	}{{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}} {
		n := float64(ns) / float64(u.one)
		switch {
		case n < 9.95 && u.one > 1:
			return strconv.FormatFloat(n, 'f', 1, 64) + u.name
		case n < 999.5 || u.name == "s":
			return strconv.FormatFloat(n, 'f', 0, 64) + u.name
		}
	}
	return ""
}

// clock writes a time that may be long, with its units: 9.2s, 12s, 3m07s, 1h00m12s.
func clock(d time.Duration) string {
	s := int64(d.Seconds())
	switch {
	case s < 10:
		return span(int64(d))
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm%02ds", s/3600, s/60%60, s%60)
}

// bits writes a rate in bits a second.
func bits(bytes float64) string { return short(bytes*8) + "b/s" }

// ramps draw a Spark, from little to much.
var ramps = [2][]rune{[]rune("▁▂▃▄▅▆▇█"), []rune("_.-:=+*#")}

// draw puts a Spark into columns: high is many packets, red is trouble.
func (l *line) draw(s *Spark, columns int, ascii bool) {
	ramp := ramps[0]
	if ascii {
		ramp = ramps[1]
	}
	per := (bins + columns - 1) / columns
	columns = min(columns, (bins+per-1)/per)
	var heights [bins]uint64
	var trouble [bins]bool
	most := uint64(0)
	for i := range bins {
		at := i / per
		heights[at] += uint64(s.Packets[i])
		trouble[at] = trouble[at] || s.Trouble>>i&1 != 0
	}
	for _, h := range heights[:columns] {
		most = max(most, h)
	}
	for i, h := range heights[:columns] {
		switch {
		case trouble[i]:
			at := uint64(0)
			if most > 0 {
				at = h * uint64(len(ramp)-1) / most
			}
			l.put(bad, string(ramp[at]))
		case h == 0:
			l.put(plain, " ")
		default:
			l.put(good, string(ramp[h*uint64(len(ramp)-1)/most]))
		}
	}
}
