package capture

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// Open opens a capture file. The name has no special values: "-" is a file
// called so. The error is an *Error: ErrEmpty, ErrFormat or ErrCut, or what the
// operating system says of a file that is missing, a directory or unreadable.
func Open(name string) (*Reader, error) {
	return Source{Name: name}.Open()
}

// NewReader reads a capture from src, such as standard input; name stands for it
// in messages and Info. It reads up to the first record, so it waits for a pipe
// that has nothing yet. It does not close src. After Close, a Read of compressed
// data that is already under way in src may still come to its end.
func NewReader(src io.Reader, name string) (*Reader, error) {
	return Source{Name: name, Stream: src}.Open()
}

// newReader reads src, which is the file that s names or its stream.
func newReader(src io.Reader, s Source, file *os.File) (*Reader, error) {
	r := &Reader{name: s.Name, file: file}
	err := r.start(src, s)
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// start reads up to the first record.
func (r *Reader) start(src io.Reader, s Source) error {
	if (s.Waiting != nil || s.Stop != nil) && !regular(src) {
		r.pump = startPump(&unpacker{src: src}, s)
		r.win.src = r.pump
	} else {
		plain, compressed, err := decompress(src)
		if err != nil {
			return fileError(r.name, err)
		}
		r.win.src = stoppable{plain, s.Stop}
		if compressed {
			r.pump = startPump(plain, s)
			r.win.src = r.pump
		}
	}
	if err := r.header(); err != nil {
		return err
	}
	r.opened = true
	return nil
}

// header reads what comes before the first record.
func (r *Reader) header() error {
	magic := r.win.peek(4)
	if len(magic) < 4 {
		switch {
		case !r.win.ended() && len(magic) == 0:
			return r.fail(fileError("", r.win.err))
		case !r.win.ended():
			return r.stopped()
		case len(magic) == 0:
			return fileError(r.name, ErrEmpty)
		}
		return fileError(r.name, fmt.Errorf("%w: has %s only", ErrFormat, count(len(magic), "byte")))
	}
	if r.u32(magic) == blockSection {
		r.ng, r.format = true, "pcapng"
		return r.firstSection()
	}
	if r.pcapMagic(magic) {
		r.format = "pcap"
		return r.fileHeader()
	}
	for _, k := range foreign {
		if bytes.HasPrefix(r.win.peek(len(k.magic)), []byte(k.magic)) {
			return fileError(r.name, fmt.Errorf("%w that can be read: %s", ErrFormat, k.what))
		}
	}
	return fileError(r.name, fmt.Errorf("%w: begins with % x, neither pcap nor pcapng", ErrFormat, magic))
}

// foreign are files that people take for captures which are read here; they are
// told by name.
var foreign = []struct{ magic, what string }{
	{"\xfd7zXZ\x00", "xz data, decompress it first"},
	{"BZh", "bzip2 data, decompress it first"},
	{"\x04\x22\x4d\x18", "lz4 data, decompress it first"},
	{"PK\x03\x04", "a zip archive, extract it first"},
	{"snoop\x00\x00\x00", "snoop, convert it to pcapng first"},
	{"\x1c\x00\x01\xab", "Ixia lcap, convert it to pcapng first"},
	{"\x1c\x00\x01\xac", "Ixia lcap, convert it to pcapng first"},
	{"\xab\x01\x00\x1c", "Ixia lcap, convert it to pcapng first"},
	{"\xac\x01\x00\x1c", "Ixia lcap, convert it to pcapng first"},
}

// stoppable is a reader that never waits long, so that it is enough to look at
// stop before each read.
type stoppable struct {
	io.Reader
	stop <-chan struct{}
}

func (s stoppable) Read(p []byte) (int, error) {
	select {
	case <-s.stop:
		return 0, ErrStopped
	default:
		return s.Reader.Read(p)
	}
}

// regular reports a regular file: reading it does not wait, and opening its name
// gives the same bytes once more.
func regular(src io.Reader) bool {
	file, ok := src.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode().IsRegular()
}

// Close ends reading and closes the file that Open opened. Next returns an error
// afterwards.
func (r *Reader) Close() error {
	var err error
	if r.file != nil {
		err = r.file.Close()
	}
	if r.live != nil {
		err = r.live.Close()
	}
	if r.pump != nil {
		r.pump.close()
		if r.file != nil { // its reads have ended now
			r.pump.wait()
		}
	}
	r.file, r.pump, r.win = nil, nil, window{err: os.ErrClosed}
	if r.err == nil {
		r.err = fileError(r.name, os.ErrClosed)
	}
	return err
}
