package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/internal/expect"
)

func TestLossCases(t *testing.T) {
	eachCase(t, func(t *testing.T, c expect.Case) {
		if c.Loss == nil {
			t.Skip("nothing is expected of loss")
		}
		out, errs, exit := execute("loss", "--json", c.File)
		var report expect.Object
		if out != "" {
			if err := json.Unmarshal([]byte(out), &report); err != nil {
				t.Fatalf("%v in %s", err, out)
			}
		}
		if err := c.CheckLoss(report, exit, errs); err != nil {
			t.Error(err)
		}
	})
}

// What is empty is an empty list or left out, never null or "" where there is
// nothing to name.
func TestLossWithoutNull(t *testing.T) {
	eachCase(t, func(t *testing.T, c expect.Case) {
		out, _, _ := execute("loss", "--json", c.File)
		for _, bad := range []string{":null", `"opcode_name":""`, `_time":"0.`} {
			if strings.Contains(out, bad) {
				t.Errorf("%s in %s", bad, out)
			}
		}
	})
}
