package report

import (
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
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

// At 80 columns a row of IPv4 is a line: columns that say nothing of the rows shown
// are left out, what they count of the others is summed up behind them, and a name
// is not parted from its value.
func TestTableAt80Columns(t *testing.T) {
	r := clean(500)
	for i := range r.Connections {
		c := &r.Connections[i]
		c.A = &dissect.End{Address: address("10.0.0.200"), QPN: 0x8001a1}
		c.B = &dissect.End{Address: address("10.0.10.201"), QPN: 0x8001a1}
		s := &c.Streams[0]
		s.Src, s.Dst, s.DestQP = c.A.Address, c.B.Address, c.B.QPN
		s.FirstPSN, s.LastPSN = 7985041, 7985379
		s.Retransmitted.Packets = 53
		if s.Undecided = 1; i < 20 {
			s.Lost, s.Undecided = 6, 0
		}
	}
	text := string(lossText(t, Loss{Width: 80, Rows: 20, Detail: 5, Gaps: 10}, r))
	if n := strings.Count(text, "RC 10.0.0.200 0x8001a1 > 10.0.10.201 0x8001a1  "); n != 20 {
		t.Errorf("%d rows on a line", n)
	}
	for _, want := range []string{"... and 480 more without loss, 25,440 resent, 480 undecided\n", " PSN 7985041 to 7985379\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}
