package veth

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// message is the kernel's struct mmsghdr.
type message struct {
	header unix.Msghdr
	sent   uint32
	_      [4]byte
}

// Batch sends the same frame many times with one system call, which is what it
// takes to fill a fast link.
type Batch struct {
	sender   *Sender
	messages []message
	vector   unix.Iovec
}

// NewBatch makes a batch of n copies of a frame.
func (s *Sender) NewBatch(frame []byte, n int) *Batch {
	b := &Batch{sender: s, messages: make([]message, n)}
	b.vector.Base = &frame[0]
	b.vector.SetLen(len(frame))
	for i := range b.messages {
		b.messages[i].header.Iov = &b.vector
		b.messages[i].header.SetIovlen(1)
	}
	return b
}

// Send sends all of them.
func (b *Batch) Send() {
	for left := b.messages; len(left) > 0; {
		n, _, err := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(b.sender.fd), uintptr(unsafe.Pointer(&left[0])), uintptr(len(left)), 0, 0, 0)
		switch {
		case err == 0:
			left = left[n:]
		case !errors.Is(err, unix.ENOBUFS) && !errors.Is(err, unix.EINTR):
			b.sender.t.Fatal(err)
		}
	}
}
