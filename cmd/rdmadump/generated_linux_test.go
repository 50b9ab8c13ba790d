package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/veth"
)

// What rdmagen sends on an interface is captured frame by frame, VLAN tags
// included, and loss finds there what was dropped.
func TestGeneratedOnInterface(t *testing.T) {
	veth.Enter(t)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	run("go", "build", "-o", in("rdmagen"), "../rdmagen")
	run(in("rdmagen"), "flow", "--vlan", "42", "--vlan", "7", "--verb", "write", "--size", "16KiB", "--count", "40", "--start-psn", "1000",
		"--drop", "1003:1", "--drop", "1010:1", "--drop", "1011:1", "--drop", "1011:2", "-o", "receiver="+in("sent.pcapng"))

	reading := startLive(t, "read", "-i", veth.B, "-w", in("captured.pcapng"))
	losing := startLive(t, "loss", "-i", veth.B, "--json")
	waitForSockets(t, losing.Process.Pid, 2)
	run(in("rdmagen"), "send", "-i", veth.A, "--pps", "20000", in("sent.pcapng"))
	sent := framesOf(t, in("sent.pcapng"))
	if len(sent) < 640 { // 40 messages of 16 packets
		t.Fatalf("%d frames were generated", len(sent))
	}
	time.Sleep(500 * time.Millisecond)
	for _, c := range []*onInterface{reading, losing} {
		c.Process.Signal(syscall.SIGTERM)
		if code := c.end(t); code != 0 {
			t.Fatalf("%v: exit status %d, %s", c.Args, code, &c.stderr)
		}
	}

	captured := framesOf(t, in("captured.pcapng"))
	if !slices.EqualFunc(captured, sent, bytes.Equal) {
		t.Errorf("%d frames were captured of %d that were sent, or they are not the same", len(captured), len(sent))
	}
	tags := []byte{0x88, 0xa8, 0, 42, 0x81, 0, 0, 7} // IEEE 802.1ad: a service tag around a customer tag
	for i, b := range captured {
		if !bytes.Equal(b[12:20], tags) {
			t.Fatalf("frame %d has %x for its VLAN tags", i+1, b[12:20])
		}
	}

	report := losing.out.Bytes()
	report = report[bytes.LastIndexByte(bytes.TrimSpace(report), '\n')+1:]
	var result struct {
		Captures    []struct{ Frames int }
		Connections []struct {
			Streams []struct {
				Lost       int
				LostRanges []string `json:"lost_ranges"`
			}
		}
	}
	if err := json.Unmarshal(report, &result); err != nil {
		t.Fatalf("%v: %s", err, report)
	}
	if len(result.Connections) != 1 || result.Captures[0].Frames != len(sent) {
		t.Fatalf("%+v", result)
	}
	lost := result.Connections[0].Streams[0]
	if want := []string{"1003", "1010-1011"}; lost.Lost != 4 || !slices.Equal(lost.LostRanges, want) {
		t.Errorf("%d lost, %v; want 4, %v", lost.Lost, lost.LostRanges, want)
	}
}

// framesOf is the bytes of each frame of a capture.
func framesOf(t *testing.T, name string) (frames [][]byte) {
	t.Helper()
	r, err := capture.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var f dissect.Frame
	for err = r.Next(&f); err == nil; err = r.Next(&f) {
		frames = append(frames, bytes.Clone(f.Data))
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	return frames
}
