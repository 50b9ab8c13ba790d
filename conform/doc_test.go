package conform_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/conform"
	"github.com/rdmadump/rdmadump/dissect"
)

var update = flag.Bool("update", false, "write the table of docs/check.md anew")

// The table of rules in docs/check.md is the one in the code.
func TestTableOfRules(t *testing.T) {
	var table strings.Builder
	table.WriteString("| rule | says | for | judged | from |\n|---|---|---|---|---|\n")
	for _, r := range conform.Rules() {
		name := "`" + r.Name + "`"
		if r.Severity == conform.Notes {
			name += " (note)"
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", name, r.Text, r.About, r.Judged, r.Source)
	}
	const file, from, to = "../docs/check.md", "<!-- rules -->\n", "<!-- end of rules -->"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(b), from)
	old, tail, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatal("docs/check.md has no place for the table")
	}
	if old == table.String() {
		return
	}
	if !*update {
		t.Fatal("the table of docs/check.md is out of date: go test ./conform -update")
	}
	if err := os.WriteFile(file, []byte(head+from+table.String()+to+tail), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Correct flows break no rule, at either end, but for what docs/check.md says of
// soft-RoCE.
func TestCorrectFlows(t *testing.T) {
	for _, name := range []string{"atomic_faa_loss-receiver", "atomic_faa_loss-sender", "cm_rping_v4_loss-receiver", "cm_rping_v4_loss-sender",
		"dup-receiver", "dup-sender", "mix_ops_loss-receiver", "mix_ops_loss-sender", "nth_drops-receiver", "nth_drops-sender",
		"read_req_loss-receiver", "read_req_loss-sender", "read_resp_loss-sender", "send_heavy_loss20-receiver", "send_heavy_loss20-sender",
		"tail_loss-receiver", "tail_loss-sender", "uc_write_loss2-receiver", "uc_write_loss2-sender", "wrap_write_loss-receiver",
		"wrap_write_loss-sender", "write_lat_small_loss-sender", "write_v6_loss1-receiver", "write_v6_loss1-sender"} {
		if got := check(load(t, "pcaps/rxe-"+name+".pcap.gz"), ""); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	// Each RNR NAK is followed by a sequence NAK of the same PSN.
	got := check(load(t, "pcaps/rxe-rnr_nak-receiver.pcap.gz"), "")
	if len(got) != 132 {
		t.Errorf("rnr_nak: %d, want the 132 sequence NAKs of truth.json", len(got))
	}
	for _, v := range got {
		if !strings.HasPrefix(v, "one-nak violation ") {
			t.Errorf("rnr_nak: %s", v)
		}
	}
}

// A flow in which nothing is wrong costs no allocation a packet.
func TestNoAllocation(t *testing.T) {
	frames := load(t, "pcaps/rxe-wrap_send_v6_clean-receiver.pcap.gz")
	for i := range frames {
		frames[i].Number = i + 1
	}
	alone := func(frames []dissect.Frame) float64 {
		return testing.AllocsPerRun(5, func() {
			a := dissect.NewAnalyzer(dissect.Config{})
			a.OpenCapture("", "")
			for i := range frames {
				f := frames[i]
				a.Frame(&f)
			}
		})
	}
	with := func(frames []dissect.Frame) float64 { return testing.AllocsPerRun(5, func() { check(frames, "") }) }
	few := with(frames[:100]) - alone(frames[:100])
	many := with(frames) - alone(frames)
	if many-few > 12 { // slices grow
		t.Errorf("%v allocations more for %d packets more", many-few, len(frames)-100)
	}
}

func TestRuleSets(t *testing.T) {
	if _, err := conform.Only("one-nak,icrc"); err != nil {
		t.Error(err)
	}
	if _, err := conform.Only("one-nak,nonsense"); err == nil || err.Error() != "no such rule: nonsense" {
		t.Error(err)
	}
}
