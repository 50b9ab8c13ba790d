package capture

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// members reads gzip data member by member. Left to itself the decoder looks
// for another member before it gives away the last bytes of one, which may take
// for ever when a pipe is open still.
type members struct {
	in    *bufio.Reader
	z     *gzip.Reader
	ended bool // the current member has been read
}

func newMembers(in *bufio.Reader) (*members, error) {
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &members{in: in, z: z}, nil
}

func (m *members) Read(p []byte) (int, error) {
	for {
		if m.ended {
			if err := m.next(); err != nil {
				return 0, err
			}
			m.ended = false
		}
		n, err := m.z.Read(p)
		if err == io.EOF {
			m.ended, err = true, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// next begins the next member. Zeros between members, and behind the last one,
// are padding, as tapes have it and gzip(1) takes it.
func (m *members) next() error {
	for {
		magic, err := m.in.Peek(2)
		switch {
		case len(magic) == 0:
			return err
		case magic[0] == 0:
			_, _ = m.in.Discard(1) // it was peeked at
		case len(magic) == 1 && err != io.EOF:
			return err
		case len(magic) == 1:
			return io.ErrUnexpectedEOF
		case magic[0] != 0x1f || magic[1] != 0x8b:
			return &streamError{fmt.Sprintf("behind the gzip data comes something else, which begins with % x", magic), ErrDamaged}
		default:
			err := m.z.Reset(m.in)
			if errors.Is(err, io.EOF) { // the header is there in part
				err = io.ErrUnexpectedEOF
			}
			m.z.Multistream(false)
			return err
		}
	}
}
