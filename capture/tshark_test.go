package capture

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
)

// tshark is the second witness for lengths and times. It has none of what the
// builders leave out of the drafts, and reads without a line of ours.
func TestAgreesWithTshark(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("tshark is not installed: ", err)
	}
	files := map[string][]byte{}
	for name, s := range small() {
		files[name] = s.file
	}
	files["gzip"] = gzipped(files["pcapng big"])
	files["zstd"] = zstandard(files["pcap ns little"])
	files["clocks"] = clocks(little)
	files["clocks big"] = clocks(bigEnd)
	files["two sections"] = append(clocks(little), clocks(little)...)

	for name, file := range files {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(tshark, "-n", "-r", path, "-T", "fields",
			"-e", "frame.number", "-e", "frame.time_epoch", "-e", "frame.cap_len", "-e", "frame.len").Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		frames, _, err := readBytes(file)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var ours bytes.Buffer
		for _, f := range frames {
			time := fmt.Sprintf("%d.%09d", f.Time/1e9, f.Time%1e9)
			if f.Time == 0 { // of a simple packet, which tshark leaves blank
				time = ""
			}
			fmt.Fprintf(&ours, "%d\t%s\t%d\t%d\n", f.Number, time, len(f.Data), f.WireLen)
		}
		if !bytes.Equal(ours.Bytes(), out) {
			t.Errorf("%s: read\n%stshark reads\n%s", name, ours.Bytes(), out)
		}
	}
}

// clocks has an interface for each of several resolutions and offsets.
func clocks(order byteOrder) []byte {
	ng := ngBuilder{order: order}
	ng.section()
	for i, c := range []struct {
		resolution byte
		offset     int64
		units      uint64
	}{
		{6, 0, 1700000000_123456}, {9, 0, 1700000000_123456789}, {3, 0, 1700000000_123}, {0, 0, 1700000000},
		{12, 0, 1700000_012345678999}, {15, -10, 16_000012345678912}, {9, 1699999000, 1000_000000007},
		{0x80 | 20, 0, 1700000000<<20 | 12345}, {0x80 | 32, 0, 1700000000<<32 | 0xfffffff0}, {0x80, 5, 1700000000},
		{0x80 | 10, 1 << 30, 77<<10 | 1},
	} {
		ng.iface(1, 0, option{9, []byte{c.resolution}}, option{14, order.AppendUint64(nil, uint64(c.offset))})
		ng.enhanced(uint32(i), c.units, 70, data(60, 0))
	}
	return ng.out
}

// What the writer wrote is to tshark what it was before: bytes, lengths, times,
// link types and names of interfaces.
func TestWriterAgreesWithTshark(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("tshark is not installed: ", err)
	}
	dump := func(file string) []byte {
		fields, err := exec.Command(tshark, "-n", "-r", file, "-T", "fields", "-e", "frame.time_epoch", "-e", "frame.len",
			"-e", "frame.cap_len", "-e", "frame.encap_type", "-e", "frame.interface_name").Output()
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		dumped, err := exec.Command(tshark, "-n", "-r", file, "-x").Output()
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		// What pcap has no place for, a name, pcapng may leave out.
		return []byte(strings.ReplaceAll(string(fields), "\tunknown\n", "\t\n") + string(dumped))
	}
	for _, name := range []string{"20-capture-drops-isb.pcapng", "30-vlan-qinq.pcap", "71-pcap-nanosecond.pcap",
		"86-snaplen-64.pcap", "90-pcapng-multi-if-tsresol.pcapng", "91-pcapng-big-endian.pcapng", "93-pcapng-mixed-linktypes.pcapng", "100-linktype-sll.pcap"} {
		r, err := Open(filepath.Join("../testdata/cases", name))
		if err != nil {
			t.Fatal(err)
		}
		frames, err := readAll(r)
		if err != nil {
			t.Fatal(err)
		}
		info := r.Info()
		r.Close()
		path := filepath.Join(t.TempDir(), "x.pcapng")
		w, err := Create(path, WriterOptions{Comment: "of the tests", Describe: func(f *dissect.Frame) Interface { return info.Interfaces[f.Interface] }})
		if err != nil {
			t.Fatal(err)
		}
		for i := range frames {
			w.WriteFrame(&frames[i])
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if before, after := dump(filepath.Join("../testdata/cases", name)), dump(path); !bytes.Equal(before, after) {
			t.Errorf("%s: tshark sees\n%s\nwhere it saw\n%s", name, after, before)
		}
	}
}
