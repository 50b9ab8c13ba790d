package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A terminal of 80 columns folds no line of any help.
func TestHelpAt80Columns(t *testing.T) {
	for _, command := range []string{"", "read", "loss", "compare", "top", "fields", "version", "help"} {
		out, _, exit := execute(append([]string{"help"}, strings.Fields(command)...)...)
		if exit != 0 || out == "" {
			t.Fatalf("help %s: exit status %d", command, exit)
		}
		for line := range strings.Lines(out) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("help %s: %d columns: %s", command, n, line)
			}
		}
	}
}
