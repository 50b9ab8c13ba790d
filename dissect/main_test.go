package dissect

import (
	"flag"
	"os"
	"testing"
)

// TestMain has the property tests draw the same stories each time, so that a
// change is judged by itself and not by the luck of a run. To search on, draw
// others: go test ./dissect -rapid.seed=0 -rapid.checks=10000.
func TestMain(m *testing.M) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "rapid.seed" })
	if !chosen {
		if err := flag.Set("rapid.seed", "1"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
