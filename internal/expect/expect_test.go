package expect

import (
	"encoding/json"
	"testing"
)

// A check that cannot fail is worth nothing: every kind of expectation is shown
// one value that fits and one that does not.
func TestCompare(t *testing.T) {
	for _, tc := range []struct{ want, fits, differs string }{
		{`1`, `1`, `2`},
		{`1`, `1`, `true`},
		{`"x"`, `"x"`, `"y"`},
		{`""`, `""`, `"y"`},
		{`[]`, `[]`, `[1]`},
		{`null`, `null`, `0`},
		{`"<any>"`, `"y"`, `""`},
		{`"<any>"`, `1`, `null`},
		{`{"one_of":[1,null]}`, `null`, `2`},
		{`{"min":2,"max":3}`, `3`, `4`},
		{`{"min":2}`, `2`, `1`},
		{`{"min":["5-7"]}`, `["4-8"]`, `["5-6"]`},
		{`{"max":["16777215-1"]}`, `["0"]`, `["2"]`},
		{`{"a":{"b":1}}`, `{"a":{"b":1,"c":2}}`, `{"a":{"b":2}}`},
		{`["1-2"]`, `["1-2"]`, `["1-3"]`},
		{`[{"a":1},{"a":2}]`, `[{"a":2},{"a":1}]`, `[{"a":1}]`},
	} {
		for _, c := range []struct {
			have string
			good bool
		}{{tc.fits, true}, {tc.differs, false}} {
			var want, have any
			if err := json.Unmarshal([]byte(tc.want), &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(c.have), &have); err != nil {
				t.Fatal(err)
			}
			err := compare(want, have, have != nil, "value")
			if (err == nil) != c.good {
				t.Errorf("want %s, have %s: %v", tc.want, c.have, err)
			}
		}
	}
}

func TestFindings(t *testing.T) {
	have := []any{Object{"kind": "stale-psn", "text": "a PSN"}}
	if err := compare([]any{"stale-psn"}, have, true, "s: findings"); err != nil {
		t.Error(err)
	}
	if compare([]any{"rnr-storm"}, have, true, "s: findings") == nil {
		t.Error("a finding that is not there was found")
	}
}
