package cli

import (
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/rdmadump/rdmadump/report"
)

// Terminal gives the file behind w if that is a terminal.
func Terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, false
	}
	return f, true
}

// Width is the number of columns of the terminal behind w, and what to stay
// within where there is none.
func Width(w io.Writer) int {
	const otherwise = 120
	if f, ok := Terminal(w); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return otherwise
}

// Colors is the value of --color.
type Colors string

// ColorUsage is the help of --color.
const ColorUsage = "colour the output: auto, always or never; auto respects NO_COLOR"

// String is the value.
func (c *Colors) String() string { return string(*c) }

// Type stands for the value in the help.
func (c *Colors) Type() string { return "when" }

// Set takes auto, always or never.
func (c *Colors) Set(s string) error {
	switch s {
	case "auto", "always", "never":
		*c = Colors(s)
		return nil
	}
	return errors.New("want auto, always or never")
}

// Style colours when asked to, and else on terminals that can, unless NO_COLOR
// is set (https://no-color.org).
func (c Colors) Style(w io.Writer) report.Style {
	_, tty := Terminal(w)
	if c == "always" || c == "auto" && tty && os.Getenv("NO_COLOR") == "" && !strings.HasPrefix(os.Getenv("TERM"), "dumb") {
		return report.Colored()
	}
	return report.Style{}
}
