package inject

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// apart moves the test into a network namespace of its own, with a loopback that
// is up. Where that is not allowed the test is skipped; .ci/run names it then.
func apart(t *testing.T) {
	t.Helper()
	runtime.LockOSThread() // and never unlocked: the thread ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("no network namespace of its own, which needs CAP_SYS_ADMIN: %v", err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	request.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil {
		t.Fatal(err)
	}
}

// arrivals is a socket that receives what the loopback does.
func arrivals(t *testing.T) int {
	t.Helper()
	const all = unix.ETH_P_ALL>>8 | unix.ETH_P_ALL&0xff<<8
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, all)
	if err != nil {
		t.Skipf("no socket to receive with: %v", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: 1}); err != nil {
		t.Fatal(err)
	}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 20}); err != nil {
		t.Fatal(err)
	}
	return fd
}

// next is the next frame that has come in.
func next(t *testing.T, fd int) []byte {
	t.Helper()
	b := make([]byte, 1<<16)
	for {
		n, from, err := unix.Recvfrom(fd, b, 0)
		if err != nil {
			t.Fatalf("no frame came: %v", err)
		}
		if from.(*unix.SockaddrLinklayer).Pkttype != unix.PACKET_OUTGOING {
			return b[:n]
		}
	}
}

// What is sent comes out of the interface as it is.
func TestLiveFramesArrive(t *testing.T) {
	apart(t)
	fd := arrivals(t)
	defer unix.Close(fd)
	out, err := Open("lo")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for i := range 3 {
		frame := append([]byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x89, 0x15}, bytes.Repeat([]byte{byte(i)}, 100+i)...)
		if err := out.Send(t.Context(), frame); err != nil {
			t.Fatal(err)
		}
		if got := next(t, fd); !bytes.Equal(got, frame) {
			t.Errorf("% x came, % x was sent", got, frame)
		}
	}
	for n, want := range map[int]string{5: "hold no Ethernet header", 1 << 17: "are more than its MTU of 65536 lets through"} {
		err := out.Send(t.Context(), make([]byte, n))
		if !errors.Is(err, ErrLength) || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: %v, want %s", n, err, want)
		}
	}
}

func TestLiveInterfaces(t *testing.T) {
	apart(t)
	if _, err := Open("eth9"); !errors.Is(err, ErrInterface) || err.Error() != "eth9: no such interface; there are lo" {
		t.Errorf("%v", err)
	}
}

// Without the right, the message names it, and the hint says how to give it.
func TestLiveWithoutTheRight(t *testing.T) {
	runtime.LockOSThread() // see apart
	const same, nobody = ^uintptr(0), 65534
	if _, _, fault := unix.RawSyscall(unix.SYS_SETRESUID, same, nobody, same); fault != 0 { // of this thread alone
		t.Skipf("cannot give the right up, which needs CAP_SETUID: %v", fault)
	}
	_, err := Open("lo")
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, ErrRight) || !strings.Contains(e.Msg, "CAP_NET_RAW") || !strings.Contains(e.Hint, "setcap cap_net_raw+ep ") {
		t.Errorf("%v", err)
	}
}
