package filter_test

import (
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The frames that an expression takes are those that a display filter of
// Wireshark takes.
func TestAgainstTshark(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("tshark is not installed")
		}
		t.Skip("tshark is not installed")
	}
	for name, pairs := range map[string][][2]string{
		"pcaps/rxe-mix_ops_loss-receiver.pcap.gz": {
			{`bth.psn in 11256000..11256100`, `infiniband.bth.psn >= 11256000 && infiniband.bth.psn <= 11256100`},
			{`opcode_name contains "READ"`, `infiniband.bth.opcode >= 12 && infiniband.bth.opcode <= 16`},
			{`opcode("READ", "atomic")`, `(infiniband.bth.opcode >= 12 && infiniband.bth.opcode <= 16) || infiniband.bth.opcode == 18`},
			{`aeth.syndrome >= 0x60`, `infiniband.aeth.syndrome >= 0x60`},
			{`aeth.syndrome < 32 and aeth.msn > 5`, `infiniband.aeth.syndrome < 32 && infiniband.aeth.msn > 5`},
			// tshark gives an AtomicETH's address the same name, but no length of a message.
			{`reth.va >= 0x55e7fe956000`, `infiniband.reth.va >= 0x55e7fe956000 && infiniband.reth.dmalen`},
			{`reth.va < 0x7f0000000000 and reth.dmalen > 2000`, `infiniband.reth.va < 0x7f0000000000 && infiniband.reth.dmalen > 2000`},
			{`atomiceth.va > 0x55e7fe955000`, `infiniband.reth.va > 0x55e7fe955000 && !infiniband.reth.dmalen`},
			{`reth.dmalen == 5658 or has(atomiceth)`, `infiniband.reth.dmalen == 5658 || infiniband.atomiceth`},
			{`bth.a and bth.padcnt == 0`, `infiniband.bth.a == 1 && infiniband.bth.padcnt == 0`},
			{`src == "192.0.2.1" and bth.destqp != 0x11`, `infiniband.bth && ip.src == 192.0.2.1 && infiniband.bth.destqp != 0x11`},
			{`not (aeth.msn > 5)`, `infiniband.bth && !(infiniband.aeth.msn > 5)`},
			{`dst in cidr("192.0.2.2/31")`, `infiniband.bth && ip.dst == 192.0.2.2/31`},
			{`frame in 20..60`, `infiniband.bth && frame.number >= 20 && frame.number <= 60`},
			{`udp.length > 500 and ip.ttl == 64`, `infiniband.bth && udp.length > 500 && ip.ttl == 64`},
			{`sport >= 50000`, `infiniband.bth && udp.srcport >= 50000`},
			{`time >= "+100ms" and time < "+0.15s"`, `infiniband.bth && frame.time_relative >= 0.1 && frame.time_relative < 0.15`},
		},
		"pcaps/rxe-cm_rping_v4_loss-sender.pcap.gz": {
			{`has(mad)`, `infiniband.mad`},
			{`mad.attributeid == 0x10`, `infiniband.mad.attributeid == 0x10`},
			{`deth.srcqp == 1`, `infiniband.deth.srcqp == 1`},
			{`mad.mgmtclass == 7 and mad.method == 3`, `infiniband.mad.mgmtclass == 7 && infiniband.mad.method == 3`},
		},
		"pcaps/rxe-wrap_send_v6_clean-receiver.pcap.gz": {
			{`bth.psn in 16777200..10`, `infiniband.bth.psn >= 16777200 || infiniband.bth.psn <= 10`},
			{`src in cidr("2001:db8::/32")`, `infiniband.bth && ipv6.src == 2001:db8::/32`},
			{`ip.hlim > 1 and ip.version == 6`, `infiniband.bth && ipv6.hlim > 1`},
		},
	} {
		file := plain(t, name)
		for _, pair := range pairs {
			out, err := exec.Command(tshark, "-r", file, "-Y", pair[1], "-T", "fields", "-e", "frame.number").Output()
			if err != nil {
				t.Fatalf("%s: %v", pair[1], err)
			}
			want := []int{}
			for _, word := range strings.Fields(string(out)) {
				n, err := strconv.Atoi(word)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, n)
			}
			if got := frames(t, name, pair[0]); !slices.Equal(got, want) {
				t.Errorf("%s: %s takes frames\n%v, tshark by %s\n%v", name, pair[0], got, pair[1], want)
			} else if len(got) == 0 {
				t.Errorf("%s: %s takes nothing, which shows nothing", name, pair[0])
			}
		}
	}
}

// plain unpacks a capture.
func plain(t *testing.T, name string) string {
	t.Helper()
	in, err := os.Open("../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "plain.pcap")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
