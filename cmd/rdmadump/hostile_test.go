package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Names and arguments reach the terminal in no form that does more than show
// them.
func TestHostileArguments(t *testing.T) {
	const hostile = "e\x1b]0;pwn\x07\x1b[31m\nrdmadump: fake\u009b1m\u202e\xff.pcap"
	dir := t.TempDir()
	whole, err := os.ReadFile("../../testdata/cases/04-gap-nak-gobackn.pcap")
	if err != nil {
		t.Fatal(err)
	}
	there := filepath.Join(dir, hostile)
	if err := os.WriteFile(there, whole[:len(whole)-1], 0o600); err != nil {
		t.Skip(err) // not every file system takes such names
	}
	for _, args := range [][]string{
		{"read", there}, {"read", there, there}, {"loss", there}, {"loss", "--json", there},
		{"read", hostile}, {"loss", hostile}, {"loss", "--json", hostile}, {hostile}, {"read", "--" + hostile}, {"read", "-" + hostile},
		{"--" + hostile}, {"read", "--time=" + hostile, there}, {"read", "--time", hostile, there}, {"read", "--udp-port", hostile},
		{"loss", "--max-gaps", hostile}, {"loss", "--json=" + hostile}, {"version", hostile}, {"help", hostile}, {hostile, "--help"},
	} {
		out, errs, _ := execute(args...)
		for i, line := range strings.Split(out+errs, "\n") {
			if strings.ContainsFunc(strings.ToValidUTF8(line, "\x1b"), func(r rune) bool {
				return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e
			}) || strings.HasPrefix(line, "rdmadump: fake") {
				t.Errorf("%q: line %d: %q", args, i+1, line)
			}
		}
	}
}
