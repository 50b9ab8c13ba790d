package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// live runs rdmadump on a pipe that gives the capture and stays open.
func live(t *testing.T, capture []byte, args ...string) (command *exec.Cmd, out io.Reader, stderr *strings.Builder) {
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
		command, out, stderr := live(t, shippedCapture(t), "read", flag, "-")
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
	command, out, stderr := live(t, shippedCapture(t), "loss", "-")
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
