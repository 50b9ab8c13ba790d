package inject

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Interface is a network interface that frames are sent on.
type Interface struct {
	name string
	mtu  int
	fd   int
}

// Open opens an Ethernet interface, or the loopback. The error is an *Error.
func Open(name string) (*Interface, error) {
	found, err := net.InterfaceByName(name)
	if err != nil {
		return nil, &Error{Interface: name, Msg: "no such interface; there are " + names(), Err: ErrInterface}
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0) // of protocol 0: nothing is received
	if err != nil {
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
			return nil, &Error{Interface: name, Msg: ErrRight.Error(), Err: ErrRight,
				Hint: "run it as root, or give it the right once: sudo setcap cap_net_raw+ep " + program()}
		}
		return nil, &Error{Interface: name, Msg: "raw socket: " + err.Error(), Err: err}
	}
	i := &Interface{name: name, mtu: found.MTU, fd: fd}
	if err := i.ethernet(); err != nil {
		i.Close()
		return nil, err
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: found.Index}); err != nil {
		i.Close()
		return nil, i.fault(err)
	}
	return i, nil
}

// names are the interfaces there are.
func names() string {
	all, err := net.Interfaces()
	if err != nil || len(all) == 0 {
		return "none"
	}
	var b strings.Builder
	for i, one := range all {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(one.Name)
	}
	return b.String()
}

// program is the file that the right is to be given to.
func program() string {
	path, err := os.Executable()
	if err != nil {
		return "rdmagen"
	}
	return path
}

// ethernet makes sure that the interface has Ethernet headers, as the loopback
// does.
func (i *Interface) ethernet() error {
	request, err := unix.NewIfreq(i.name)
	if err == nil {
		err = unix.IoctlIfreq(i.fd, unix.SIOCGIFHWADDR, request)
	}
	if err != nil {
		return i.fault(err)
	}
	if kind := request.Uint16(); kind != unix.ARPHRD_ETHER && kind != unix.ARPHRD_LOOPBACK {
		return &Error{Interface: i.name, Msg: fmt.Sprintf("wrong link type: the interface is not Ethernet (ARPHRD %d)", kind), Err: ErrLink}
	}
	return nil
}

// Send sends a frame, from the Ethernet header on, without its FCS. Where the
// interface takes no more at the moment it waits, until ctx is done. The error is
// an *Error, or that of ctx.
func (i *Interface) Send(ctx context.Context, frame []byte) error {
	const pause = 20 * time.Microsecond
	for {
		_, err := unix.Write(i.fd, frame)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ENOBUFS), errors.Is(err, unix.EAGAIN):
			time.Sleep(pause)
		case errors.Is(err, unix.EMSGSIZE):
			return &Error{Interface: i.name, Msg: fmt.Sprintf("%d bytes are more than its MTU of %d lets through", len(frame), i.mtu), Err: ErrLength}
		case len(frame) < 14:
			return &Error{Interface: i.name, Msg: fmt.Sprintf("%d bytes hold no Ethernet header", len(frame)), Err: ErrLength}
		default:
			return i.fault(err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (i *Interface) fault(err error) error {
	return &Error{Interface: i.name, Msg: err.Error(), Err: err}
}

// Close ends sending.
func (i *Interface) Close() { _ = unix.Close(i.fd) }
