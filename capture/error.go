package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// The kinds of fault in a capture; an Error wraps one of them, or what the
// operating system said.
var (
	ErrEmpty   = errors.New("empty file")           // no bytes at all
	ErrFormat  = errors.New("not a capture")        // neither pcap nor pcapng, nor either of them compressed
	ErrCut     = errors.New("capture is cut short") // ends in the middle of a record, or its compressed data does
	ErrStopped = errors.New("interrupted")          // Source.Stop was closed
	ErrDamaged = errors.New("capture is damaged")   // a field that cannot be true, or compressed data that does not decode
)

// noOffset is the Offset of an Error that no byte of the capture brought about.
const noOffset = -1

// Error says what is wrong with a capture, and where.
type Error struct {
	File   string // name that the Reader was given
	Frame  int    // frame that could not be read, counted from 1; 0 before the first record
	Offset int64  // position of Field in the capture as it is after decompression, in bytes; -1 for the file as a whole
	Field  string // part of the capture that is at fault, such as "captured length"
	Msg    string // what is wrong, in words, Field included
	Err    error  // ErrEmpty, ErrFormat, ErrCut, ErrStopped, ErrDamaged or the error of the operating system
}

// Error gives one line such as
//
//	x.pcap: frame 3: capture ends in the middle of the packet data: 20 of 86 bytes (at byte 1234)
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Frame > 0 {
		fmt.Fprintf(&b, ": frame %d", e.Frame)
	}
	fmt.Fprintf(&b, ": %s", e.Msg)
	if e.Offset != noOffset {
		fmt.Fprintf(&b, " (at byte %d)", e.Offset)
	}
	return b.String()
}

// Unwrap gives the kind of the fault.
func (e *Error) Unwrap() error { return e.Err }

// fileError is an Error about the file as a whole. The path that the operating
// system's errors repeat is left out, since File has it.
func fileError(name string, err error) *Error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &Error{File: name, Offset: noOffset, Msg: err.Error(), Err: err}
}

// count writes a number with its noun: "1 byte", "4 bytes".
func count[N int | uint32](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// damaged ends reading at a field that cannot be true.
func (r *Reader) damaged(field string, offset int64, format string, args ...any) error {
	return r.fail(&Error{Offset: offset, Field: field, Msg: field + " " + fmt.Sprintf(format, args...), Err: ErrDamaged})
}

// short ends reading where the input ran out with have of want bytes of a part
// of the capture that begins at offset.
func (r *Reader) short(part string, offset int64, have, want int) error {
	e := &Error{Offset: offset, Field: part, Err: r.win.err}
	where := fmt.Sprintf("in the middle of the %s: %d of %s", part, have, count(want, "byte"))
	switch {
	case r.win.ended():
		e.Msg, e.Err = "capture ends "+where, ErrCut
	case errors.Is(r.win.err, ErrCut):
		e.Msg = fmt.Sprintf("%v %s", r.win.err, where)
	default:
		cause := fileError("", r.win.err)
		e.Msg, e.Err = cause.Msg+", "+where, cause.Err
	}
	return r.fail(e)
}

// stopped ends reading between two records, where the input stopped for a
// reason other than its end.
func (r *Reader) stopped() error {
	e := fileError("", r.win.err)
	e.Offset = r.win.offset()
	return r.fail(e)
}

// fail makes e what every later call of Next returns. Nothing after a fault is
// read: its frames would be numbered and timed on a guess.
func (r *Reader) fail(e *Error) error {
	e.File = r.name
	if r.opened {
		e.Frame = r.frames + 1
	}
	r.err = e
	return e
}
