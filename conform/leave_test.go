package conform

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/sim"
)

// Flows that an endless analysis lets go are judged as they are at the end, and
// nothing is kept of them.
func TestLeave(t *testing.T) {
	found := 0
	for _, transport := range []string{"go-back-n", "irn", "windowless", "mp-rdma"} {
		for _, fault := range sim.BreachNames() {
			for _, at := range []sim.Tap{"sender", "receiver"} {
				s, err := sim.Parse(fmt.Appendf(nil, `
transport: {name: %s}
pairs: {count: 3}
work: {verb: write, size: 1..32KiB, count: 8}
fault: %s
links: {name: wire, delay: 5us, there: {loss: {p: 0.02}}}
`, transport, fault), "leave.yaml")
				if err != nil {
					continue // the fault is of another transport
				}
				var end, left []string
				ending, e := watched(&end)
				leaving, l := watched(&left)
				if _, err := sim.Run(s, sim.Output{Captures: []sim.Capture{{At: at, Frame: func(f *dissect.Frame) error {
					e.Frame(f)
					l.Frame(f)
					return nil
				}}}}); err != nil {
					t.Fatal(err)
				}
				ending.End()
				l.RetireIdle(math.MaxInt64)
				if len(leaving.doubts) != 0 || leaving.nDoubt != 0 || leaving.models != 0 || leaving.nPaths != 0 {
					t.Errorf("%s, %s, %s: left %d flows, %d doubts, %d models, %d paths", transport, fault, at,
						len(leaving.doubts), leaving.nDoubt, leaving.models, leaving.nPaths)
				}
				slices.Sort(end)
				slices.Sort(left)
				if !slices.Equal(end, left) {
					t.Errorf("%s, %s, %s:\nat the end %q\nlet go     %q", transport, fault, at, end, left)
				}
				found += len(end)
			}
		}
	}
	if found == 0 {
		t.Error("no rule was broken")
	}
}

// watched is a checker behind an analyzer, which notes what is found.
func watched(found *[]string) (*Checker, *dissect.Analyzer) {
	c := NewChecker(Config{Found: func(v *Violation) {
		*found = append(*found, fmt.Sprint(v.Rule, v.Severity, v.Frames, v.Connection, v.Src, v.DestQP, v.Text))
	}})
	a := dissect.NewAnalyzer(dissect.Config{Follow: c.Follow, Leave: c.Leave})
	a.OpenCapture("", "")
	return c, a
}
