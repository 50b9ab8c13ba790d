//go:build !windows

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/internal/cli"
	"github.com/rdmadump/rdmadump/top"
)

// onTerminal is a command on a terminal of its own.
type onTerminal struct {
	*exec.Cmd
	t        *testing.T
	terminal *os.File
	before   *term.State
	stderr   bytes.Buffer

	mutex sync.Mutex
	shown bytes.Buffer
}

func startOnTerminal(t *testing.T, name string, args ...string) *onTerminal {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close(); slave.Close() })
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	c := &onTerminal{Cmd: exec.Command(name, args...), t: t, terminal: master}
	if c.before, err = term.GetState(int(slave.Fd())); err != nil {
		t.Fatal(err)
	}
	c.Stdin, c.Stdout, c.Stderr = slave, slave, &c.stderr
	c.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			c.mutex.Lock()
			c.shown.Write(b[:n])
			c.mutex.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return c
}

func (c *onTerminal) text() string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.shown.String()
}

// painted is how colours begin and end.
var painted = regexp.MustCompile("\x1b\\[[0-9;]*m")

// waitFor waits until the terminal was sent a text, whatever its colours.
func (c *onTerminal) waitFor(text string) {
	c.t.Helper()
	for range 3000 {
		if got := c.text(); strings.Contains(got, text) || strings.Contains(painted.ReplaceAllString(got, ""), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.t.Fatalf("no %q in %q, %s", text, c.text(), &c.stderr)
}

func (c *onTerminal) keys(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.terminal, text); err != nil {
		c.t.Fatal(err)
	}
}

// endsClean waits for the command and makes sure that the terminal is as it was:
// its modes, the screen, the cursor.
func (c *onTerminal) endsClean(exit int) {
	c.t.Helper()
	timer := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
	defer timer.Stop()
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != exit {
		c.t.Errorf("exit status %d, want %d: %s", code, exit, &c.stderr)
	}
	after, err := term.GetState(int(c.Stdin.(*os.File).Fd()))
	if err != nil {
		c.t.Fatal(err)
	}
	if *after != *c.before {
		c.t.Error("the modes of the terminal are not what they were")
	}
	c.waitFor("\x1b[?1049l")
	text := c.text()
	for _, mode := range [...]struct{ name, on, off string }{
		{"the other screen", "\x1b[?1049h", "\x1b[?1049l"}, {"the hidden cursor", "\x1b[?25l", "\x1b[?25h"}, {"bracketed paste", "\x1b[?2004h", "\x1b[?2004l"},
	} {
		if on, off := strings.LastIndex(text, mode.on), strings.LastIndex(text, mode.off); off < on {
			c.t.Errorf("%s stays on", mode.name)
		}
	}
}

// The terminal is left as it was, whichever way the view ends.
func TestTopLeavesTerminalClean(t *testing.T) {
	const end = "end of capture"
	for name, leave := range map[string]func(c *onTerminal){
		"q":       func(c *onTerminal) { c.keys("q") },
		"Ctrl-C":  func(c *onTerminal) { c.keys("\x03") },
		"SIGTERM": func(c *onTerminal) { c.Process.Signal(syscall.SIGTERM) },
		"SIGINT":  func(c *onTerminal) { c.Process.Signal(syscall.SIGINT) },
	} {
		t.Run(name, func(t *testing.T) {
			c := startOnTerminal(t, "rdmadump", "top", "--speed", "max", gapCapture)
			c.waitFor(end)
			leave(c)
			c.endsClean(0)
			if c.stderr.Len() > 0 {
				t.Error(&c.stderr)
			}
		})
		t.Run(name+" while it replays", func(t *testing.T) {
			c := startOnTerminal(t, "rdmadump", "top", "--speed", "1e-9", gapCapture)
			c.waitFor("1 conn ") // in an hour the next
			leave(c)
			c.endsClean(0)
			if c.stderr.Len() > 0 {
				t.Error(&c.stderr)
			}
		})
	}
}

const gapCapture = "../../testdata/cases/04-gap-nak-gobackn.pcap"

// Keys work, and the size of the terminal may change.
func TestTopKeys(t *testing.T) {
	c := startOnTerminal(t, "rdmadump", "top", "--speed", "max", gapCapture)
	c.waitFor("192.0.2.1→192.0.2.2")
	c.keys("\r")
	c.waitFor("connection 1")
	c.waitFor("102-103")
	if err := pty.Setsize(c.terminal, &pty.Winsize{Rows: 40, Cols: 130}); err != nil {
		t.Fatal(err)
	}
	c.keys("\x1b")
	c.waitFor("192.0.2.1 0x000222 → 192.0.2.2 0x000111")
	c.keys("/nobody")
	c.waitFor("none of 1 connections")
	c.keys("\rq")
	c.endsClean(0)
}

// What goes wrong is told before there is a view, or behind it.
func TestTopFaults(t *testing.T) {
	c := startOnTerminal(t, "rdmadump", "top", "missing.pcap")
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 1 || !strings.Contains(c.stderr.String(), "missing.pcap: no such file") || c.text() != "" {
		t.Errorf("exit status %d, %s, %q", code, &c.stderr, c.text())
	}
	whole := shippedCapture(t)
	name := t.TempDir() + "/cut.pcap"
	if err := os.WriteFile(name, whole[:len(whole)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	c = startOnTerminal(t, "rdmadump", "top", "--speed", "max", name)
	c.waitFor("ended:")
	c.keys("q")
	c.endsClean(1)
	if !strings.Contains(c.stderr.String(), "cut.pcap: frame 14") {
		t.Error(&c.stderr)
	}
}

// A capture may come by a pipe: keys come from the terminal all the same.
func TestTopPipe(t *testing.T) {
	c := startOnTerminal(t, "sh", "-c", "cat "+gapCapture+" | rdmadump top -")
	c.waitFor("2 lost")
	c.keys("q")
	c.endsClean(0)
}

func init() { programs["panicking"] = panicking }

// panicking is a view whose reader panics.
func panicking() {
	terminal, _ := cli.Terminal(os.Stdout)
	sampler := top.NewSampler(dissect.NewAnalyzer(dissect.Config{}), func() int64 { return 0 }, true)
	show := top.Show{Sampler: sampler}
	_ = show.Run(terminal, make(chan struct{}), func() {
		time.Sleep(300 * time.Millisecond)
		panic("out of order")
	})
}

func TestTopPanic(t *testing.T) {
	c := startOnTerminal(t, "panicking")
	c.waitFor("\x1b[?1049h")
	c.endsClean(2)
	if !strings.Contains(c.stderr.String(), "out of order") {
		t.Error(&c.stderr)
	}
}
