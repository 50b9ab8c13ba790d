package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/internal/expect"
)

// TestSelectionAgreesWithTshark compares what the flags choose with what a
// display filter of Wireshark does.
func TestSelectionAgreesWithTshark(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("tshark is missing")
		}
		t.Skip("tshark is missing")
	}
	for _, c := range []struct{ file, flags, filter string }{
		// Both directions, whichever end the queue pair is of.
		{"pcaps/rxe-mix_ops_loss-sender.pcap.gz", "--qpn 0x3d", "infiniband.bth.destqp in {0x3d,0x5a}"},
		{"pcaps/rxe-mix_ops_loss-sender.pcap.gz", "--qpn 90", "infiniband.bth.destqp in {0x3d,0x5a}"},
		{"pcaps/rxe-write_v6_loss1-receiver.pcap.gz", "--qpn 0x000013", "infiniband.bth.destqp in {0x13,0x30}"},
		{"pcaps/rxe-write_v6_loss1-receiver.pcap.gz", "--qpn 0x14,0x30", "infiniband.bth.destqp"},
		{"pcaps/rxe-send_vlan_loss2-receiver.pcap.gz", "--qpn 0x39", "infiniband.bth.destqp == 0x39"},
		{"pcaps/rxe-ud_send_loss3-receiver.pcap.gz", "--qpn 0x3c", "infiniband.bth.destqp == 0x3c || infiniband.deth.srcqp == 0x3c"},
		{"pcaps/rxe-cm_rping_v4_loss-sender.pcap.gz", "--qpn 0x3e",
			"infiniband.bth.destqp == 0x3e || infiniband.cm.req.localqpn == 0x3e || infiniband.cm.rep.localqpn == 0x3e || infiniband.cm.req.remoteqpneecn == 0x3e"},
		{"cases/59-ud-deth-immdt.pcap", "--qpn 0x333", "infiniband.deth.srcqp == 0x333"},
		{"cases/17-qp-reuse-with-cm.pcap", "--qpn 0x222", "infiniband && !(frame.number in {3,9,12})"}, // but RTU and DREP, which name none
		// Addresses.
		{"pcaps/rxe-nth_drops-sender.pcap.gz", "--host 192.0.2.2", "infiniband && ip.addr == 192.0.2.2"},
		{"pcaps/rxe-write_v6_loss1-receiver.pcap.gz", "--host 2001:db8::/33", "infiniband && ipv6.addr == 2001:db8::/33"},
		{"cases/16-same-qpn-different-hosts.pcap", "--host 192.0.2.1", "ip.addr == 192.0.2.1"},
		{"cases/16-same-qpn-different-hosts.pcap", "--host 192.0.2.1 --host 192.0.2.4", "ip.addr == 192.0.2.1 || ip.addr == 192.0.2.4"},
		{"cases/16-same-qpn-different-hosts.pcap", "--qpn 0x11 --host 192.0.2.3/32", "infiniband.bth.destqp == 0x11 && ip.addr == 192.0.2.3"},
		// Times. The first frame of these is no RDMA packet.
		{"pcaps/rxe-nth_drops-sender.pcap.gz", "--from +30ms --to +0.04", "infiniband && frame.time_relative >= 0.03 && frame.time_relative < 0.04"},
		{"pcaps/rxe-nth_drops-sender.pcap.gz", "--from 1796053408.313398", "infiniband && frame.time_epoch >= 1796053408.313398"},
		{"pcaps/rxe-nth_drops-sender.pcap.gz", "--to 2026-11-30T15:43:28.313398Z", `infiniband && frame.time < "2026-11-30T15:43:28.313398Z"`},
		{"pcaps/rxe-nth_drops-sender.pcap.gz", "--to 15:43:28.313398", `infiniband && frame.time_epoch < 1796053408.313398`},
		{"pcaps/rxe-mix_ops_loss-receiver.pcap.gz", "--qpn 0x3d --host 192.0.2.1 --from +20ms --to +60ms", "infiniband && frame.time_relative >= 0.02 && frame.time_relative < 0.06"},
	} {
		t.Run(filepath.Base(c.file)+" "+c.flags, func(t *testing.T) {
			file := filepath.Join("../../testdata", c.file)
			var want, got []string
			filtered, err := exec.Command(tshark, "-n", "-r", file, "-Y", c.filter, "-T", "fields", "-e", "frame.number").Output()
			if err != nil {
				t.Fatal(err)
			}
			want = strings.Fields(string(filtered))
			out, errs, exit := execute(append(append([]string{"read", "--json"}, strings.Fields(c.flags)...), file)...)
			if exit != 0 || errs != "" {
				t.Errorf("exit status %d: %s", exit, errs)
			}
			for _, o := range objects(t, out) {
				got = append(got, fmt.Sprint(o["frame"]))
			}
			if len(want) == 0 || !reflect.DeepEqual(got, want) {
				t.Errorf("%d frames %v, tshark chooses %d %v", len(got), got, len(want), want)
			}
		})
	}
}

// A pipe cannot be read ahead: what names the queue pair is chosen from it.
func TestSelectionFromPipe(t *testing.T) {
	capture, err := os.ReadFile("../../testdata/cases/04-gap-nak-gobackn.pcap")
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if exit := run([]string{"read", "--json", "--qpn", "0x222", "-"}, streams{bytes.NewReader(capture), &out, &errs}); exit != 0 || errs.Len() > 0 {
		t.Errorf("exit status %d: %s", exit, &errs)
	}
	var frames []int
	for _, o := range objects(t, out.String()) {
		frames = append(frames, int(o["frame"].(float64)))
	}
	if want := []int{5, 14}; !reflect.DeepEqual(frames, want) {
		t.Errorf("frames %v, want %v", frames, want)
	}
}

// TestLossOfQPN checks that a queue pair, of either end, finds its connections as
// they stand in the whole report, and that the totals are those of the packets
// that read cuts out for it.
func TestLossOfQPN(t *testing.T) {
	part := filepath.Join(t.TempDir(), "part.pcapng")
	eachCase(t, func(t *testing.T, c expect.Case) {
		all, _, _ := execute("loss", "--json", c.File)
		var whole expect.Object
		if all == "" || json.Unmarshal([]byte(all), &whole) != nil {
			t.Skip("no report")
		}
		ends := map[string][]any{}
		connections, _ := whole["connections"].([]any)
		for _, conn := range connections {
			seen := map[string]bool{}
			for _, end := range []string{"a", "b"} {
				if e, ok := conn.(expect.Object)[end].(expect.Object); ok && !seen[e["qpn"].(string)] {
					seen[e["qpn"].(string)] = true
					ends[e["qpn"].(string)] = append(ends[e["qpn"].(string)], conn)
				}
			}
		}
		for qpn, want := range ends {
			out, _, _ := execute("loss", "--json", "--qpn", qpn, c.File)
			var narrow expect.Object
			if err := json.Unmarshal([]byte(out), &narrow); err != nil {
				t.Fatal(err)
			}
			if got := narrow["connections"]; !reflect.DeepEqual(got, any(want)) {
				t.Errorf("%s: %v, want %v", qpn, got, want)
			}
			if got, want := narrow["selection"], any(expect.Object{"qpns": []any{qpn}}); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: selection %v, want %v", qpn, got, want)
			}
			execute("read", "--qpn", qpn, "-w", part, c.File)
			cut := lossOf(t, part)
			for _, r := range []expect.Object{narrow, cut} { // pause frames are of a link: always counted, never cut out
				totals := r["totals"].(expect.Object)
				delete(totals, "pause_frames")
				delete(totals, "pfc")
			}
			if got, want := narrow["totals"], cut["totals"]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: totals %v, of the part cut out %v", qpn, got, want)
			}
		}
	})
}

// Each frame is in one of the spans of time that a capture is divided into, and
// what was counted adds up.
func TestSelectionDividesTime(t *testing.T) {
	const file = "../../testdata/pcaps/rxe-cnp_synthetic-sender.pcap.gz"
	sums := map[string]float64{}
	add := func(sign float64, flags ...string) {
		out, _, _ := execute(append(append([]string{"loss", "--json"}, flags...), file)...)
		var r expect.Object
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"packets", "cnps", "datagrams"} {
			n := r["totals"].(expect.Object)[key].(float64)
			if n == 0 && key == "packets" {
				t.Errorf("%v: no packets", flags)
			}
			sums[key] += sign * n
		}
		if frames := r["captures"].([]any)[0].(expect.Object)["frames"]; frames != 898.0 {
			t.Errorf("%v: %v frames in the capture", flags, frames)
		}
	}
	add(-1)
	add(1, "--to", "+45ms")
	add(1, "--from", "+45ms", "--to", "-140ms")
	add(1, "--from", "-140ms")
	for key, n := range sums {
		if n != 0 {
			t.Errorf("%s: the parts and the whole differ by %v", key, n)
		}
	}
}
