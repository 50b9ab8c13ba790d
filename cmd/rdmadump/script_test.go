package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the golden files anew")

// programs are what tests can run beside those of the system.
var programs = map[string]func(){"rdmadump": main}

func TestMain(m *testing.M) {
	testscript.Main(m, programs)
}

// TestScripts runs testdata/script. The captures that the project ships are in
// $CASES and $PCAPS.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("CASES", filepath.Join(root, "testdata", "cases"))
			env.Setenv("PCAPS", filepath.Join(root, "testdata", "pcaps"))
			return nil
		},
		Condition: func(cond string) (bool, error) {
			return cond == "root" && os.Getuid() == 0, nil
		},
	})
}
