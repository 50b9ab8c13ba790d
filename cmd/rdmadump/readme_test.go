package main

import (
	"os"
	"strings"
	"testing"
)

// What the README shows is what the command prints.
func TestReadme(t *testing.T) {
	t.Chdir("../..")
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const capture = "testdata/pcaps/rxe-nth_drops-receiver.pcap.gz"
	out, errs, exit := execute("loss", capture)
	if exit != 0 || errs != "" {
		t.Fatalf("exit status %d: %s", exit, errs)
	}
	var shown strings.Builder
	for line := range strings.Lines(out) {
		if line != "\n" {
			line = "    " + line
		}
		shown.WriteString(line)
	}
	if !strings.Contains(string(readme), "\n"+shown.String()) {
		t.Errorf("README.md does not show what `rdmadump loss %s` prints:\n%s", capture, shown.String())
	}
}
