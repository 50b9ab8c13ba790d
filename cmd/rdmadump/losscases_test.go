package main

import (
	"encoding/json"
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
