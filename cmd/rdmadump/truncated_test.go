package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recapture copies a little-endian pcap of testdata with each frame changed.
func recapture(t *testing.T, name string, change func(data []byte, wire uint32) ([]byte, uint32)) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../testdata/cases", name))
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	out := append([]byte{}, b[:24]...)
	for b = b[24:]; len(b) > 0; {
		n, wire := le.Uint32(b[8:]), le.Uint32(b[12:])
		data, wire := change(append([]byte{}, b[16:16+n]...), wire)
		out = append(out, b[:8]...)
		out = le.AppendUint32(out, uint32(len(data)))
		out = le.AppendUint32(out, wire)
		out = append(out, data...)
		b = b[16+n:]
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// cutAt keeps n bytes of each frame, as a capture with that snaplen has them.
func cutAt(n int) func([]byte, uint32) ([]byte, uint32) {
	return func(data []byte, wire uint32) ([]byte, uint32) { return data[:min(n, len(data))], wire }
}

// A packet that the capture cut within its BTH is RDMA all the same: it is
// printed with what is wrong, and counted.
func TestCutWithinBTH(t *testing.T) {
	for n := 42; n < 54; n++ {
		path := recapture(t, "04-gap-nak-gobackn.pcap", cutAt(n))
		fault := fmt.Sprintf("BTH: truncated: %d of 12 bytes", n-42)
		for _, flag := range []string{"--json", "--json=full", "-v", "--time=relative"} {
			out, errs, exit := execute("read", flag, path)
			if exit != 0 || errs != "" || strings.Count(out, fault) < 14 {
				t.Fatalf("%d bytes: read %s: exit status %d, %q\n%s", n, flag, exit, errs, out)
			}
		}
		out, _, _ := execute("loss", "--json", path)
		var r struct {
			Captures []map[string]any
			Totals   struct{ Packets, Connections int }
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		c := r.Captures[0]
		if c["rdma_frames"] != 14.0 || c["cut_frames"] != 14.0 || r.Totals.Packets != 14 || r.Totals.Connections != 0 {
			t.Errorf("%d bytes: %v, %v", n, c, r.Totals)
		}
		if out, _, _ := execute("loss", path); !strings.Contains(out, "14 cut short") || !strings.Contains(out, "NO CONNECTION") {
			t.Errorf("%d bytes:\n%s", n, out)
		}
	}
}

// What is cut before it leads anywhere is said to be cut.
func TestCutBeforeBTH(t *testing.T) {
	path := recapture(t, "04-gap-nak-gobackn.pcap", cutAt(38))
	_, errs, exit := execute("read", path)
	if want := "no RDMA packets in 14 frames (14 cut short)\n"; exit != 0 || !strings.HasSuffix(errs, want) {
		t.Errorf("exit status %d, %q", exit, errs)
	}
	path = recapture(t, "04-gap-nak-gobackn.pcap", func(data []byte, wire uint32) ([]byte, uint32) {
		data[20] = 0x20 // more fragments
		return data, wire
	})
	if _, errs, _ := execute("read", path); !strings.HasSuffix(errs, "in 14 frames (14 IP fragments)\n") {
		t.Error(errs)
	}
}

// Nothing that was captured of the BTH may speak against it.
func TestCutNotRDMA(t *testing.T) {
	path := recapture(t, "40-port-4791-not-roce.pcap", cutAt(53))
	whole, _, _ := execute("read", "--json", "../../testdata/cases/40-port-4791-not-roce.pcap")
	cut, _, _ := execute("read", "--json", path)
	for _, line := range objects(t, cut) {
		if !strings.Contains(whole, fmt.Sprintf(`{"frame":%v,`, line["frame"])) {
			t.Errorf("printed: %v", line)
		}
	}
}

// A frame that was captured whole, and yet holds less than its IP length claims,
// was not cut by the capture.
func TestLyingLength(t *testing.T) {
	for _, n := range []int{54, 66, 200} {
		short := func(data []byte, _ uint32) ([]byte, uint32) {
			data = data[:min(n, len(data))]
			return data, uint32(len(data))
		}
		path := recapture(t, "01-clean-send.pcap", short)
		out, _, exit := execute("read", path)
		want := fmt.Sprintf("frame ends at %d of 272 B", n-42)
		if exit != 0 || strings.Count(out, want) == 0 || strings.Contains(out, "cut at") {
			t.Errorf("%d bytes: want %q in\n%s", n, want, out)
		}
		out, _, _ = execute("loss", "--json", path)
		if !strings.Contains(out, `"cut_frames":0,`) {
			t.Errorf("%d bytes: %s", n, out)
		}
		if out, _, _ := execute("loss", path); strings.Contains(out, "cut short,") {
			t.Errorf("%d bytes:\n%s", n, out)
		}
		out, _, _ = execute("read", recapture(t, "01-clean-send.pcap", cutAt(n)))
		if want := fmt.Sprintf("cut at %d of 272 B", n-42); !strings.Contains(out, want) {
			t.Errorf("%d bytes: want %q in\n%s", n, want, out)
		}
	}
}

// A pause frame holds no packet, however little of it was captured.
func TestCutPause(t *testing.T) {
	pause := []byte{0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x88, 0x08, 0, 1, 0, 8}
	for n := 12; n <= len(pause); n++ {
		path := recapture(t, "04-gap-nak-gobackn.pcap", func([]byte, uint32) ([]byte, uint32) { return pause[:n], 60 })
		for _, flag := range []string{"--json", "--json=full", "-v", "-x"} {
			if out, errs, _ := execute("read", flag, path); out != "" || !strings.Contains(errs, "no RDMA packets") {
				t.Errorf("%d bytes: read %s: %q, %q", n, flag, out, errs)
			}
		}
	}
}
