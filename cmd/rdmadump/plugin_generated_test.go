package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/sim"
)

// TestPluginOnScenarios compares the plugin with loss on what is too large to be
// stored: packets of several paths that overtake each other, lost READ requests
// under the windowless ACK, and late copies of what was sent again.
func TestPluginOnScenarios(t *testing.T) {
	tool(t, "tshark")
	for _, c := range []struct {
		scenario string
		seed     uint64
	}{{"mprdma-overflow", 2}, {"tcaeth-two-ways", 1}, {"reorder", 7}} {
		for _, at := range []sim.Tap{"sender", "receiver"} {
			t.Run(c.scenario+" "+string(at), func(t *testing.T) {
				t.Parallel()
				file := generate(t, c.scenario, c.seed, at)
				found, _ := rows(t, file, "rdma", analysisFields, "-2")
				if len(found) == 0 {
					t.Fatal("no packet in Wireshark's tree")
				}
				compareLoss(t, file, found)
			})
		}
	}
}

// generate plays a scenario and writes what a capture point sees of it to a file.
func generate(t *testing.T, scenario string, seed uint64, at sim.Tap) (file string) {
	t.Helper()
	name := filepath.Join("../../testdata/scenarios", scenario+".yaml")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sim.Parse(text, name)
	if err != nil {
		t.Fatal(err)
	}
	s.Seed = seed
	file = filepath.Join(t.TempDir(), "generated.pcap")
	w, err := capture.Create(file, capture.WriterOptions{Form: capture.PcapNano})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sim.Run(s, sim.Output{Captures: []sim.Capture{{At: at, Frame: w.WriteFrame}}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}
