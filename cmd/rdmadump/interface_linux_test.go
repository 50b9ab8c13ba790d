package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/veth"
)

// onInterface is a running rdmadump that captures.
type onInterface struct {
	*exec.Cmd
	out    bytes.Buffer
	stderr bytes.Buffer
}

func startLive(t *testing.T, args ...string) *onInterface {
	t.Helper()
	c := &onInterface{Cmd: exec.Command("rdmadump", args...)}
	c.Stdout, c.Stderr = &c.out, &c.stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	waitForSockets(t, c.Process.Pid, 1)
	return c
}

// waitForSockets waits until n packet sockets are bound in the network namespace
// of a process.
func waitForSockets(t *testing.T, pid, n int) {
	t.Helper()
	for range 1000 {
		// A line a socket: sk, references, type, protocol, interface, running.
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/packet", pid))
		if err != nil {
			t.Fatal(err)
		}
		bound := 0
		for _, line := range strings.Split(string(b), "\n")[1:] {
			if f := strings.Fields(line); len(f) > 5 && f[3] == "0003" && f[5] == "1" {
				bound++
			}
		}
		if bound >= n {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%d packet sockets are not bound", n)
}

// end waits for the command and returns its exit status.
func (c *onInterface) end(t *testing.T) int {
	t.Helper()
	timer := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
	defer timer.Stop()
	_ = c.Wait()
	return c.ProcessState.ExitCode()
}

// sendCapture sends the frames of a capture into the pair and returns how many.
func sendCapture(t *testing.T, name string) int {
	t.Helper()
	a := veth.NewSender(t, veth.A)
	r, err := capture.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	var f dissect.Frame
	for err = r.Next(&f); err == nil; err = r.Next(&f) {
		a.Send(f.Data)
		n++
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	return n
}

const gapCase = "../../testdata/cases/04-gap-nak-gobackn.pcap"

// loss -i finds what loss finds in the file of the same packets, tells of it
// meanwhile, and ends well at a signal.
func TestLossInterface(t *testing.T) {
	veth.Enter(t)
	c := startLive(t, "loss", "-i", veth.B, "--json", "--every", "100ms")
	sendCapture(t, gapCase)
	time.Sleep(500 * time.Millisecond)
	c.Process.Signal(syscall.SIGTERM)
	if code := c.end(t); code != 0 || c.stderr.Len() > 0 {
		t.Fatalf("exit status %d, %s", code, &c.stderr)
	}
	events := map[string]int{}
	var last struct {
		Event    string
		Captures []struct{ Format string }
		Totals   dissect.Totals
	}
	for lines := bufio.NewScanner(&c.out); lines.Scan(); {
		last.Event = ""
		if err := json.Unmarshal(lines.Bytes(), &last); err != nil {
			t.Fatal(err)
		}
		events[last.Event]++
	}
	if last.Event != "" || last.Captures[0].Format != "live" || last.Totals.Lost != 2 || last.Totals.Packets != 14 {
		t.Errorf("the last line is %+v", last)
	}
	if events["gap-opened"] != 1 || events["gap-closed"] != 1 || events["nak"] != 1 || events["summary"] < 2 {
		t.Errorf("events: %v", events)
	}
}

// An interface without RDMA is told of by every command, with a hint why: silence
// would look like a network without fault.
func TestSilentInterface(t *testing.T) {
	veth.Enter(t)
	for _, command := range []string{"read", "loss", "loss --json", "check", "check --json", "top --once", "compare -i rdma-a", "serve --listen 127.0.0.1:0"} {
		c := startLive(t, append(strings.Fields(command), "-i", veth.B)...)
		time.Sleep(200 * time.Millisecond) // it has to have heard nothing, and to catch the signal
		c.Process.Signal(syscall.SIGTERM)
		if code := c.end(t); code != 0 || !strings.Contains(c.stderr.String(), "rdmadump: rdma-b: no RDMA packets in 0 frames\n") ||
			!strings.Contains(c.stderr.String(), "rdmadump: hint: what a network card does by itself") {
			t.Errorf("%s: exit status %d, %s", command, code, &c.stderr)
		}
		if command == "check" && c.out.String() != "NOTHING TO CHECK in 0 packets of 0 connections\n" {
			t.Errorf("%s: %s", command, &c.out)
		}
	}
}

// RDMA that was not chosen is RDMA all the same: no hint leads astray.
func TestSilentSelection(t *testing.T) {
	veth.Enter(t)
	for _, command := range []string{"read", "loss", "check", "top --once", "compare -i rdma-a"} {
		c := startLive(t, append(strings.Fields(command), "-i", veth.B, "--host", "198.51.100.1")...)
		sendCapture(t, gapCase)
		time.Sleep(500 * time.Millisecond)
		c.Process.Signal(syscall.SIGTERM)
		if code := c.end(t); code != 0 || strings.Contains(c.stderr.String(), "hint") {
			t.Errorf("%s: exit status %d, %s", command, code, &c.stderr)
		}
	}
}

// A capture on a terminal says that it has begun.
func TestAnnounced(t *testing.T) {
	veth.Enter(t)
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	c := exec.Command("rdmadump", "loss", "-i", veth.B, "--duration", "100ms")
	c.Stderr = slave
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(master).ReadString('\n')
	if want := "rdmadump: capturing on rdma-b (RoCE, for 100ms), Ctrl-C ends it\r\n"; line != want {
		t.Errorf("%q, %v, want %q", line, err, want)
	}
}

// A kill in the middle leaves what was written by then.
func TestWriteInterfaceKilled(t *testing.T) {
	veth.Enter(t)
	for _, suffix := range []string{"", ".gz", ".zst"} {
		name := filepath.Join(t.TempDir(), "x.pcapng"+suffix)
		c := startLive(t, "read", "-i", veth.B, "-w", name)
		sent := sendCapture(t, gapCase)
		time.Sleep(1500 * time.Millisecond) // it flushes once a second
		c.Process.Kill()
		c.end(t)
		r, err := capture.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var f dissect.Frame
		for err = r.Next(&f); err == nil; err = r.Next(&f) {
		}
		if got := r.Info().Frames; got != sent {
			t.Errorf("%s: %d frames of %d, then %v", suffix, got, sent, err)
		}
		if suffix == "" && err != io.EOF {
			t.Errorf("%v", err)
		}
		r.Close()
	}
}

// A pipe that is closed ends the command, without traffic too, and the capture
// that it writes is whole.
func TestInterfaceClosedPipe(t *testing.T) {
	veth.Enter(t)
	name := filepath.Join(t.TempDir(), "x.pcapng.gz")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &onInterface{Cmd: exec.Command("rdmadump", "read", "-i", veth.B, "-v", "-w", name)}
	c.Stdout, c.Stderr = w, &c.stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	r.Close()
	waitForSockets(t, c.Process.Pid, 1)
	sent := sendCapture(t, gapCase)
	if code := c.end(t); code != 1 || !strings.Contains(c.stderr.String(), "standard output: broken pipe") {
		t.Errorf("exit status %d, %s", code, &c.stderr)
	}
	file, err := capture.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var f dissect.Frame
	for err = file.Next(&f); err == nil; err = file.Next(&f) {
	}
	if err != io.EOF || file.Info().Frames > sent || file.Info().Frames == 0 {
		t.Errorf("%d frames, then %v", file.Info().Frames, err)
	}
}

func TestInterfaceErrors(t *testing.T) {
	veth.Enter(t)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"read -i rdma-c", 1, "rdmadump: rdma-c: no such interface\nrdmadump: hint: there is rdma-a, rdma-b"},
		{"loss -i rdma-c", 1, "rdmadump: rdma-c: no such interface\n"},
		{"read -i rdma-a x.pcap", 2, "-i IFACE and the file x.pcap do not go together"},
		{"read --duration 3s x.pcap", 2, "--duration wants -i IFACE"},
		{"loss --every 3s x.pcap", 2, "--every wants -i IFACE"},
		{"read -i rdma-a --duration 3", 2, "want a time above 0 with its unit"},
		{"read -i rdma-a --ring 0", 2, "want a size"},
		{"read -i rdma-a --from -3s", 1, "which a live capture does not know"},
		{"read -i rdma-a --rotate-size 1M", 2, "want -w OUT"},
		{"check --idle 3s x.pcap", 2, "--idle wants -i IFACE"},
		{"check -i rdma-c", 1, "rdmadump: rdma-c: no such interface\n"},
		{"compare -i rdma-a", 2, "compare wants 2 to 16 interfaces"},
		{"compare -i any -i rdma-a", 2, "compare wants the interfaces of two points, not any"},
		{"compare -i rdma-a,rdma-a", 2, "compare wants different interfaces, rdma-a is named twice"},
		{"compare -i rdma-a -i rdma-c", 1, "rdmadump: rdma-c: no such interface\n"},
		{"compare -i rdma-a -i rdma-b --from +1s", 2, "--from wants captures"},
		{"compare --duration 1s x.pcap y.pcap", 2, "--duration wants -i IFACE"},
	} {
		var out, stderr bytes.Buffer
		code := run(strings.Fields(c.args), streams{nil, &out, &stderr})
		if code != c.code || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: exit status %d, %s", c.args, code, &stderr)
		}
	}
}

// serve -i counts what passes, and says so when nothing can pass any more.
func TestServeInterface(t *testing.T) {
	veth.Enter(t)
	s := startServe(t, "-i", veth.B)
	waitForSockets(t, s.Process.Pid, 1)
	sent := sendCapture(t, gapCase)
	s.await("/metrics", "\nrdmadump_lost_packets_total 2\n")
	s.await("/metrics", fmt.Sprintf("\nrdmadump_capture_frames_total{capture=\"0\",file=\"rdma-b\"} %d\n", sent))
	s.await("/metrics", "\nrdmadump_capture_up 1\n")
	veth.IP(t, "link", "set", veth.B, "down")
	s.await("/healthz", "rdma-b: the interface went down")
	s.await("/metrics", "\nrdmadump_capture_up 0\n")
	s.end(syscall.SIGTERM, 1)
}
