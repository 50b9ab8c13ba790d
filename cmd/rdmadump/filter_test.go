package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/filter"
)

// What docs/filter.md shows of a terminal is what the commands print.
func TestFilterTranscripts(t *testing.T) {
	t.Chdir("../..")
	b, err := os.ReadFile("docs/filter.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`^    \$ rdmadump read --filter '([^']*)' (\S+)$`)
	shown := 0
	lines := strings.Split(string(b), "\n")
	for i, line := range lines {
		m := command.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		shown++
		out, errs, _ := execute("read", "--filter", m[1], m[2])
		for k, want := range strings.Split(strings.TrimSuffix(out+errs, "\n"), "\n") {
			if got := lines[i+1+k]; got != "    "+want {
				t.Errorf("%s\n%s\nis shown as\n%s", m[1], want, got)
			}
		}
	}
	if shown != 3 {
		t.Errorf("%d commands are shown, want 3", shown)
	}
}

// Every expression in a table of docs/filter.md is one.
func TestFilterExamples(t *testing.T) {
	b, err := os.ReadFile("../../docs/filter.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `((?:[^`\\\\]|\\\\.)*)` \\| ")
	n := 0
	for _, m := range row.FindAllStringSubmatch(string(b), -1) {
		text := strings.ReplaceAll(m[1], `\|`, "|")
		if strings.HasPrefix(text, "--") || !strings.ContainsAny(text, "(=<>. ") {
			continue // a flag, a command
		}
		if strings.HasPrefix(text, "read") || text == "compare" || text == "loss" {
			continue
		}
		n++
		if _, err := filter.Parse(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if n < 20 {
		t.Errorf("%d examples were found", n)
	}
}

// A filter chooses connections of loss, and changes nothing of what is said about
// them: those of which read prints a packet for the same filter.
func TestFilterChoosesConnections(t *testing.T) {
	names, err := filepath.Glob("../../testdata/*/*.pcap*")
	if err != nil || len(names) < 80 {
		t.Fatalf("%d captures, %v", len(names), err)
	}
	left, chosen := 0, 0
	for _, name := range names {
		whole, _, exit := execute("loss", "--json", name)
		if exit != 0 {
			continue
		}
		all := connectionsByID(t, whole)
		for _, expression := range []string{`bth.psn % 3 == 1`, `aeth.syndrome >= 0x60`, `opcode("READ")`, `reth.dmalen > 1000`} {
			want := map[string]bool{}
			packets, _, _ := execute("read", "--json", "--filter", expression, name)
			for line := range strings.Lines(packets) {
				var p struct {
					Src, Dst string
					BTH      struct{ DestQP int }
				}
				if err := json.Unmarshal([]byte(line), &p); err != nil {
					t.Fatal(err)
				}
				for id, c := range all {
					if c.sends(p.Src, p.Dst, p.BTH.DestQP) {
						want[id] = true
					}
				}
			}
			out, _, _ := execute("loss", "--json", "--filter", expression, name)
			got := connectionsByID(t, out)
			for id, c := range got {
				if !reflect.DeepEqual(c, all[id]) {
					t.Errorf("%s: --filter '%s' changes connection %s to\n%v\nfrom\n%v", name, expression, id, c, all[id])
				}
			}
			for id := range all {
				if _, ok := got[id]; ok != want[id] {
					t.Errorf("%s: --filter '%s': connection %s is told of: %v, want %v", name, expression, id, ok, want[id])
				}
			}
			chosen, left = chosen+len(got), left+len(all)-len(got)
		}
	}
	if chosen < 50 || left < 50 {
		t.Errorf("%d connections were chosen and %d left out, which shows little", chosen, left)
	}
}

// connection is one of loss --json as it came.
type connection map[string]any

// sends reports whether an end sends to a queue pair of the other.
func (c connection) sends(src, dst string, qpn int) bool {
	at := func(end string) (address string, number int) {
		e, _ := c[end].(map[string]any)
		address, _ = e["address"].(string)
		text, _ := e["qpn"].(string)
		for _, digit := range strings.TrimPrefix(text, "0x") {
			number = number<<4 | strings.IndexRune("0123456789abcdef", digit)
		}
		return address, number
	}
	a, atA := at("a")
	b, atB := at("b")
	return b == dst && atB == qpn && (a == src || a == "") || a == dst && atA == qpn && (b == src || b == "")
}

func connectionsByID(t *testing.T, report string) map[string]connection {
	t.Helper()
	var r struct{ Connections []connection }
	d := json.NewDecoder(strings.NewReader(report))
	d.UseNumber()
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	all := map[string]connection{}
	for _, c := range r.Connections {
		all[c["id"].(json.Number).String()] = c
	}
	return all
}

// Events and violations of files are told from the first frame on, whichever
// packet the filter takes.
func TestFilterOfEvents(t *testing.T) {
	const name = "../../testdata/pcaps/rxe-nth_drops-receiver.pcap.gz"
	last := []string{"--filter", "aeth.msn == 40"} // of the last acknowledgement only
	for _, command := range [][]string{{"loss", "--events"}, {"check", "--json"}} {
		whole, _, _ := execute(append(command, name)...)
		some, _, _ := execute(append(append(command, last...), name)...)
		none, _, _ := execute(append(append(command, "--filter", "aeth.msn == 5000"), name)...)
		if some != whole || none != "" {
			t.Errorf("%v: %d bytes with a filter of one packet, %d without, %d with one of no packet", command, len(some), len(whole), len(none))
		}
	}
}

// The types are checked before a file is opened.
func TestFilterErrorsComeFirst(t *testing.T) {
	for _, command := range []string{"read", "loss", "check", "compare"} {
		out, errs, exit := execute(command, "--filter", `opcode_name > 5`, "no-such-file", "nor-this")
		want := "rdmadump: --filter: opcode_name is a text, 5 is a number at column 13; they cannot be compared\n" +
			"    opcode_name > 5\n                ^\nrdmadump: hint: see rdmadump " + command + " --help\n"
		if out != "" || errs != want || exit != 2 {
			t.Errorf("%s: exit status %d, %s%s", command, exit, out, errs)
		}
	}
}

// A filter chooses the copies that compare counts. The truth beside the captures
// names PSNs 4105, 4145 to 4147 and 4340 as dropped.
func TestFilterOfCompare(t *testing.T) {
	const sender, receiver = "../../testdata/pcaps/rxe-nth_drops-sender.pcap.gz", "../../testdata/pcaps/rxe-nth_drops-receiver.pcap.gz"
	for expression, want := range map[string]int{
		`bth.psn in 4145..4147`:                   3,
		`bth.psn <= 4145`:                         2,
		`has(aeth)`:                               0,
		`opcode_name contains "WRITE"`:            5,
		`opcode("ack") or bth.psn not in 1..4339`: 1,
	} {
		out, _, _ := execute("compare", "--json", "--filter", expression, sender, receiver)
		var c struct{ Totals struct{ Vanished int } }
		if err := json.Unmarshal([]byte(out), &c); err != nil {
			t.Fatal(err)
		}
		if c.Totals.Vanished != want {
			t.Errorf("%s: %d copies vanished, want %d", expression, c.Totals.Vanished, want)
		}
	}
}
