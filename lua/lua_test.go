package lua

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write rdmadump.lua anew")

// TestPluginIsGenerated holds the committed plugin to its sources and the
// codec's tables.
func TestPluginIsGenerated(t *testing.T) {
	want := Generate()
	if *update {
		if err := os.WriteFile(FileName, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(Plugin, want) {
		t.Errorf("%s is not what Generate makes; go test ./lua -update writes it anew", FileName)
	}
}
