package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// A terminal of 80 columns folds no line of any help.
func TestHelpAt80Columns(t *testing.T) {
	for _, command := range []string{"", "flow", "craft", "replay", "send"} {
		var out, errs bytes.Buffer
		exit := run(append([]string{"help"}, strings.Fields(command)...), streams{strings.NewReader(""), &out, &errs})
		if exit != 0 || out.Len() == 0 {
			t.Fatalf("help %s: exit status %d: %s", command, exit, &errs)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("help %s: %d columns: %s", command, n, line)
			}
		}
	}
}
