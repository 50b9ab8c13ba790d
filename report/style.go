package report

import (
	"strings"

	"github.com/fatih/color"
)

// Style colours text. The zero Style leaves everything plain.
type Style struct {
	dim, bold, good, warn, bad, accent paint
}

// paint is what a terminal is sent before and after a text.
type paint struct{ on, off string }

// Colored is the style for terminals that show colours. Colours only repeat
// what the words say.
func Colored() Style {
	return Style{
		dim:    newPaint(color.Faint),
		bold:   newPaint(color.Bold),
		good:   newPaint(color.FgGreen),
		warn:   newPaint(color.FgYellow),
		bad:    newPaint(color.FgRed, color.Bold),
		accent: newPaint(color.FgCyan),
	}
}

func newPaint(attributes ...color.Attribute) paint {
	c := color.New(attributes...)
	c.EnableColor() // whether to colour at all is the caller's choice
	on, off, _ := strings.Cut(c.Sprint("\x00"), "\x00")
	return paint{on, off}
}

// text gives s painted.
func (p paint) text(s string) string { return p.on + s + p.off }

// append appends s painted.
func (p paint) append(b []byte, s string) []byte {
	b = append(b, p.on...)
	b = append(b, s...)
	return append(b, p.off...)
}
