package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/dissect/twopoint"
)

// line is a line of the truth.
type line struct {
	Src, Dst, DestQP string
	Opcode           codec.Opcode
	PSN              uint32
	Copy             int
	Sent             int64 `json:"sent_ns"`
	Fate             string
	Link             *string
	Arrived          *int64 `json:"arrived_ns"`
	Reordered        bool
}

// shown is a run with everything that it shows.
type shown struct {
	*Result
	truth  []line
	text   string
	frames map[Tap][]dissect.Frame
}

// play runs a scenario with capture points.
func play(t *testing.T, s *Scenario, points ...Tap) shown {
	t.Helper()
	out := shown{frames: map[Tap][]dissect.Frame{}}
	var captures []Capture
	for _, at := range points {
		captures = append(captures, Capture{At: at, Frame: func(f *dissect.Frame) error {
			kept := *f
			kept.Data = bytes.Clone(f.Data)
			out.frames[at] = append(out.frames[at], kept)
			return nil
		}})
	}
	var text bytes.Buffer
	r, err := Run(s, Output{Captures: captures, Truth: &text})
	if err != nil {
		t.Fatal(err)
	}
	out.Result, out.text = r, text.String()
	decoder := json.NewDecoder(&text)
	decoder.DisallowUnknownFields()
	for decoder.More() {
		var l line
		if err := decoder.Decode(&l); err != nil {
			t.Fatal(err)
		}
		out.truth = append(out.truth, l)
	}
	return out
}

// library is the scenarios that ship.
func library(t *testing.T) map[string]*Scenario {
	t.Helper()
	names, err := filepath.Glob("../testdata/scenarios/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	all := map[string]*Scenario{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(text, filepath.Base(name))
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(name), ".yaml")] = s
	}
	return all
}

// each runs every scenario that ships, with captures at both ends.
func each(t *testing.T, check func(t *testing.T, s *Scenario, r shown)) {
	for name, s := range library(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, s, play(t, s, "sender", "receiver"))
		})
	}
}

func named(lines []line, want func(*line) bool) []string {
	var all []string
	for i := range lines {
		if l := &lines[i]; want(l) {
			all = append(all, fmt.Sprintf("%s %s response=%v psn %d copy %d", l.Src, l.DestQP, l.Opcode.Verb() == codec.VerbReadResponse, l.PSN, l.Copy))
		}
	}
	slices.Sort(all)
	return all
}

// data reports whether the packet is of a stream that compare lists copies of.
func (l *line) data() bool {
	v := l.Opcode.Verb()
	return l.Opcode.Service() != codec.UD && v != codec.VerbNone && v != codec.VerbAck && v != codec.VerbAtomicAck
}

// What the comparison of the captures at both ends finds to be lost, damaged,
// duplicated or overtaken is what the truth says, copy for copy.
func TestCompareAgreesWithTruth(t *testing.T) {
	each(t, func(t *testing.T, _ *Scenario, r shown) {
		c := twopoint.NewComparer(twopoint.Config{}, "sender", "receiver")
		files := [][]dissect.Frame{r.frames["sender"], r.frames["receiver"]}
		for i := c.Next(); i >= 0; i = c.Next() {
			if len(files[i]) == 0 {
				c.Close(i, "", 0, nil)
				continue
			}
			f := files[i][0]
			files[i] = files[i][1:]
			f.File = i
			c.Frame(&f)
		}
		result := c.Comparison()
		var got []string
		for _, s := range result.Streams {
			for _, v := range s.Vanished {
				got = append(got, fmt.Sprintf("%s %s response=%v psn %d copy %d", s.Src, s.DestQP, s.Kind == twopoint.ReadResponse, v.PSN, v.Copy))
			}
		}
		slices.Sort(got)
		if want := named(r.truth, func(l *line) bool { return l.data() && l.Fate == "lost" }); !slices.Equal(got, want) {
			t.Errorf("vanished\n%v, want\n%v", got, want)
		}
		count := func(want func(*line) bool) (n int64) {
			return int64(len(named(r.truth, func(l *line) bool { return l.data() && want(l) })))
		}
		for _, v := range []struct {
			what      string
			got, want int64
		}{
			{"copies", result.Totals.Copies, count(func(*line) bool { return true })},
			{"damaged", result.Totals.Damaged, count(func(l *line) bool { return l.Fate == "damaged" })},
			{"duplicated", result.Totals.Duplicated, count(func(l *line) bool { return l.Fate == "duplicated" })},
			{"reordered", result.Totals.Reordered, count(func(l *line) bool { return l.Reordered })},
			{"not captured", result.Totals.NotCaptured, 0},
		} {
			if v.got != v.want {
				t.Errorf("%s: %d, want %d", v.what, v.got, v.want)
			}
		}
	})
}

// analyze is what a single capture tells.
func analyze(frames []dissect.Frame) *dissect.Report {
	a := dissect.NewAnalyzer(dissect.Config{})
	for i := range frames {
		a.Frame(&frames[i])
	}
	return a.Report()
}

// missing are all PSNs that the report calls lost, by stream.
func missing(r *dissect.Report) map[string]bool {
	all := map[string]bool{}
	for _, c := range r.Connections {
		for _, s := range c.Streams {
			for _, span := range s.LostRanges {
				for p := span.First; ; p = p.Add(1) {
					all[fmt.Sprintf("%s %s response=%v psn %d", s.Src, s.DestQP, s.Kind == "read-response", p)] = true
					if p == span.Last {
						break
					}
				}
			}
		}
	}
	return all
}

// What a single capture calls lost is lost, at either end. Resends are counted as
// they were sent, where the sender was watched.
func TestLossAgreesWithTruth(t *testing.T) {
	each(t, func(t *testing.T, s *Scenario, r shown) {
		// What IRN received and said in a NACK that was lost its sender takes for lost.
		irn := s.Transport.Name == IRN && s.Links[0].Back.Loss != nil
		lost := map[string]bool{}
		for _, c := range named(r.truth, func(l *line) bool { return l.data() && (l.Fate == "lost" || l.Fate == "damaged") }) {
			lost[c[:strings.LastIndex(c, " copy")]] = true
		}
		for _, at := range []Tap{"sender", "receiver"} {
			if at == "sender" && (irn || len(s.Links) > 0 && s.Links[0].There.Reorder != nil) {
				continue // there a packet that was overtaken is one that the receiver reports missing
			}
			report := analyze(r.frames[at])
			for p := range missing(report) {
				if !lost[p] {
					t.Errorf("%s: %s is called lost, and was not", at, p)
				}
			}
			if at == "sender" && report.Totals.Retransmitted != r.Resent && s.Work[0].Verb != "read" && s.Order != Mixed {
				t.Errorf("%d resent, want %d", report.Totals.Retransmitted, r.Resent)
			}
			if want := s.Pairs.Count; len(report.Connections) != want {
				t.Errorf("%s: %d connections, want %d", at, len(report.Connections), want)
			}
		}
	})
}

// At the receiver, losses of first copies with something behind them show as what
// they are, all of them.
func TestLossFindsAll(t *testing.T) {
	for _, name := range []string{"gbn-one-loss", "gbn-window-small", "gbn-window-large", "gilbert-elliott", "psn-wrap", "vlan-ipv6", "rocev1", "infiniband-grh"} {
		s := library(t)[name]
		r := play(t, s, "receiver")
		want := named(r.truth, func(l *line) bool { return l.data() && l.Fate == "lost" })
		if report := analyze(r.frames["receiver"]); report.Totals.Lost != int64(len(want)) {
			t.Errorf("%s: %d lost, want %d: %v", name, report.Totals.Lost, len(want), want)
		}
	}
}

// Connection management says which halves belong together.
func TestHandshakePairs(t *testing.T) {
	for name, s := range library(t) {
		if !s.Handshake {
			continue
		}
		r := play(t, s, "sender")
		for _, c := range analyze(r.frames["sender"]).Connections {
			if c.PairedBy != "cm" {
				t.Errorf("%s: connection %d is paired by %s", name, c.ID, c.PairedBy)
			}
		}
	}
}

func TestLibraryHasLines(t *testing.T) {
	readme, err := os.ReadFile("../testdata/scenarios/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range library(t) {
		if s.About == "" || strings.Contains(s.About, "\n") {
			t.Errorf("%s: about is %q, want one line", name, s.About)
		}
		if want := fmt.Sprintf("| `%s.yaml` | %s |\n", name, s.About); !strings.Contains(string(readme), want) {
			t.Errorf("the README lacks %s", want)
		}
	}
}

// The reference has every key and every name.
func TestReferenceIsComplete(t *testing.T) {
	b, err := os.ReadFile("../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	words := TransportNames()
	for _, v := range []any{Scenario{}, Transport{}, Pairs{}, Work{}, Receives{}, Host{}, CNP{}, Path{}, Link{}, Direction{}, Late{}, Copy{}} {
		words = append(words, known(reflect.TypeOf(v))...)
	}
	words = append(append(words, VerbNames()...), BreachNames()...)
	for _, w := range words {
		if !strings.Contains(string(b), "`"+w+"`") {
			t.Errorf("docs/scenarios.md lacks %s", w)
		}
	}
}
