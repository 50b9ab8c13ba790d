package capture

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/rdmadump/rdmadump/dissect"
)

// Writer writes frames as pcapng: one section, times in nanoseconds, an
// interface for each that frames come from. What has been flushed can be read,
// even if the writer is never closed. It is not safe for concurrent use.
//
// The writer of gopacket does not do: its link types have 8 bits, so that Linux
// cooked v2 (276) would come out as something else.
type Writer struct {
	name       string
	out        *bufio.Writer
	compressor compressor // nil for plain data
	file       *wholeFile // that Create opened, nil if the destination is not ours
	turns      *turns     // nil for one file
	describe   func(*dissect.Frame) Interface
	ids        map[origin]uint32    // interfaces by where their frames come from
	same       map[described]uint32 // and by what is written of them
	drops      []uint64             // of each interface
	last       origin               // of the frame written last
	lastID     uint32
	time       int64 // of that frame
	err        error
	head       [28]byte
}

// WriterOptions says what to write beside frames. The zero value is valid.
type WriterOptions struct {
	Application string // the program that writes, empty to leave it out
	Comment     string // on the section, at most 65,535 bytes of it

	// Describe tells what is known of a frame's interface. It is asked once for
	// each interface; Drops does not count. nil: the link type is all there is.
	Describe func(f *dissect.Frame) Interface

	Rotate Rotate // of Create
}

// compressor is a compressed stream between the writer and its destination.
type compressor interface {
	io.Writer
	Flush() error
	Close() error
}

// origin is where a frame comes from.
type origin struct {
	file, index int
	link        dissect.LinkType
}

// described is an interface as it is written. Files of one rotation have the
// same interface at the same place, and it is written once.
type described struct {
	index int
	Interface
}

// outputSize is what is collected before it is written.
const outputSize = 64 << 10

// NewWriter begins a capture on dst. name stands for it in messages. It does not
// close dst. The error, as that of all methods, is an *Error.
func NewWriter(dst io.Writer, name string, o WriterOptions) (*Writer, error) {
	w := &Writer{name: name, describe: o.Describe, out: bufio.NewWriterSize(dst, outputSize),
		ids: map[origin]uint32{}, same: map[described]uint32{}, last: origin{file: -1}}
	var b []byte
	b = le.AppendUint32(b, byteOrderMagic)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint64(b, math.MaxUint64) // section length, not known
	b = appendOption(b, 1, o.Comment)
	b = appendOption(b, 4, o.Application) // shb_userappl
	if o.Comment != "" || o.Application != "" {
		b = le.AppendUint32(b, 0) // opt_endofopt
	}
	w.block(blockSection, b)
	return w, w.fault()
}

var le = binary.LittleEndian

// WriteFrame writes a frame: all of Data, WireLen, Link and Time; a time before
// 1970 becomes 1970. Frames whose File and Interface are equal are of one
// interface. It does not allocate, but for the first frame of an interface.
func (w *Writer) WriteFrame(f *dissect.Frame) error {
	const fixed = framing + 20
	if w.turns != nil && w.err == nil && w.due(f.Time) {
		w.turn(f)
	}
	if w.err != nil {
		return w.fault()
	}
	if from := (origin{f.File, f.Interface, f.Link}); from != w.last {
		w.last, w.lastID = from, w.id(from, f)
	}
	w.time = max(f.Time, 0)
	total := uint32(fixed + padded(len(f.Data)))
	if w.out.Available() < int(total) {
		w.keep(w.out.Flush()) // what is written ends behind a block, even if it is the last
	}
	b := w.head[:28]
	le.PutUint32(b, blockEnhanced)
	le.PutUint32(b[4:], total)
	le.PutUint32(b[8:], w.lastID)
	le.PutUint32(b[12:], uint32(w.time>>32))
	le.PutUint32(b[16:], uint32(w.time))
	le.PutUint32(b[20:], uint32(len(f.Data)))
	le.PutUint32(b[24:], uint32(min(max(f.WireLen, len(f.Data)), math.MaxUint32)))
	w.write(b)
	w.write(f.Data)
	b = b[:8]
	le.PutUint32(b, 0)
	le.PutUint32(b[4:], total)
	w.write(b[4-(padded(len(f.Data))-len(f.Data)):])
	return w.fault()
}

// AddDrops says that n more packets of an interface, named as in dissect.Frame,
// were lost by the capture. It counts for nothing when no frame of that
// interface was written.
func (w *Writer) AddDrops(file, index int, n uint64) error {
	if n == 0 {
		return w.fault()
	}
	for from, id := range w.ids {
		if from.file != file || from.index != index {
			continue
		}
		w.drops[id] = addSaturating(w.drops[id], n)
		b := le.AppendUint32(nil, id)
		b = le.AppendUint32(b, uint32(w.time>>32))
		b = le.AppendUint32(b, uint32(w.time))
		b = le.AppendUint32(b, 5|8<<16) // isb_ifdrop, 8 bytes
		b = le.AppendUint64(b, w.drops[id])
		b = le.AppendUint32(b, 0)
		w.block(blockStatistics, b)
		break
	}
	return w.fault()
}

// Flush writes everything that was collected, so that it can be read.
func (w *Writer) Flush() error {
	if w.out == nil {
		return w.fault()
	}
	w.keep(w.out.Flush())
	if w.compressor != nil && w.err == nil {
		w.keep(w.compressor.Flush())
	}
	return w.fault()
}

// Close flushes and ends the capture. It closes what Create opened.
func (w *Writer) Close() error {
	if w.out != nil {
		w.finish()
	}
	return w.fault()
}

// finish ends the file, or the stream.
func (w *Writer) finish() {
	w.keep(w.out.Flush())
	if w.compressor != nil {
		w.keep(w.compressor.Close())
	}
	if w.file != nil {
		w.keep(w.file.Close())
	}
}

// id is the number of the interface that a frame comes from. A new one is
// described first.
func (w *Writer) id(from origin, f *dissect.Frame) uint32 {
	if id, ok := w.ids[from]; ok {
		return id
	}
	in := Interface{}
	if w.describe != nil {
		in = w.describe(f)
	}
	in.Link, in.Drops = f.Link, 0
	id, ok := w.same[described{from.index, in}]
	if !ok {
		id = uint32(len(w.drops))
		w.same[described{from.index, in}] = id
		w.drops = append(w.drops, 0)
		b := le.AppendUint16(nil, uint16(in.Link))
		b = le.AppendUint16(b, 0)
		b = le.AppendUint32(b, in.SnapLen)
		b = appendOption(b, 2, in.Name)
		b = appendOption(b, 9, "\x09") // if_tsresol: 10^-9 s
		b = le.AppendUint32(b, 0)
		w.block(blockInterface, b)
	}
	w.ids[from] = id
	return id
}

// block writes a block whose body is whole 32-bit words.
func (w *Writer) block(kind uint32, body []byte) {
	b := le.AppendUint32(nil, kind)
	b = le.AppendUint32(b, uint32(framing+len(body)))
	b = append(b, body...)
	w.write(le.AppendUint32(b, uint32(framing+len(body))))
}

// appendOption appends an option, as far as its value fits, unless it is empty.
func appendOption(b []byte, code uint16, value string) []byte {
	if value == "" {
		return b
	}
	value = value[:min(len(value), math.MaxUint16)]
	b = le.AppendUint16(b, code)
	b = le.AppendUint16(b, uint16(len(value)))
	b = append(b, value...)
	return append(b, 0, 0, 0)[:len(b)+padded(len(value))-len(value)]
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
	}
}

// keep remembers the first error.
func (w *Writer) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

// fault is the first error with the capture's name.
func (w *Writer) fault() error {
	if w.err == nil {
		return nil
	}
	if e := (*Error)(nil); errors.As(w.err, &e) {
		return e
	}
	return fileError(w.name, w.err)
}
