package main

import (
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/internal/veth"
)

// An interface that goes down is told of, and what was seen stays to be looked at.
func TestTopInterface(t *testing.T) {
	veth.Enter(t)
	c := startOnTerminal(t, "rdmadump", "top", "-i", veth.B)
	waitForSockets(t, c.Process.Pid, 1)
	c.waitFor("no connections")
	sendCapture(t, gapCase)
	c.waitFor("192.0.2.1→192.0.2.2")
	c.waitFor("2 lost")
	veth.IP(t, "link", "set", veth.B, "down")
	c.waitFor("the interface went down")
	c.keys("q")
	c.endsClean(1)
	if !strings.Contains(c.stderr.String(), "rdmadump: "+veth.B+": the interface went down") {
		t.Error(&c.stderr)
	}
}

// --once needs no terminal and ends by itself.
func TestTopInterfaceOnce(t *testing.T) {
	veth.Enter(t)
	c := startLive(t, "top", "-i", veth.B, "--once", "--count", "6")
	sendCapture(t, "../../testdata/cases/08-rnr-nak.pcap")
	if code := c.end(t); code != 0 || !strings.Contains(c.out.String(), "0 lost  2 resent  2 rnr") {
		t.Errorf("exit status %d, %s%s", code, &c.out, &c.stderr)
	}
}
