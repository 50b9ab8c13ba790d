package report

import (
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
)

// Of requests of which only the feedback was captured nothing can be said to be
// whole, and their QPN is not zero but unknown.
func TestFeedbackOnly(t *testing.T) {
	r := &dissect.Report{Connections: []dissect.Connection{connection(1, "192.0.2.1", "192.0.2.2", dissect.Stream{
		Src: address("192.0.2.1"), Dst: address("192.0.2.2"), Kind: "request", Epochs: 1,
		Findings: []dissect.Finding{{Kind: "feedback-only", Text: "only the acknowledgements"}}})}}
	r.Connections[0].Streams[0].DestQP = 0
	r.Totals = dissect.Totals{Connections: 1, Packets: 3}
	text := string(lossText(t, Loss{Width: 100, Rows: 20, Detail: 5, Gaps: 10}, r))
	if strings.Contains(text, "NO LOSS") || !strings.Contains(text, "NO PROVEN LOSS") {
		t.Errorf("a verdict of what was not seen:\n%s", text)
	}
	if strings.Contains(text, "0x000000") || !strings.Contains(text, "192.0.2.2 ?") {
		t.Errorf("a QPN that nothing tells:\n%s", text)
	}
}
