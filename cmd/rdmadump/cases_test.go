package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/internal/expect"
)

// execute runs a command line and returns what it printed and its exit status.
func execute(args ...string) (stdout, stderr string, exit int) {
	var out, errs bytes.Buffer
	exit = run(args, streams{strings.NewReader(""), &out, &errs})
	return out.String(), errs.String(), exit
}

// eachCase visits the captures that the project ships with expectations.
func eachCase(t *testing.T, visit func(t *testing.T, c expect.Case)) {
	t.Helper()
	cases := 0
	for _, dir := range []string{"cases", "pcaps"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "testdata", dir, "*.expect.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			c, err := expect.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			cases++
			t.Run(c.Name, func(t *testing.T) { visit(t, c) })
		}
	}
	if cases < 50 {
		t.Fatalf("only %d cases found", cases)
	}
}

// objects are the lines of strict JSON that read printed.
func objects(t *testing.T, out string) []expect.Object {
	t.Helper()
	var lines []expect.Object
	for line := range strings.Lines(out) {
		var o expect.Object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		lines = append(lines, o)
	}
	return lines
}

func TestReadCases(t *testing.T) {
	eachCase(t, func(t *testing.T, c expect.Case) {
		if c.Read == nil {
			t.Skip("nothing is expected of read")
		}
		for _, flag := range []string{"--json", "--json=full"} {
			out, errs, exit := execute("read", flag, c.File)
			if err := c.CheckRead(objects(t, out), exit, errs); err != nil {
				t.Errorf("%s: %v", flag, err)
			}
		}
	})
}
