package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/internal/expect"
)

// eachPair visits the captures of two points that the project ships, in either
// order.
func eachPair(t *testing.T, visit func(t *testing.T, p expect.Pair, out expect.Object, exit int, stderr string)) {
	t.Helper()
	files, err := filepath.Glob("../../testdata/pcaps/*.compare.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 14 {
		t.Fatalf("only %d pairs found", len(files))
	}
	for _, file := range files {
		p, err := expect.LoadPair(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, order := range [][]string{{p.First, p.Second}, {p.Second, p.First}} {
			stdout, stderr, exit := execute(append([]string{"compare", "--json"}, order...)...)
			var out expect.Object
			if err := json.Unmarshal([]byte(stdout), &out); err != nil {
				t.Fatalf("%s: %v", p.Name, err)
			}
			t.Run(p.Name, func(t *testing.T) { visit(t, p, out, exit, stderr) })
		}
	}
}

func TestCompareCases(t *testing.T) {
	eachPair(t, func(t *testing.T, p expect.Pair, out expect.Object, exit int, stderr string) {
		if err := p.CheckCompare(out, exit, stderr); err != nil {
			t.Error(err)
		}
	})
}

// wire is what the wire between two points wrote down.
type wire struct {
	Flows []struct {
		Src, Dst   string
		Dest       int `json:"dest_qp"`
		Kind       string
		Dropped    [][2]int // PSN, n-th transmission
		Corrupted  [][2]int
		Duplicated [][2]int
		Reordered  [][2]int
	}
	Feedback map[string]int // "ab ack dropped": n
}

// The wire knows what it did to every copy.
func TestCompareTruth(t *testing.T) {
	eachPair(t, func(t *testing.T, p expect.Pair, out expect.Object, _ int, _ string) {
		b, err := os.ReadFile(strings.TrimSuffix(p.First, "-sender.pcap.gz") + ".truth.json")
		if err != nil {
			t.Fatal(err)
		}
		var truth wire
		if err := json.Unmarshal(b, &truth); err != nil {
			t.Fatal(err)
		}
		lost := 0
		for n, what := range truth.Feedback {
			if strings.HasSuffix(n, " dropped") {
				lost += what
			}
		}
		if got := total(out, "feedback", "vanished_total"); got != lost {
			t.Errorf("%d acknowledgements vanished, want %d", got, lost)
		}
		for _, f := range truth.Flows {
			if f.Kind != "request" && f.Kind != "read-response" {
				continue
			}
			s := streamOf(out, f.Src, f.Dst, fmt.Sprintf("0x%06x", f.Dest), f.Kind)
			if s == nil {
				t.Errorf("no %s stream from %s to %s, QP %#x", f.Kind, f.Src, f.Dst, f.Dest)
				continue
			}
			var vanished [][2]int
			for _, c := range s["vanished"].([]any) {
				o := c.(expect.Object)
				vanished = append(vanished, [2]int{int(o["psn"].(float64)), int(o["copy"].(float64))})
			}
			order := func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }
			slices.SortFunc(vanished, order)
			slices.SortFunc(f.Dropped, order)
			if !slices.Equal(vanished, f.Dropped) {
				t.Errorf("vanished %v, want %v", vanished, f.Dropped)
			}
			for key, want := range map[string]int{"damaged": len(f.Corrupted), "duplicated": len(f.Duplicated), "reordered": len(f.Reordered)} {
				if got := int(s[key].(float64)); got != want {
					t.Errorf("%s %d, want %d", key, got, want)
				}
			}
		}
	})
}

func total(out expect.Object, list, key string) int {
	n := 0
	streams, _ := out[list].([]any)
	for _, s := range streams {
		n += int(s.(expect.Object)[key].(float64))
	}
	return n
}

func streamOf(out expect.Object, src, dst, qpn, kind string) expect.Object {
	for _, v := range out["streams"].([]any) {
		if s := v.(expect.Object); s["src"] == src && s["dst"] == dst && s["destqp"] == qpn && s["kind"] == kind {
			return s
		}
	}
	return nil
}
