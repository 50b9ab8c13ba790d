package capture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	// maxLayers bounds compression within compression, as log rotation makes
	// by mistake. Each layer costs its decoder's memory.
	maxLayers = 4

	// maxZstdWindow is what the zstd command takes without being asked
	// (ZSTD_WINDOWLOG_LIMIT_DEFAULT 27). Memory beyond it is refused, however
	// much the data unpacks to.
	maxZstdWindow = 128 << 20

	compressedBuffer = 64 << 10
)

// decompress takes off every layer of gzip and zstd that the content of src
// shows.
func decompress(src io.Reader) (plain io.Reader, compressed bool, err error) {
	origin := &source{r: src}
	plain = origin
	for range maxLayers + 1 {
		in := bufio.NewReaderSize(plain, compressedBuffer)
		magic, err := in.Peek(4)
		d := &decoder{origin: origin}
		switch {
		case err != nil && err != io.EOF:
			return nil, false, err
		case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}): // RFC 1952, section 2.3.1
			d.method = "gzip"
			d.r, err = newMembers(in)
		case isZstd(magic):
			// One decoder works in the caller's goroutine, which is the pump's.
			d.method = "zstd"
			d.r, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(maxZstdWindow))
		default:
			return in, compressed, nil
		}
		if err != nil && err != io.EOF {
			return nil, false, d.fault(err)
		}
		plain, compressed = d, true
	}
	return nil, false, fmt.Errorf("%w: compressed more than %d times over", ErrFormat, maxLayers)
}

// unpacker is decompress put off until somebody reads, since looking at the
// first bytes may have to wait for them.
type unpacker struct {
	src   io.Reader
	plain io.Reader // nil before the first Read
	err   error
}

func (u *unpacker) Read(p []byte) (int, error) {
	if u.plain == nil && u.err == nil {
		u.plain, _, u.err = decompress(u.src)
	}
	if u.err != nil {
		return 0, u.err
	}
	return u.plain.Read(p)
}

// isZstd knows a frame and a skippable frame (RFC 8878, sections 3.1.1, 3.1.2).
func isZstd(magic []byte) bool {
	if len(magic) < 4 {
		return false
	}
	m := binary.LittleEndian.Uint32(magic)
	return m == 0xfd2fb528 || m&^0xf == 0x184d2a50
}

// source remembers the error that the input itself ended with, which
// decompressors pass on as if the data were at fault.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// decoder is one layer of decompression, whose errors say what is wrong with
// the data.
type decoder struct {
	method string
	r      io.Reader
	origin *source
}

func (d *decoder) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && err != io.EOF {
		err = d.fault(err)
	}
	return n, err
}

// fault tells an input that cannot be read from one that ends too early and
// from damaged data.
func (d *decoder) fault(err error) error {
	var inner *streamError
	switch {
	case d.origin.err != nil:
		return d.origin.err
	case errors.As(err, &inner): // of the layer around this one
		return inner
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &streamError{d.method + " data ends too early", ErrCut}
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return &streamError{fmt.Sprintf("zstd data needs more than %d MiB of memory", maxZstdWindow>>20), ErrDamaged}
	}
	what := strings.TrimPrefix(err.Error(), d.method+": ")
	return &streamError{fmt.Sprintf("%s data is damaged: %s", d.method, what), ErrDamaged}
}

// streamError is a fault of compressed data: what is wrong, and of which kind
// that is.
type streamError struct {
	msg  string
	kind error
}

func (e *streamError) Error() string { return e.msg }
func (e *streamError) Unwrap() error { return e.kind }
