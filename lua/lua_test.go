package lua

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// interpreter is a Lua to try the plugin in. CI fails without it.
func interpreter(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(name + " is missing")
		}
		t.Skip(name + " is missing")
	}
	return path
}

// TestPluginInEveryLua runs the plugin outside Wireshark, in the Lua of Wireshark
// before 4.4 and in that of later ones. Both must say the same, and agree with
// what the case expects.
func TestPluginInEveryLua(t *testing.T) {
	var names []string
	for _, pattern := range []string{"0*", "1[0-9][0-9]-tc*", "13*", "14*", "2*"} {
		found, err := filepath.Glob("../testdata/cases/" + pattern + ".pcap")
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	if len(names) < 20 {
		t.Fatalf("only %d captures", len(names))
	}
	for _, icrc := range []string{"", "icrc"} {
		for _, name := range names {
			var said [2]string
			for i, version := range []string{"lua5.2", "lua5.4"} {
				out, err := exec.Command(interpreter(t, version), "testdata/outside.lua", FileName, name, icrc).CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %s: %v: %s", version, name, err, out)
				}
				said[i] = string(out)
			}
			if said[0] != said[1] {
				t.Errorf("%s: Lua 5.2 says\n%s\nLua 5.4 says\n%s", name, said[0], said[1])
			}
			if strings.Contains(name, "/04-") && (!strings.Contains(said[0], "[Gap 102-103]") || strings.Count(said[0], "[Retransmission: nak]") != 6) {
				t.Errorf("%s: %s", name, said[0])
			}
		}
	}
}
