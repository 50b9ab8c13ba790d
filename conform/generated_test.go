package conform_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/sim"
)

// Short flows that lose much break no rule: the first packets of resends get lost
// too, and the model begins anew behind a hole when it learns the path MTU.
func TestLossyFlowsBreakNoRule(t *testing.T) {
	for seed := range 60 {
		text := fmt.Sprintf(`
seed: %d
pairs: {start-psn: 1000}
work: {verb: write, size: 1..4KiB, count: 4}
links: {name: wire, delay: 5us, there: {loss: {p: 0.05}}}
`, seed+190)
		s, err := sim.Parse([]byte(text), "lossy.yaml")
		if err != nil {
			t.Fatal(err)
		}
		frames := map[sim.Tap][]dissect.Frame{}
		var captures []sim.Capture
		for _, at := range []sim.Tap{"sender", "receiver"} {
			captures = append(captures, sim.Capture{At: at, Frame: func(f *dissect.Frame) error {
				kept := *f
				kept.Data = bytes.Clone(f.Data)
				frames[at] = append(frames[at], kept)
				return nil
			}})
		}
		if _, err := sim.Run(s, sim.Output{Captures: captures}); err != nil {
			t.Fatal(err)
		}
		for at, all := range frames {
			if found := check(all, ""); len(found) > 0 {
				t.Errorf("seed %d, %s: %v", seed+190, at, found)
			}
		}
	}
}
