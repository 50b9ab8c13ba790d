package report

import (
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/dissect/twopoint"
)

// Streams of which nothing passed while both captures ran are no proof that
// nothing was lost.
func TestCompareAllOutside(t *testing.T) {
	c := &twopoint.Comparison{Streams: []twopoint.Stream{{Kind: twopoint.Request, Upstream: "a", Downstream: "b", Outside: 9}}}
	var b strings.Builder
	if err := (&Compare{Width: 80, Rows: 20, Detail: 5, Copies: 10}).Write(&b, c); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); !strings.Contains(s, "NOTHING TO COMPARE: ") || strings.Contains(s, "NO LOSS") || !strings.Contains(s, "9 outside") {
		t.Error(s)
	}
}
