package main

import (
	"os"
	"strings"
	"testing"
)

// What the README shows is what the command prints.
func TestReadme(t *testing.T) {
	t.Chdir("../..")
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const capture = "testdata/pcaps/rxe-nth_drops-receiver.pcap.gz"
	out, errs, exit := execute("loss", capture)
	if exit != 0 || errs != "" {
		t.Fatalf("exit status %d: %s", exit, errs)
	}
	var want strings.Builder
	for line := range strings.Lines(out) {
		if line != "\n" {
			line = "    " + line
		}
		want.WriteString(line)
	}
	const begin, end = "The first command prints:\n\n", "\n## "
	head, rest, ok := strings.Cut(string(b), begin)
	shown, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("README.md has no transcript between %q and %q", begin, end)
	}
	if shown == want.String() {
		return
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(head+begin+want.String()+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("README.md does not show what `rdmadump loss %s` prints (go test -update mends it):\n%s", capture, want.String())
}
