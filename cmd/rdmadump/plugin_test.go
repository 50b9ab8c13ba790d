package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/internal/expect"
)

// pluginPath is the Wireshark plugin as it is committed.
const pluginPath = "../../lua/rdmadump.lua"

// tool is the path of a program that a test needs. Without it a developer's run
// skips the test, and CI fails.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(name + " is missing")
		}
		t.Skip(name + " is missing")
	}
	return path
}

// withPlugin runs tshark with the plugin alone, whatever the user has installed,
// and returns what it printed. It is not an error when a capture ends early.
func withPlugin(t *testing.T, file string, args ...string) (stdout, stderr string) {
	t.Helper()
	config := t.TempDir()
	command := exec.Command(tool(t, "tshark"), append([]string{"-n", "-X", "lua_script:" + pluginPath, "-r", file}, args...)...)
	command.Env = append(os.Environ(), "WIRESHARK_CONFIG_DIR="+config, "HOME="+config, "XDG_CONFIG_HOME="+config, "LC_ALL=C.UTF-8")
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	_ = command.Run()
	if strings.Contains(errs.String(), "Lua") {
		t.Fatalf("tshark: %s", errs.String())
	}
	return out.String(), errs.String()
}

// pluginCaptures are captures for tshark to open. RDMADUMP_CAPTURES names more,
// as patterns with a colon between them.
func pluginCaptures(t *testing.T) []string {
	t.Helper()
	patterns := []string{"../../testdata/pcaps/*.pcap*", "../../testdata/cases/*.pcap*"}
	if more := os.Getenv("RDMADUMP_CAPTURES"); more != "" {
		patterns = strings.Split(more, ":")
	}
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return files
}

// row is one frame's fields.
type row map[string][]string

// rows are the frames that a display filter lets through. Fields that occur
// several times are apart.
// opened is false where tshark could not make sense of the file.
func rows(t *testing.T, file, filter string, fields []string, args ...string) (frames map[int]row, opened bool) {
	t.Helper()
	args = append(args, "-Y", filter, "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=;", "-e", "frame.number", "-e", "_ws.expert.message")
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	out, errs := withPlugin(t, file, args...)
	for _, fault := range [...]string{"network type", "isn't a capture file", "doesn't support", "appears to be damaged"} {
		if out == "" && strings.Contains(errs, fault) {
			return nil, false
		}
	}
	found := map[int]row{}
	for line := range strings.Lines(out) {
		words := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.Contains(words[1], "Lua Error") {
			t.Errorf("frame %s: %s", words[0], words[1])
		}
		frame, err := strconv.Atoi(words[0])
		if err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		r := row{}
		for i, f := range fields {
			if w := words[i+2]; w != "" {
				r[f] = strings.Split(w, ";")
			}
		}
		found[frame] = r
	}
	return found, true
}

// one is the value of a field that occurs once.
func (r row) one(field string) string { return strings.Join(r[field], ";") }

// transportFields are the plugin's names of all fields that read --json prints,
// and where they are in the object.
func transportFields() (fields []string, place map[string][2]string) {
	place = map[string][2]string{}
	for h := codec.HeaderBTH; h < codec.HeaderCNP; h++ {
		for _, f := range h.Fields() {
			if f.Reserved() {
				continue
			}
			name := "rdma." + h.Key() + "." + f.Key
			if h == codec.HeaderImmDt {
				name = "rdma.immdt"
			}
			fields = append(fields, name)
			place[name] = [2]string{h.Key(), f.Key}
		}
	}
	return fields, place
}

var analysisFields = []string{"rdma.analysis.gap", "rdma.analysis.retransmission_cause", "rdma.analysis.out_of_order", "rdma.analysis.nak_psn"}

// TestPlugin compares every field of every frame with read --json, and what the
// analysis says with loss --json. Both come from a second pass over the capture.
func TestPlugin(t *testing.T) {
	tool(t, "tshark")
	fields, place := transportFields()
	asked := append([]string{"rdma.opcode_name", "rdma.carrier", "rdma.payload_len", "rdma.icrc.status", "rdma.error", "rdma.tcaeth.gap",
		"rdma.tcaeth.length", "rdma.tcaeth.error"}, fields...)
	asked = append(asked, analysisFields...)
	compared, unopened := atomic.Int64{}, atomic.Int64{}
	t.Run("captures", func(t *testing.T) {
		for _, file := range pluginCaptures(t) {
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				theirs, opened := rows(t, file, "rdma", asked, "-2", "-o", "rdma.icrc:TRUE")
				if !opened {
					unopened.Add(1)
					t.Skip("tshark cannot open it")
				}
				ours := packets(t, file)
				for frame := range theirs {
					if ours[frame] == nil {
						t.Errorf("frame %d is in Wireshark's tree and not printed by read", frame)
					}
				}
				for frame, o := range ours {
					if r, ok := theirs[frame]; ok {
						compareFrame(t, frame, o, r, fields, place)
						compared.Add(1)
					} else {
						t.Errorf("frame %d is not in Wireshark's tree", frame)
					}
				}
				compareLoss(t, file, theirs)
			})
		}
	})
	if compared.Load() < 5000 || unopened.Load() > 5 {
		t.Errorf("%d frames compared, %d captures not opened", compared.Load(), unopened.Load())
	}
}

// packets are what read prints, by frame.
func packets(t *testing.T, file string) map[int]expect.Object {
	t.Helper()
	out, _, _ := execute("read", "--json", file)
	found := map[int]expect.Object{}
	for _, o := range objects(t, out) {
		found[int(o["frame"].(float64))] = o
	}
	return found
}

// TestPluginInOnePass looks at captures as tshark does by default: each frame is
// printed before the next is read, and no ICRC is computed.
func TestPluginInOnePass(t *testing.T) {
	for _, name := range []string{"cases/04-gap-nak-gobackn.pcap", "cases/34-tunnels.pcap", "cases/40-port-4791-not-roce.pcap",
		"cases/44-opcodes-reserved.pcap", "cases/60-opcode-matrix.pcap", "cases/130-irn-write-two-losses.pcap", "pcaps/rxe-write_single_drop-sender.pcap.gz"} {
		file := "../../testdata/" + name
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			fields := append([]string{"rdma.bth.psn", "rdma.bth.destqp", "rdma.icrc.status"}, analysisFields...)
			theirs, _ := rows(t, file, "rdma", fields)
			ours := packets(t, file)
			if len(theirs) != len(ours) {
				t.Errorf("%d frames in Wireshark's tree, %d printed by read", len(theirs), len(ours))
			}
			for frame, o := range ours {
				r := theirs[frame]
				if bth, ok := o["bth"].(expect.Object); !ok || valueOf(r.one("rdma.bth.psn")) != jsonNumber(bth["psn"]) {
					t.Errorf("frame %d: PSN %s in Wireshark, %v in read", frame, r.one("rdma.bth.psn"), bth["psn"])
				}
			}
			compareLoss(t, file, theirs)
		})
	}
}

func compareFrame(t *testing.T, frame int, o expect.Object, r row, fields []string, place map[string][2]string) {
	t.Helper()
	differ := func(field string, theirs, ours any) {
		t.Errorf("frame %d: %s is %v in Wireshark, %v in read", frame, field, theirs, ours)
	}
	text := func(field, key string) {
		ours := ""
		switch v := o[key].(type) {
		case string:
			ours = v
		case float64:
			ours = strconv.FormatFloat(v, 'f', -1, 64)
		}
		if theirs := r.one(field); theirs != ours && (field != "rdma.carrier" || theirs != "") {
			differ(field, theirs, ours)
		}
	}
	text("rdma.opcode_name", "opcode_name")
	text("rdma.carrier", "carrier")
	text("rdma.payload_len", "payload_len")
	text("rdma.error", "error")
	text("rdma.icrc.status", "icrc")
	for _, f := range fields {
		at := place[f]
		v, ok := o[at[0]]
		if h, nested := v.(expect.Object); nested {
			v, ok = h[at[1]]
		}
		switch {
		case !ok && r.one(f) == "":
		case !ok && (at[1] == "retx" || at[1] == "synchronise") && !truth(r.one(f)): // left out where not set
		case ok && valueOf(r.one(f)) == jsonNumber(v) && r.one(f) != "":
		default:
			differ(f, r[f], v)
		}
	}
	if report, ok := o["tcaeth"].(expect.Object); ok {
		var gaps []string
		list, _ := report["gaps"].([]any)
		for _, g := range list {
			gaps = append(gaps, g.(string))
		}
		if !slices.Equal(gaps, r["rdma.tcaeth.gap"]) {
			differ("rdma.tcaeth.gap", r["rdma.tcaeth.gap"], gaps)
		}
		fault, _ := report["error"].(string)
		if r.one("rdma.tcaeth.error") != fault {
			differ("rdma.tcaeth.error", r.one("rdma.tcaeth.error"), fault)
		}
		if r.one("rdma.tcaeth.length") != fmt.Sprint(report["length"]) {
			differ("rdma.tcaeth.length", r.one("rdma.tcaeth.length"), report["length"])
		}
	}
}

func truth(s string) bool { return s == "1" || s == "True" }

// valueOf reads a value as tshark prints it; flags are 0 and 1, or words in later
// versions.
func valueOf(s string) uint64 {
	switch s {
	case "True":
		return 1
	case "False":
		return 0
	}
	v, _ := strconv.ParseUint(s, 0, 64)
	return v
}

func jsonNumber(v any) uint64 {
	switch v := v.(type) {
	case float64:
		return uint64(v)
	case string:
		return valueOf(v)
	}
	return 0
}

// streamMarks are what was said of one stream: missing PSNs by the frame that
// told, frames by cause, frames out of order.
type streamMarks struct {
	gaps   map[string]bool // "frame psn"
	resent map[string]int
	late   int
	naks   map[int]bool // PSNs that sequence errors named
}

// compareLoss compares gaps, resends and late packets with loss --json.
func compareLoss(t *testing.T, file string, frames map[int]row) {
	t.Helper()
	out, _, _ := execute("loss", "--json", "--gaps", "all", "--max-gaps", "100000", file)
	var loss struct {
		Connections []struct {
			Transport string
			Streams   []struct {
				Kind, DestQP, Src, Dst string
				Packets, Reordered     int
				Gaps                   []struct {
					First, Last, Count int
					Evidence, Closed   string
					OpenedFrame        int `json:"opened_frame"`
				}
				Feedback struct {
					NAKPSNs []int `json:"nak_psns"`
				}
				Retransmitted struct {
					ByCause map[string]int `json:"by_cause"`
				}
			}
		}
	}
	if out == "" {
		return
	}
	if err := json.Unmarshal([]byte(out), &loss); err != nil {
		t.Fatal(err)
	}
	ours := streamMarks{gaps: map[string]bool{}, resent: map[string]int{}, naks: map[int]bool{}}
	for _, c := range loss.Connections {
		for _, s := range c.Streams {
			ours.late += s.Reordered
			for _, psn := range s.Feedback.NAKPSNs {
				ours.naks[psn] = true
			}
			if s.Packets == 0 {
				continue // known from feedback alone, which the plugin does not follow
			}
			for cause, n := range s.Retransmitted.ByCause {
				ours.resent[cause] += n
			}
			for _, g := range s.Gaps {
				if g.Evidence == "timeout" || g.Closed == "reordered" {
					continue
				}
				for k, psn := 0, g.First; k < 100000; k++ {
					ours.gaps[fmt.Sprint(g.OpenedFrame, " ", psn)] = true
					if psn == g.Last {
						break
					}
					psn = (psn + 1) & 0xffffff
				}
			}
		}
	}
	theirs := streamMarks{gaps: map[string]bool{}, resent: map[string]int{}, naks: map[int]bool{}}
	for frame, r := range frames {
		for _, g := range r["rdma.analysis.gap"] {
			first, last, several := strings.Cut(g, "-")
			if !several {
				last = first
			}
			a, _ := strconv.Atoi(first)
			b, _ := strconv.Atoi(last)
			for ; ; a = (a + 1) & 0xffffff {
				theirs.gaps[fmt.Sprint(frame, " ", a)] = true
				if a == b {
					break
				}
			}
		}
		for _, cause := range r["rdma.analysis.retransmission_cause"] {
			theirs.resent[cause]++
		}
		for _, psn := range r["rdma.analysis.nak_psn"] {
			theirs.naks[int(valueOf(psn))] = true
		}
		theirs.late += len(r["rdma.analysis.out_of_order"])
	}
	for g := range ours.gaps {
		if !theirs.gaps[g] {
			t.Errorf("Wireshark has no gap: frame and PSN %s", g)
		}
	}
	for g := range theirs.gaps {
		if !ours.gaps[g] {
			t.Errorf("Wireshark has a gap that loss has not: frame and PSN %s", g)
		}
	}
	if a, b := fmt.Sprint(theirs.resent), fmt.Sprint(ours.resent); a != b {
		t.Errorf("retransmissions are %s in Wireshark, %s in loss", a, b)
	}
	if !maps.Equal(theirs.naks, ours.naks) {
		t.Errorf("NAKs name %v in Wireshark, %v in loss", theirs.naks, ours.naks)
	}
	if theirs.late != ours.late {
		t.Errorf("%d packets are out of order in Wireshark, %d in loss", theirs.late, ours.late)
	}
}

// TestPluginHostile feeds frames with flipped bits and cut ends to the plugin:
// no error in Lua, and an end in bearable time.
func TestPluginHostile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	b := []byte{0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0}
	frames := 0
	write := func(frame []byte, wire int) {
		frames++
		b = binary.LittleEndian.AppendUint32(b, 1)
		b = binary.LittleEndian.AppendUint32(b, uint32(frames))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(frame)))
		b = binary.LittleEndian.AppendUint32(b, uint32(wire))
		b = append(b, frame...)
	}
	for _, name := range []string{"04-gap-nak-gobackn", "12-read-psn-space", "17-qp-reuse-with-cm", "34-tunnels", "55-rocev1", "60-opcode-matrix",
		"117-tc-segmentnum-invalid", "122-tc-four-gaps", "130-irn-write-two-losses", "133-irn-read-response-loss", "142-mp-loss-bitmap-overflow-nack"} {
		eachFrame(t, "../../testdata/cases/"+name+".pcap", func(frame []byte) {
			write(frame, len(frame))
			for range 4 {
				mutant := slices.Clone(frame)
				for range 1 + random.IntN(4) {
					mutant[random.IntN(min(len(mutant), 120))] ^= 1 << random.IntN(8)
				}
				end := len(mutant)
				if random.IntN(3) == 0 {
					end = random.IntN(len(mutant))
				}
				write(mutant[:end], len(mutant))
			}
		})
	}
	// PSNs all over the place: every jump a gap, an epoch or a stray.
	eachFrame(t, "../../testdata/cases/04-gap-nak-gobackn.pcap", func(frame []byte) {
		for range 100 {
			mutant := slices.Clone(frame)
			step := []uint32{2, 900, 70000, 1 << 23}[random.IntN(4)]
			psn := uint32(mutant[52])<<8 | uint32(mutant[53]) + random.Uint32N(step)
			mutant[51], mutant[52], mutant[53] = byte(psn>>16), byte(psn>>8), byte(psn)
			write(mutant, len(mutant))
		}
	})
	file := filepath.Join(t.TempDir(), "hostile.pcap")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, full := range []string{"FALSE", "TRUE"} {
		found, _ := rows(t, file, "frame", analysisFields, "-2", "-o", "rdma.full:"+full, "-o", "rdma.icrc:"+full)
		if len(found) != frames {
			t.Errorf("%d of %d frames came through", len(found), frames)
		}
	}
}

// eachFrame visits the frames of a little-endian pcap file.
func eachFrame(t *testing.T, file string, visit func(frame []byte)) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for b = b[24:]; len(b) >= 16; {
		n := int(binary.LittleEndian.Uint32(b[8:]))
		visit(b[16 : 16+n])
		b = b[16+n:]
	}
}

// TestPluginInFull puts the plugin in place of the built-in dissector.
func TestPluginInFull(t *testing.T) {
	for _, c := range []struct{ file, protocol string }{
		{"04-gap-nak-gobackn.pcap", "RoCEv2"}, {"55-rocev1.pcap", "RoCEv1"}, {"56-native-ib-linktype-247.pcap", "InfiniBand"},
	} {
		file := "../../testdata/cases/" + c.file
		ours := packets(t, file)
		if c.protocol == "InfiniBand" {
			file = inERF(t, file) // tshark does not know the link type itself
		}
		fields := []string{"rdma.bth.psn", "infiniband", "_ws.col.Protocol"}
		theirs, _ := rows(t, file, "rdma", fields, "-o", "rdma.full:TRUE")
		if len(theirs) != len(ours) || len(ours) == 0 {
			t.Errorf("%s: %d frames, %d printed by read", c.file, len(theirs), len(ours))
		}
		for frame, r := range theirs {
			bth, _ := ours[frame]["bth"].(expect.Object)
			if valueOf(r.one("rdma.bth.psn")) != jsonNumber(bth["psn"]) || len(r["rdma.bth.psn"]) != 1 {
				t.Errorf("%s: frame %d: PSN %v", c.file, frame, r["rdma.bth.psn"])
			}
			if r.one("infiniband") != "" || r.one("_ws.col.Protocol") != c.protocol {
				t.Errorf("%s: frame %d: the built-in dissector is there: %q, protocol %q", c.file, frame, r.one("infiniband"), r.one("_ws.col.Protocol"))
			}
		}
	}
}

// inERF writes the frames of a capture as ERF records of InfiniBand.
func inERF(t *testing.T, file string) string {
	t.Helper()
	b := []byte{0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 197, 0, 0, 0}
	eachFrame(t, file, func(frame []byte) {
		n := 16 + len(frame)
		b = binary.LittleEndian.AppendUint64(b, 1)
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
		b = binary.LittleEndian.AppendUint64(b, 1<<32)
		b = append(b, 21, 4) // InfiniBand, records of different lengths
		b = binary.BigEndian.AppendUint16(b, uint16(n))
		b = append(b, 0, 0)
		b = binary.BigEndian.AppendUint16(b, uint16(len(frame)))
		b = append(b, frame...)
	})
	name := filepath.Join(t.TempDir(), "erf.pcap")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestPluginSummary prints the summary when the capture has been read.
func TestPluginSummary(t *testing.T) {
	out, _ := withPlugin(t, "../../testdata/cases/04-gap-nak-gobackn.pcap", "-q", "-o", "rdma.summary:TRUE")
	if !strings.Contains(out, "0x000111") || strings.Count(out, "RDMA sequence analysis") != 1 {
		t.Errorf("%q", out)
	}
}
