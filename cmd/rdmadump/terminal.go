package main

import (
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/rdmadump/rdmadump/report"
)

// Columns to stay within where there is no terminal to ask.
const defaultWidth = 120

// terminal gives the file behind w if that is a terminal.
func terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, false
	}
	return f, true
}

// width is the number of columns of the terminal behind w.
func width(w io.Writer) int {
	if f, ok := terminal(w); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return defaultWidth
}

// colors is the value of --color.
type colors string

func (c *colors) String() string { return string(*c) }
func (c *colors) Type() string   { return "when" }

func (c *colors) Set(s string) error {
	switch s {
	case "auto", "always", "never":
		*c = colors(s)
		return nil
	}
	return errors.New("want auto, always or never")
}

// style colours when asked to, and else on terminals that can, unless NO_COLOR
// is set (https://no-color.org).
func (c colors) style(w io.Writer) report.Style {
	_, tty := terminal(w)
	if c == "always" || c == "auto" && tty && os.Getenv("NO_COLOR") == "" && !strings.HasPrefix(os.Getenv("TERM"), "dumb") {
		return report.Colored()
	}
	return report.Style{}
}

const colorUsage = "colour the output: auto, always or never; auto respects NO_COLOR"
