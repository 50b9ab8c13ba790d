package top

import (
	"os"
	"testing"
)

// A terminal that cannot be written to any more ends the view, with the first error.
func TestWatched(t *testing.T) {
	_, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	told := 0
	out := &watched{File: w, broken: func() { told++ }}
	for range 2 {
		if _, err := out.WriteString("x"); err == nil {
			t.Fatal("it was written")
		}
	}
	if told != 1 || out.fault() == nil {
		t.Errorf("told %d times, %v", told, out.fault())
	}
}
