package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"rdmagen": main})
}

// TestScripts runs testdata/script. The scenarios that the project ships are in
// $SCENARIOS; rdmadump is there to read what rdmagen writes.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "../rdmadump").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", env.Getenv("PATH")+string(filepath.ListSeparator)+bin)
			env.Setenv("SCENARIOS", filepath.Join(root, "testdata", "scenarios"))
			env.Setenv("CASES", filepath.Join(root, "testdata", "cases"))
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Getuid() == 0, nil
			case "netns": // with the tools to make one and to bring its loopback up
				return exec.Command("unshare", "-n", "ip", "link", "set", "lo", "up").Run() == nil, nil
			}
			return false, fmt.Errorf("no such condition: %s", cond)
		},
	})
}
