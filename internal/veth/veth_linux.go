// Package veth gives tests a network of their own: a namespace with a pair of
// virtual Ethernet interfaces, joined by a cable that loses nothing.
package veth

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The names of the interfaces. What is sent to one is received by the other.
const (
	A = "rdma-a"
	B = "rdma-b"
)

// Enter moves the test, and what it starts, into a new network namespace with
// the pair in it, both ends up. It locks the goroutine to its thread, which ends
// with it. Without the right to do so the test is skipped, or fails where CI
// asks for all tests.
func Enter(t testing.TB) {
	t.Helper()
	missing := t.Skipf
	if os.Getenv("CI") == "true" {
		missing = t.Fatalf
	}
	if _, err := exec.LookPath("ip"); err != nil {
		missing("needs the command ip (Debian's iproute2)")
	}
	runtime.LockOSThread() // and never unlocked: the thread is of no use to others
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		missing("needs the right to make a network namespace (CAP_SYS_ADMIN): %v", err)
	}
	// IPv6 would send on its own.
	for _, what := range []string{"all", "default"} {
		_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+what+"/disable_ipv6", []byte("1"), 0)
	}
	if err := try("link", "add", A, "type", "veth", "peer", "name", B); err != nil {
		missing("needs veth interfaces: %v", err)
	}
	for _, name := range []string{"lo", A, B} {
		IP(t, "link", "set", name, "up")
	}
}

// IP runs the command ip.
func IP(t testing.TB, args ...string) {
	t.Helper()
	if err := try(args...); err != nil {
		t.Fatal(err)
	}
}

func try(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return errors.New("ip " + strings.Join(args, " ") + ": " + strings.TrimSpace(string(out)))
	}
	return nil
}

// Sender sends frames as they are.
type Sender struct {
	t  testing.TB
	fd int
}

// NewSender sends through an interface.
func NewSender(t testing.TB, name string) *Sender {
	t.Helper()
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	request, err := unix.NewIfreq(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, request); err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: int(request.Uint32())}); err != nil {
		t.Fatal(err)
	}
	return &Sender{t, fd}
}

// Send sends a frame.
func (s *Sender) Send(frame []byte) {
	s.t.Helper()
	for {
		_, err := unix.Write(s.fd, frame)
		if err == nil {
			return
		}
		if !errors.Is(err, unix.ENOBUFS) && !errors.Is(err, unix.EINTR) {
			s.t.Fatal(err)
		}
	}
}
