package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/veth"
)

// workshop is a directory with rdmagen in it.
type workshop struct {
	*testing.T
	dir string
}

func newWorkshop(t *testing.T) workshop {
	t.Helper()
	w := workshop{t, t.TempDir()}
	w.run("go", "build", "-o", w.in("rdmagen"), "../rdmagen")
	return w
}

func (w workshop) in(name string) string { return filepath.Join(w.dir, name) }

func (w workshop) run(name string, args ...string) {
	w.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		w.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// flow lets rdmagen generate 40 messages of 16 packets.
func (w workshop) flow(args ...string) {
	w.Helper()
	w.run(w.in("rdmagen"), append([]string{"flow", "--verb", "write", "--size", "16KiB", "--count", "40", "--start-psn", "1000"}, args...)...)
}

// stop ends commands as a service manager does, and wants an exit status.
func (w workshop) stop(status int, commands ...*onInterface) {
	w.Helper()
	time.Sleep(500 * time.Millisecond)
	for _, c := range commands {
		c.Process.Signal(syscall.SIGTERM)
		if code := c.end(w.T); code != status {
			w.Fatalf("%v: exit status %d, %s", c.Args, code, &c.stderr)
		}
	}
}

// What rdmagen sends on an interface is captured frame by frame, VLAN tags
// included, and loss finds there what was dropped.
func TestGeneratedOnInterface(t *testing.T) {
	veth.Enter(t)
	w := newWorkshop(t)
	w.flow("--vlan", "42", "--vlan", "7", "--drop", "1003:1", "--drop", "1010:1", "--drop", "1011:1", "--drop", "1011:2",
		"-o", "receiver="+w.in("sent.pcapng"))
	sent := framesOf(t, w.in("sent.pcapng"))
	if len(sent) < 640 {
		t.Fatalf("%d frames were generated", len(sent))
	}

	reading := startLive(t, "read", "-i", veth.B, "-w", w.in("captured.pcapng"))
	losing := startLive(t, "loss", "-i", veth.B, "--json")
	waitForSockets(t, losing.Process.Pid, 2)
	w.run(w.in("rdmagen"), "send", "-i", veth.A, "--pps", "20000", w.in("sent.pcapng"))
	w.stop(0, reading, losing)

	captured := framesOf(t, w.in("captured.pcapng"))
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
	r := openCapture(t, name)
	var f dissect.Frame
	err := r.Next(&f)
	for ; err == nil; err = r.Next(&f) {
		frames = append(frames, bytes.Clone(f.Data))
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	return frames
}

// check -i names the rule that an endpoint breaks.
func TestCheckInterface(t *testing.T) {
	veth.Enter(t)
	w := newWorkshop(t)
	w.flow("--drop", "1003:1", "-o", "receiver="+w.in("right.pcapng"))
	w.flow("--drop", "1003:1", "--fault", "second-nak", "-o", "receiver="+w.in("wrong.pcapng"))
	for _, c := range []struct {
		file   string
		status int
		want   string
	}{{"right", 0, "NO VIOLATION in "}, {"wrong", 3, "one-nak"}} {
		checking := startLive(t, "check", "-i", veth.B)
		w.run(w.in("rdmagen"), "send", "-i", veth.A, "--pps", "20000", w.in(c.file+".pcapng"))
		w.stop(c.status, checking)
		if !strings.Contains(checking.out.String(), c.want) {
			t.Errorf("%s:\n%s", c.file, &checking.out)
		}
	}
}

// compare -i finds the copies that one interface saw and another did not.
func TestCompareInterfaces(t *testing.T) {
	veth.Enter(t)
	const c, d = "rdma-c", "rdma-d"
	veth.IP(t, "link", "add", c, "type", "veth", "peer", "name", d)
	veth.IP(t, "link", "set", c, "up")
	veth.IP(t, "link", "set", d, "up")
	w := newWorkshop(t)
	w.flow("--drop", "1003:1", "--drop", "1011:1", "--drop", "1011:2", "-o", w.in("sender.pcapng"), "-o", "receiver="+w.in("receiver.pcapng"))

	comparing := startLive(t, "compare", "--json", "-i", veth.B, "-i", d)
	waitForSockets(t, comparing.Process.Pid, 2)
	senders := []*veth.Sender{veth.NewSender(t, veth.A), veth.NewSender(t, c)}
	rotation := []*capture.Reader{openCapture(t, w.in("sender.pcapng")), openCapture(t, w.in("receiver.pcapng"))}
	var next [2]dissect.Frame
	var ended [2]error
	for i := range next {
		ended[i] = rotation[i].Next(&next[i])
	}
	for ended[0] == nil || ended[1] == nil { // in the order of their times
		i := 0
		if ended[0] != nil || ended[1] == nil && next[1].Time < next[0].Time {
			i = 1
		}
		senders[i].Send(next[i].Data)
		ended[i] = rotation[i].Next(&next[i])
	}
	w.stop(0, comparing)

	var result struct {
		Streams []struct {
			Kind, Upstream string
			Vanished       []struct{ PSN, Copy int }
		}
	}
	if err := json.Unmarshal(comparing.out.Bytes(), &result); err != nil {
		t.Fatalf("%v: %s", err, &comparing.out)
	}
	want := []struct{ PSN, Copy int }{{1003, 1}, {1011, 1}, {1011, 2}}
	if len(result.Streams) != 1 || result.Streams[0].Upstream != veth.B || !slices.Equal(result.Streams[0].Vanished, want) {
		t.Errorf("%s", &comparing.out)
	}
}

func openCapture(t *testing.T, name string) *capture.Reader {
	t.Helper()
	r, err := capture.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
