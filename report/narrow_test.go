package report

import (
	"strings"
	"testing"
)

// On a narrow terminal lines are as short as their longest word allows, and a
// number keeps its percent sign.
func TestNarrow(t *testing.T) {
	r := lossy()
	for width := 16; width < 160; width++ {
		var b strings.Builder
		if err := (Loss{Width: width, Rows: 20, Detail: 5, Gaps: 10}).Write(&b, r); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "\u00a0") {
			t.Errorf("width %d: a no-break space", width)
		}
		for line := range strings.Lines(b.String()) {
			text := strings.TrimLeft(line, " ")
			if strings.HasPrefix(text, "%") {
				t.Errorf("width %d: %q", width, line)
			}
			if indent := len(line) - len(text); indent > max(8, width/3) && !strings.Contains(line, "  192") && text[0] > '9' {
				t.Errorf("width %d: indent of %d: %q", width, indent, line)
			}
		}
	}
}
