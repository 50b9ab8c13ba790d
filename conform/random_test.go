package conform_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/conform"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/sim"
)

// play runs a scenario and gives the frames of both ends.
func play(t *testing.T, text string) map[sim.Tap][]dissect.Frame {
	t.Helper()
	s, err := sim.Parse([]byte(text), "scenario.yaml")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
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
	return frames
}

// irnCap is the cap of IRN that a seed has, if it is odd.
func irnCap(seed uint64) int { return int(4 + seed/2%60) }

// rough is a random scenario: verbs mixed in both directions over a network that
// loses, damages, duplicates and reorders.
func rough(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 7))
	one := func(all ...string) string { return all[r.IntN(len(all))] }
	transport := one("name: go-back-n", "name: go-back-n", "name: irn", "name: windowless, mode: literal", "name: windowless, mode: anchored", "name: mp-rdma")
	if seed%2 > 0 && transport == "name: irn" {
		transport = fmt.Sprintf("name: irn, cap: %d", irnCap(seed))
	}
	start := []int{0, 1000, 0xfffff0, 0xffffff, 0x7ffff8, r.IntN(1 << 24)}[r.IntN(6)]
	var work strings.Builder
	for _, end := range []string{"sender", "receiver"} {
		for _, verb := range []string{"write", "read", "send", "fetch-add", "write-imm", "cmp-swap"} {
			if end == "receiver" && r.IntN(2) == 0 || r.IntN(4) == 0 {
				continue
			}
			fmt.Fprintf(&work, "  - {verb: %s, size: %s, count: %d, from: %s}\n", verb, one("1..16KiB", "64KiB", "1..512", "0..4KiB"), 1+r.IntN(12), end)
		}
	}
	if work.Len() == 0 {
		work.WriteString("  - {verb: write, size: 64KiB, count: 3}\n")
	}
	loss := func() string { return strconv.FormatFloat(float64(r.IntN(6))/100+1e-9, 'g', -1, 64) }
	way := func() string {
		return fmt.Sprintf("{loss: {p: %s}, duplicate: {p: %g}, damage: {p: %g}, reorder: {p: %g, by: %dus}}",
			loss(), []float64{1e-9, 0.02}[r.IntN(2)], []float64{1e-9, 0.01}[r.IntN(2)], []float64{1e-9, 0.02}[r.IntN(2)], 1+r.IntN(20))
	}
	return fmt.Sprintf(`seed: %d
transport: {%s}
handshake: %t
order: mixed
pairs: {count: %d, start-psn: %d, mtu: %s, ack-timeout: %d}
work:
%slinks: {name: wire, delay: %dus, there: %s, back: %s}
`, seed, transport, r.IntN(2) == 0, 1+r.IntN(4), start, one("256", "1024", "4096"), 8+r.IntN(4), work.String(), 1+r.IntN(8), way(), way())
}

// hard are seeds of which rules that were too sure of themselves once took something
// for broken: an acknowledgement that came while it was open where the PSNs of its end
// belong, a damaged acknowledgement of READ responses, MP-RDMA resends of an end whose
// feedback was never told apart, a NAK of what was damaged before the first packet that
// counts, one of what the model alone had taken, what the timer of a literal windowless
// sender names, a READ response that acknowledges its request, and a NAK that came while
// it was open where the PSNs of its end belong.
var hard = []uint64{1153, 1640, 1875, 2198, 2509, 2585, 143, 376, 491, 3068}

// Flows over a rough network break no rule, at either end.
func TestRoughFlowsBreakNoRule(t *testing.T) {
	n := uint64(40)
	if more, err := strconv.Atoi(os.Getenv("RDMADUMP_ROUGH")); err == nil {
		n = uint64(more)
	}
	seeds := slices.Clone(hard)
	for seed := range n {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		text := rough(seed)
		for at, all := range play(t, text) {
			sides := []dissect.Tap{""}
			if !strings.Contains(text, "from: receiver") { // what is stated is true of all requests
				sides = append(sides, dissect.Tap(at))
			}
			for _, side := range sides {
				stated := conform.Config{Tap: side}
				if seed%2 > 0 { // what the scenario has
					stated.Cap, stated.Slots = irnCap(seed), 64
				}
				for _, found := range checkBy(stated, all) {
					if strings.Contains(found, " violation ") {
						t.Errorf("seed %d, %s, --side %q: %s", seed, at, side, found)
					}
				}
			}
		}
	}
}
