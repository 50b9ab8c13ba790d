package craft

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// said are fields of which tshark is told a value, each another one.
var said = []struct {
	key   string
	value uint64
	shark string
	in    codec.Header
}{
	{"bth.destqp", 0x123456, "infiniband.bth.destqp", codec.HeaderBTH},
	{"bth.psn", 0xabcdef, "infiniband.bth.psn", codec.HeaderBTH},
	{"bth.p_key", 0x8123, "infiniband.bth.p_key", codec.HeaderBTH},
	{"bth.padcnt", 3, "infiniband.bth.padcnt", codec.HeaderBTH},
	{"deth.q_key", 0x80010203, "infiniband.deth.q_key", codec.HeaderDETH},
	{"deth.srcqp", 0x654321, "infiniband.deth.srcqp", codec.HeaderDETH},
	{"reth.va", 0x0102030405060708, "infiniband.reth.va", codec.HeaderRETH},
	{"reth.r_key", 0x11121314, "infiniband.reth.r_key", codec.HeaderRETH},
	{"reth.dmalen", 61, "infiniband.reth.dmalen", codec.HeaderRETH},
	{"atomiceth.va", 0x2122232425262728, "infiniband.reth.va", codec.HeaderAtomicETH},
	{"atomiceth.swapdt", 0x3132333435363738, "infiniband.atomiceth.swapdt", codec.HeaderAtomicETH},
	{"atomiceth.cmpdt", 0x4142434445464748, "infiniband.atomiceth.cmpdt", codec.HeaderAtomicETH},
	{"aeth.syndrome", 0x1e, "infiniband.aeth.syndrome", codec.HeaderAETH},
	{"aeth.msn", 0x515253, "infiniband.aeth.msn", codec.HeaderAETH},
	{"atomicacketh.origremdt", 0x6162636465666768, "infiniband.atomicacketh.origremdt", codec.HeaderAtomicAckETH},
	{"ieth.r_key", 0x71727374, "infiniband.ieth", codec.HeaderIETH},
	{"immdt", 0x01828384, "infiniband.immdt", codec.HeaderImmDt},
}

// tshark reads every standard packet as it was described, without a complaint.
func TestTshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("tshark is not there")
	}
	for _, carrier := range []string{"ipv4", "ipv6", "rocev1"} {
		t.Run(carrier, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "x.pcap")
			ops := standard()
			describe(t, name, carrier, ops)
			out := sharked(t, name)
			if len(out) != len(ops) {
				t.Fatalf("tshark reads %d packets of %d", len(out), len(ops))
			}
			for i, op := range ops {
				agrees(t, carrier, op, out[i])
			}
		})
	}
}

// standard are the opcodes of IBA that tshark 4.0 reads right: RC, UC and UD
// without FLUSH and ATOMIC WRITE. Of RD it looks for the RDETH 8 bytes too far
// on, with a DETH or without.
func standard() (ops []codec.Opcode) {
	for i := range 0x80 {
		if o := codec.Opcode(i); o.Known() && o.Operation() <= codec.SendOnlyInv && o.Service() != codec.RD {
			ops = append(ops, o)
		}
	}
	return ops
}

func describe(t *testing.T, name, carrier string, ops []codec.Opcode) {
	w, err := capture.Create(name, capture.WriterOptions{Form: capture.PcapNano})
	if err != nil {
		t.Fatal(err)
	}
	var b Builder
	for _, op := range ops {
		o := Object{"carrier": carrier, "opcode_name": op.String(), "vlan": []any{map[string]any{"id": "7"}}}
		if op.Payload() {
			o["payload_len"] = "61"
		}
		for _, s := range said {
			if op.Headers().Has(s.in) && (s.key != "bth.padcnt" || op.Payload()) {
				if err := o.Set(s.key, strconv.FormatUint(s.value, 10)); err != nil {
					t.Fatal(err)
				}
			}
		}
		var f dissect.Frame
		if err := b.Frame(o, &f); err != nil {
			t.Fatalf("%v: %v", op, err)
		}
		if err := w.WriteFrame(&f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// sharked is what tshark says of each packet.
func sharked(t *testing.T, name string) (all []map[string]string) {
	fields := []string{"infiniband.bth.opcode", "_ws.malformed", "_ws.expert.severity", "ip.checksum.status", "udp.checksum.status", "vlan.id"}
	for _, s := range said {
		if !slices.Contains(fields, s.shark) { // tshark has one for both virtual addresses
			fields = append(fields, s.shark)
		}
	}
	args := []string{"-r", name, "-T", "fields", "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"}
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	out, err := exec.Command("tshark", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		got := map[string]string{}
		for k, v := range strings.Split(strings.TrimSuffix(line, "\n"), "\t") {
			got[fields[k]] = v
		}
		all = append(all, got)
	}
	return all
}

func agrees(t *testing.T, carrier string, op codec.Opcode, got map[string]string) {
	t.Helper()
	want := func(field, value string) {
		t.Helper()
		if got[field] != value {
			t.Errorf("%s %v: tshark has %s %q, want %q", carrier, op, field, got[field], value)
		}
	}
	want("infiniband.bth.opcode", strconv.Itoa(int(op)))
	want("_ws.malformed", "")
	want("_ws.expert.severity", "")
	want("vlan.id", "7")
	switch carrier {
	case "ipv4":
		want("ip.checksum.status", "1")
	case "ipv6":
		want("udp.checksum.status", "1")
	}
	for _, s := range said {
		if !op.Headers().Has(s.in) || s.key == "bth.padcnt" && !op.Payload() {
			continue
		}
		text, _, _ := strings.Cut(got[s.shark], ",") // immediate data is shown twice
		base := 10
		switch {
		case strings.HasPrefix(text, "0x"):
			base = 0
		case s.in == codec.HeaderImmDt || s.in == codec.HeaderIETH: // plain hex
			base = 16
		}
		if v, err := strconv.ParseUint(text, base, 64); err != nil || v != s.value {
			t.Errorf("%s %v: tshark has %s %q, want %s", carrier, op, s.shark, text, fmt.Sprintf("%#x", s.value))
		}
	}
}
