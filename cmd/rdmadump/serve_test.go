package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serving is a running rdmadump serve.
type serving struct {
	*testing.T
	*exec.Cmd
	address string
	stderr  *bufio.Reader
}

// startServe starts serve on a port of its own.
func startServe(t *testing.T, args ...string) *serving {
	t.Helper()
	s := &serving{T: t, Cmd: exec.Command("rdmadump", append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)}
	pipe, err := s.Cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Process.Kill() })
	s.stderr = bufio.NewReader(pipe)
	line, _ := s.stderr.ReadString('\n')
	if s.address = strings.TrimPrefix(strings.TrimSpace(line), "rdmadump: serving http://"); !strings.HasPrefix(s.address, "127.0.0.1:") {
		rest, _ := io.ReadAll(s.stderr)
		t.Fatalf("%s%s", line, rest)
	}
	return s
}

// get asks for a page. It stays on the goroutine of the test, which may be in a
// network namespace of its own.
func (s *serving) get(path string) string {
	s.Helper()
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		s.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET %s HTTP/1.0\r\n\r\n", path)
	b, err := io.ReadAll(c)
	if err != nil {
		s.Fatal(err)
	}
	return string(b)
}

// await asks for a page until it has a text.
func (s *serving) await(path, text string) {
	s.Helper()
	var last string
	for range 100 {
		if last = s.get(path); strings.Contains(last, text) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.Errorf("%s never says %q:\n%s", path, text, last)
}

// end sends a signal and wants an exit status.
func (s *serving) end(signal syscall.Signal, status int) {
	s.Helper()
	s.Process.Signal(signal)
	rest, _ := io.ReadAll(s.stderr)
	s.Wait()
	if code := s.ProcessState.ExitCode(); code != status {
		s.Errorf("exit status %d, want %d: %s", code, status, rest)
	}
}

// What a capture came to stays there until a signal.
func TestServeFile(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		s := startServe(t, gapCase)
		s.await("/metrics", "\nrdmadump_lost_packets_total 2\n")
		s.await("/connections", `"qpn":"0x000111"`)
		s.await("/metrics", "\nrdmadump_capture_up 0\n")
		if got := s.get("/healthz"); !strings.HasPrefix(got, "HTTP/1.0 200 ") || !strings.HasSuffix(got, "\r\n\r\nok, the capture is at its end\n") {
			t.Error(got)
		}
		s.end(signal, 0)
	}
}

// An interrupt that was ignored at the start stays so, as for what a script runs
// in the background.
func TestServeIgnoresInterrupt(t *testing.T) {
	signal.Ignore(syscall.SIGINT)
	s := startServe(t, gapCase)
	signal.Reset(syscall.SIGINT)
	s.await("/metrics", "\nrdmadump_lost_packets_total 2\n")
	s.Process.Signal(syscall.SIGINT)
	time.Sleep(200 * time.Millisecond) // for an end that must not come
	if got := s.get("/healthz"); !strings.HasPrefix(got, "HTTP/1.0 200 ") {
		t.Error(got)
	}
	s.end(syscall.SIGTERM, 0)
}

// A capture that is cut is served as far as it goes, and not well.
func TestServeCutFile(t *testing.T) {
	s := startServe(t, "../../testdata/cases/74-pcap-truncated-mid-record.pcap")
	s.await("/healthz", "HTTP/1.0 503 ")
	s.await("/metrics", "\nrdmadump_capture_up 0\n")
	s.end(syscall.SIGTERM, 1)
}

func TestServeErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"serve", gapCase, "--listen", taken.Addr().String()}, 1, "rdmadump: --listen " + taken.Addr().String() + ": address already in use\n"},
		{[]string{"serve", gapCase, "--listen", "127.0.0.1"}, 2, "--listen \"127.0.0.1\" has no host:port"},
		{[]string{"serve", gapCase, "--listen", ""}, 2, "--listen \"\" has no host:port"},
		{[]string{"serve", gapCase, "--listen", ":"}, 2, "--listen \":\" has no host:port"},
		{[]string{"serve", "nothing.pcap", "--listen", "127.0.0.1:0"}, 1, "rdmadump: nothing.pcap: no such file"},
		{[]string{"serve"}, 2, "name a capture file"},
		{[]string{"serve", gapCase, "--max-connections", "-1"}, 2, "--max-connections"},
		{[]string{"serve", gapCase, "--idle", "1m"}, 2, "--idle wants -i IFACE"},
	} {
		var out, stderr strings.Builder
		if code := run(c.args, streams{nil, &out, &stderr}); code != c.code || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%v: exit status %d, %s", c.args, code, &stderr)
		}
	}
	if listen := newServe(streams{}).Flags().Lookup("listen").DefValue; !strings.HasPrefix(listen, "127.0.0.1:") {
		t.Errorf("it listens on %s", listen)
	}
}
