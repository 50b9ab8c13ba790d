package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/internal/expect"
)

// tsharkFields are what tshark is asked for, and the keys that must say the
// same. It prints flags and hexadecimal fields in its own way, which
// strconv.ParseUint reads.
var tsharkFields = []struct{ theirs, ours string }{
	{"infiniband.bth.opcode", "bth.opcode"},
	{"infiniband.bth.destqp", "bth.destqp"},
	{"infiniband.bth.psn", "bth.psn"},
	{"infiniband.bth.padcnt", "bth.padcnt"},
	{"infiniband.bth.p_key", "bth.p_key"},
	{"infiniband.aeth.syndrome", "aeth.syndrome"},
	{"infiniband.aeth.msn", "aeth.msn"},
	{"infiniband.reth.dmalen", "reth.dmalen"},
	{"infiniband.deth.srcqp", "deth.srcqp"},
	{"infiniband.immdt", "immdt"},
}

// TestReadAgreesWithTshark compares every packet of the soft-RoCE captures with
// Wireshark's own dissector, an independent reading of the same bytes.
func TestReadAgreesWithTshark(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("tshark is missing")
		}
		t.Skip("tshark is missing")
	}
	files, _ := filepath.Glob("../../testdata/pcaps/*.pcap*")
	if len(files) < 10 {
		t.Fatalf("only %d captures", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			theirs := tsharkPackets(t, tshark, file)
			out, errs, _ := execute("read", "--json", file)
			if errs != "" {
				t.Log(errs)
			}
			ours := map[int]map[string]uint64{}
			for _, o := range objects(t, out) {
				ours[int(o["frame"].(float64))] = numbers(o)
			}
			compared := 0
			for frame, want := range theirs {
				have, printed := ours[frame]
				if !printed {
					t.Errorf("frame %d is not printed, tshark says %v", frame, want)
					continue
				}
				if !maps.Equal(have, want) {
					t.Errorf("frame %d: %v, tshark says %v", frame, have, want)
				}
				compared++
			}
			if compared == 0 || compared != len(ours) {
				t.Errorf("%d packets compared, %d printed", compared, len(ours))
			}
		})
	}
}

// tsharkPackets are the fields of every frame that tshark takes for RDMA.
func tsharkPackets(t *testing.T, tshark, file string) map[int]map[string]uint64 {
	t.Helper()
	args := []string{"-n", "-r", file, "-Y", "infiniband", "-T", "fields", "-E", "occurrence=f", "-e", "frame.number"}
	for _, f := range tsharkFields {
		args = append(args, "-e", f.theirs)
	}
	out, err := exec.Command(tshark, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	packets := map[int]map[string]uint64{}
	for line := range strings.Lines(string(out)) {
		words := strings.Split(strings.TrimRight(line, "\n"), "\t")
		frame, err := strconv.Atoi(words[0])
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]uint64{}
		for i, f := range tsharkFields {
			if words[i+1] == "" {
				continue
			}
			v, err := parseTshark(f.theirs, words[i+1])
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			values[f.ours] = v
		}
		packets[frame] = values
	}
	return packets
}

func parseTshark(field, text string) (uint64, error) {
	if field == "infiniband.immdt" { // bytes
		return strconv.ParseUint(strings.ReplaceAll(text, ":", ""), 16, 64)
	}
	v, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", field, err)
	}
	return v, nil
}

// numbers are the values that tshark is asked for too.
func numbers(o expect.Object) map[string]uint64 {
	values := map[string]uint64{}
	for _, f := range tsharkFields {
		header, field, nested := strings.Cut(f.ours, ".")
		v, ok := o[header]
		if nested {
			h, _ := v.(expect.Object)
			v, ok = h[field]
		}
		if ok {
			values[f.ours] = uint64(v.(float64))
		}
	}
	return values
}
