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

// tsharkField is what tshark is asked for, and the key that must say the same.
type tsharkField struct{ theirs, ours string }

// tsharkFields are what tshark is asked for, and the keys that must say the
// same. It prints flags and hexadecimal fields in its own way, which
// strconv.ParseUint reads.
var tsharkFields = []tsharkField{
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

// managementFields are the same of management datagrams: all that tshark names, but
// for the flow labels and packet rates of a REQ. Of those 20 bits at byte 88 and 6 at
// bit 2 of byte 91 (IBA table 99, and Linux' cm_msgs.h) tshark 4.0 takes 12 and, of
// the byte before, 6.
var managementFields = []tsharkField{
	{"infiniband.cm.req", "req.localcommid"},
	{"infiniband.cm.rep", "rep.localcommid"},
	{"infiniband.cm.req.remoteqpneecn", "dreq.remoteqpneecn"},
	{"infiniband.cm.drsp.localcommid", "drep.localcommid"},
	{"infiniband.cm.drsp.remotecommid", "drep.remotecommid"},
}

func init() {
	for header, keys := range map[string]string{
		"mad":          "baseversion mgmtclass classversion method status classspecific transactionid attributeid attributemodifier",
		"cm.req":       "serviceid localcaguid localqkey localqpn responderres localeecn initdepth remoteeecn remoteresptout transpsvctype e2eflowctrl startpsn localresptout retrcount pkey pppmtu rdcexist rnrretrcount maxcmretr srq ext_transport prim_locallid prim_remotelid prim_tfcclass prim_hoplim prim_sl prim_subnetlocal prim_localacktout alt_locallid alt_remotelid alt_tfcclass alt_hoplim alt_sl alt_subnetlocal alt_localacktout",
		"cm.rep":       "remotecommid localqkey localqpn localeecn startpsn respres initdepth tgtackdelay failoveracc e2eflowctrl rnrretrcount srq localcaguid",
		"cm.rtu":       "localcommid remotecommid",
		"cm.dreq":      "localcommid remotecommid",
		"cm.rej":       "localcommid remotecommid msgrej rejinfolen reason",
		"cm.req.ip_cm": "majv minv ipv sport",
	} {
		name := header[strings.LastIndexByte(header, '.')+1:]
		for key := range strings.FieldsSeq(keys) {
			managementFields = append(managementFields, tsharkField{"infiniband." + header + "." + key, name + "." + key})
		}
	}
}

// TestManagementAgreesWithTshark does the same of management datagrams.
func TestManagementAgreesWithTshark(t *testing.T) {
	tshark := findTshark(t)
	files, _ := filepath.Glob("../../testdata/pcaps/rxe-cm_*.pcap.gz")
	seen := map[string]bool{}
	for _, file := range append(files, "../../testdata/cases/17-qp-reuse-with-cm.pcap", "../../testdata/cases/59-ud-deth-immdt.pcap", "testdata/management.pcap") {
		for _, form := range []string{"--json", "--json=full"} {
			out, _, _ := execute("read", form, file)
			ours := map[int]map[string]uint64{}
			for _, o := range objects(t, out) {
				if v := numbers(o, managementFields); len(v) > 0 {
					ours[int(o["frame"].(float64))] = v
					for key := range v {
						seen[key] = true
					}
				}
			}
			theirs := tsharkPackets(t, tshark, file, "infiniband.mad", managementFields)
			if len(theirs) == 0 {
				t.Fatalf("tshark finds nothing in %s", file)
			}
			for frame, want := range theirs {
				for _, f := range managementFields {
					have, printed := ours[frame][f.ours]
					if w, told := want[f.ours]; have != w || printed != told {
						t.Errorf("%s %s frame %d: %s %d (printed: %v), tshark says %d (%v)", form, filepath.Base(file), frame, f.ours, have, printed, w, told)
					}
				}
			}
		}
	}
	for _, f := range managementFields {
		if !seen[f.ours] {
			t.Errorf("no packet has %s", f.ours)
		}
	}
}

func findTshark(t *testing.T) string {
	t.Helper()
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("tshark is missing")
		}
		t.Skip("tshark is missing")
	}
	return tshark
}

// TestReadAgreesWithTshark compares every packet of the soft-RoCE captures with
// Wireshark's own dissector, an independent reading of the same bytes.
func TestReadAgreesWithTshark(t *testing.T) {
	tshark := findTshark(t)
	files, _ := filepath.Glob("../../testdata/pcaps/*.pcap*")
	if len(files) < 10 {
		t.Fatalf("only %d captures", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			theirs := tsharkPackets(t, tshark, file, "infiniband", tsharkFields)
			out, errs, _ := execute("read", "--json", file)
			if errs != "" {
				t.Log(errs)
			}
			ours := map[int]map[string]uint64{}
			for _, o := range objects(t, out) {
				ours[int(o["frame"].(float64))] = numbers(o, tsharkFields)
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
func tsharkPackets(t *testing.T, tshark, file, filter string, fields []tsharkField) map[int]map[string]uint64 {
	t.Helper()
	args := []string{"-n", "-r", file, "-Y", filter, "-T", "fields", "-E", "occurrence=f", "-e", "frame.number"}
	for _, f := range fields {
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
		for i, f := range fields {
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
func numbers(o expect.Object, fields []tsharkField) map[string]uint64 {
	values := map[string]uint64{}
	for _, f := range fields {
		header, field, nested := strings.Cut(f.ours, ".")
		v := o[header]
		if nested {
			h, _ := v.(expect.Object)
			v = h[field]
		}
		switch v := v.(type) {
		case float64:
			values[f.ours] = uint64(v)
		case string: // 64 bits
			values[f.ours], _ = strconv.ParseUint(v, 0, 64)
		}
	}
	return values
}
