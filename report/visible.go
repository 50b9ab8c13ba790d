package report

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Visible gives text from outside, such as the name of a file, as it may be
// printed on a terminal: what would move the cursor, colour, reorder or end the
// line, and bytes that are no UTF-8, are written as Go writes them in strings,
// "\x1b".
func Visible(s string) string {
	if visible(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 || !strconv.IsPrint(r) {
			quoted := strconv.QuoteToASCII(s[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

func visible(s string) bool {
	for i, r := range s {
		if !strconv.IsPrint(r) {
			return false
		}
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return false
			}
		}
	}
	return true
}
