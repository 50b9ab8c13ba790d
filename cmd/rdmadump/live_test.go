package main

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// onPipe runs rdmadump on a pipe that gives the capture and stays open.
func onPipe(t *testing.T, capture []byte, args ...string) (command *exec.Cmd, out io.Reader, stderr *strings.Builder) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	command = exec.Command("rdmadump", args...)
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr = &strings.Builder{}
	command.Stderr = stderr
	if out, err = command.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { command.Process.Kill() })
	time.AfterFunc(time.Minute, func() { command.Process.Kill() }) // a failure, not a hang
	if _, err := in.Write(capture); err != nil {
		t.Fatal(err)
	}
	return command, out, stderr
}

func shippedCapture(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile("../../testdata/cases/04-gap-nak-gobackn.pcap")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What a pipe gave is printed before it gives more, and an interrupt loses
// nothing.
func TestReadLive(t *testing.T) {
	for _, flag := range []string{"--json", "-v", "--time=relative"} {
		command, out, stderr := onPipe(t, shippedCapture(t), "read", flag, "-")
		lines := bufio.NewScanner(out)
		for packets := 0; packets < 14; {
			if !lines.Scan() {
				t.Fatalf("%s: %d packets, then %v %s", flag, packets, lines.Err(), stderr)
			}
			if strings.Contains(lines.Text(), " psn ") || strings.Contains(lines.Text(), `"psn":`) {
				packets++
			}
		}
		if err := command.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, out)
		command.Wait()
		if code := command.ProcessState.ExitCode(); code != 1 || !strings.Contains(stderr.String(), "frame 15: interrupted") {
			t.Errorf("%s: exit status %d, %s", flag, code, stderr)
		}
	}
}

// The report of what was read comes at an interrupt too.
func TestLossInterrupted(t *testing.T) {
	command, out, stderr := onPipe(t, shippedCapture(t), "loss", "-")
	// The pipe has been written; that it has been read by now cannot be seen from
	// outside, but the interrupt leaves it time to be.
	time.Sleep(300 * time.Millisecond)
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	report, _ := io.ReadAll(out)
	command.Wait()
	if code := command.ProcessState.ExitCode(); code != 1 || !strings.Contains(string(report), "LOSS: 2 packets lost") ||
		!strings.Contains(string(report), "read up to here: frame 15: interrupted") || !strings.Contains(stderr.String(), "frame 15: interrupted") {
		t.Errorf("exit status %d, %s\n%s", code, stderr, report)
	}
}

// Events of what a pipe gave are printed before it gives more, and an interrupt
// loses none.
func TestEventsLive(t *testing.T) {
	whole, _, _ := execute("loss", "--events", "../../testdata/cases/04-gap-nak-gobackn.pcap")
	command, out, stderr := onPipe(t, shippedCapture(t), "loss", "--events", "-")
	lines := bufio.NewScanner(out)
	got := ""
	for !strings.Contains(got, `"gap-closed"`) {
		if !lines.Scan() {
			t.Fatalf("%s, then %v %s", got, lines.Err(), stderr)
		}
		got += lines.Text() + "\n"
	}
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		got += lines.Text() + "\n"
	}
	command.Wait()
	if code := command.ProcessState.ExitCode(); code != 1 || got != whole {
		t.Errorf("exit status %d, %s\n%s\nwant\n%s", code, stderr, got, whole)
	}
}

// countedWrites counts what would be system calls.
type countedWrites struct {
	strings.Builder
	writes int
}

func (c *countedWrites) Write(b []byte) (int, error) {
	c.writes++
	return c.Builder.Write(b)
}

// An event does not cost a write.
func TestEventsAreCollected(t *testing.T) {
	out := &countedWrites{}
	packed, err := os.Open("../../testdata/pcaps/rxe-nth_drops-receiver.pcap.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "x.pcap")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if exit := run([]string{"loss", "--events", name}, streams{strings.NewReader(""), out, io.Discard}); exit != 0 {
		t.Fatal(exit)
	}
	events := strings.Count(out.String(), "\n")
	if most := out.Len()/outputSize + 1; events < 100 || out.writes > most {
		t.Errorf("%d events in %d writes, want at most %d", events, out.writes, most)
	}
}
