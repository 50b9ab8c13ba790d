package sim

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// shark are the fields that tshark prints of each frame.
var shark = []string{"frame.len", "infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.bth.psn", "infiniband.bth.a", "infiniband.bth.padcnt",
	"infiniband.reth.va", "infiniband.reth.r_key", "infiniband.reth.dmalen", "infiniband.aeth.syndrome", "infiniband.aeth.msn",
	"infiniband.immdt", "infiniband.invariant.crc", "ip.checksum.status", "udp.checksum.status", "ip.id", "_ws.malformed", "_ws.expert.severity"}

// tshark decodes every packet of the scenarios without a complaint, and as the
// truth has it.
func TestTshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("tshark is not there")
	}
	for _, name := range []string{"gbn-all-verbs", "handshake", "vlan-ipv6", "rocev1", "infiniband", "infiniband-grh", "ce-marks", "access-error", "rnr-exhausted"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := library(t)[name]
			r := play(t, s, "sender")
			frames := r.frames["sender"]
			file := filepath.Join(t.TempDir(), "x.pcap")
			write(t, file, frames)
			args := []string{"-r", file, "-T", "fields", "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"}
			for _, f := range shark {
				args = append(args, "-e", f)
			}
			out, err := exec.Command("tshark", args...).Output()
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			if len(lines) != len(frames) {
				t.Fatalf("%d lines for %d frames", len(lines), len(frames))
			}
			locator, at := dissect.Locator{}, dissect.Packet{}
			for i, l := range lines {
				got := map[string]string{}
				for k, v := range strings.Split(l, "\t") {
					got[shark[k]] = v
				}
				if locator.Locate(&frames[i], &at) != dissect.Found {
					t.Fatalf("frame %d is not found", i+1)
				}
				var p codec.Packet
				if err := p.Decode(at.Transport(), len(at.Transport())); err != nil {
					t.Fatal(err)
				}
				agree(t, i+1, got, &p, s.Carrier)
			}
		})
	}
}

// agree compares what tshark says with what this project's decoder says.
func agree(t *testing.T, n int, got map[string]string, p *codec.Packet, c Carrier) {
	t.Helper()
	number := func(field string, want uint64) {
		t.Helper()
		if v, err := strconv.ParseUint(strings.TrimPrefix(got[field], "0x"), base(got[field]), 64); err != nil || v != want {
			t.Errorf("frame %d: %s is %q, want %d", n, field, got[field], want)
		}
	}
	number("infiniband.bth.opcode", uint64(p.BTH.Opcode))
	number("infiniband.bth.destqp", uint64(p.BTH.DestQP))
	number("infiniband.bth.psn", uint64(p.BTH.PSN))
	number("infiniband.bth.padcnt", uint64(p.BTH.PadCnt))
	if p.Has(codec.HeaderRETH) {
		number("infiniband.reth.va", p.RETH.VA)
		number("infiniband.reth.r_key", uint64(p.RETH.RKey))
		number("infiniband.reth.dmalen", uint64(p.RETH.DMALen))
	}
	if p.Has(codec.HeaderAETH) {
		number("infiniband.aeth.syndrome", uint64(p.AETH.Syndrome))
		number("infiniband.aeth.msn", uint64(p.AETH.MSN))
	}
	if p.Has(codec.HeaderImmDt) {
		first, _, _ := strings.Cut(got["infiniband.immdt"], ",") // it is shown twice, as plain hex
		if v, err := strconv.ParseUint(first, 16, 32); err != nil || uint32(v) != p.ImmDt.ImmediateData {
			t.Errorf("frame %d: immediate data %q, want %#x", n, first, p.ImmDt.ImmediateData)
		}
	}
	if p.BTH.Opcode != codec.OpcodeCNP { // behind which tshark shows nothing
		number("infiniband.invariant.crc", uint64(binary.BigEndian.Uint32(p.ICRC)))
	}
	if got["_ws.malformed"] != "" {
		t.Errorf("frame %d: malformed", n)
	}
	if v := got["_ws.expert.severity"]; v != "" {
		t.Errorf("frame %d: tshark complains: %s", n, v)
	}
	if c == CarrierIPv4 {
		number("ip.checksum.status", 1)
	}
	if c == CarrierIPv6 {
		number("udp.checksum.status", 1)
	}
}

func base(v string) int {
	if strings.HasPrefix(v, "0x") {
		return 16
	}
	return 10
}

// write writes a capture that tshark reads: it takes InfiniBand inside ERF only.
func write(t *testing.T, name string, frames []dissect.Frame) {
	t.Helper()
	w, err := capture.Create(name, capture.WriterOptions{Form: capture.PcapNano})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		if f.Link == dissect.LinkInfiniBand {
			record := make([]byte, 16, 16+len(f.Data))
			record[8], record[9] = 21, 4 // InfiniBand, of varying length
			binary.BigEndian.PutUint16(record[10:], uint16(16+len(f.Data)))
			binary.BigEndian.PutUint16(record[14:], uint16(f.WireLen))
			f.Data, f.WireLen, f.Link = append(record, f.Data...), 16+f.WireLen, dissect.LinkERF
		}
		if err := w.WriteFrame(&f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// Every ICRC is what the specification's words give, computed without this
// project's code (IBA 7.8.1, A17), on marked packets as well.
func TestICRC(t *testing.T) {
	for name, s := range map[string]*Scenario{"all verbs": library(t)["gbn-all-verbs"], "marks": library(t)["ce-marks"]} {
		r := play(t, s, "receiver")
		for i, f := range r.frames["receiver"] {
			b := append(bytes.Repeat([]byte{0xff}, 8), f.Data[14:len(f.Data)-4]...)
			for _, k := range []int{1, 8, 10, 11, 26, 27, 32} { // TOS, TTL, both checksums, BTH byte 4
				b[8+k] = 0xff
			}
			crc := crc32.ChecksumIEEE(b)
			if got := binary.LittleEndian.Uint32(f.Data[len(f.Data)-4:]); got != crc {
				t.Fatalf("%s: frame %d: ICRC %#x, want %#x: %s", name, i+1, got, crc, hex.EncodeToString(f.Data[:60]))
			}
		}
	}
}

// Damaged packets have an ICRC that is wrong, and no others do.
func TestDamagedICRC(t *testing.T) {
	r := play(t, library(t)["duplicate-damage"], "receiver")
	locator, at, bad := dissect.Locator{}, dissect.Packet{}, int64(0)
	for i := range r.frames["receiver"] {
		locator.Locate(&r.frames["receiver"][i], &at)
		if at.ICRC() == dissect.ICRCBad {
			bad++
		}
	}
	if bad != r.Damaged || bad == 0 {
		t.Errorf("%d are bad, %d damaged", bad, r.Damaged)
	}
}
