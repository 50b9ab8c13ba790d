package filter

import (
	"fmt"
	"strings"
	"unicode"
)

// Error says what is wrong with an expression, and where.
type Error struct {
	Text    string // the expression
	Column  int    // of the character that is to blame, from 1
	Problem string
	Advice  string // what may have been meant, "" if nobody knows
}

// Error is one line: "unknown field bth.pns at column 5; did you mean bth.psn?"
func (e *Error) Error() string {
	s := fmt.Sprintf("%s at column %d", e.Problem, e.Column)
	if e.Advice != "" {
		s += "; " + e.Advice
	}
	return s
}

// Excerpt is the part of the expression around the fault, and under it a caret
// that points at it. Each is a line without control characters.
func (e *Error) Excerpt() [2]string {
	const before, after = 50, 24 // characters shown
	text := []rune(e.Text)
	for i, r := range text {
		if !unicode.IsPrint(r) {
			text[i] = ' '
		}
	}
	at := min(max(e.Column-1, 0), len(text))
	from, to := max(at-before, 0), min(at+after, len(text))
	head, tail := "", ""
	if from > 0 {
		head = "..."
	}
	if to < len(text) {
		tail = "..."
	}
	return [2]string{
		head + string(text[from:to]) + tail,
		strings.Repeat(" ", len(head)+at-from) + "^",
	}
}
