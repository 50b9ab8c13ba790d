package capture

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/rdmadump/rdmadump/dissect"
)

// Writer writes frames as pcapng (one section, times in nanoseconds, an
// interface for each that frames come from) or pcap. What has been flushed can be
// read, even if the writer is never closed. It is not safe for concurrent use.
//
// The writer of gopacket does not do: its link types have 8 bits, so that Linux
// cooked v2 (276) would come out as something else.
type Writer struct {
	name       string
	dst        io.Writer
	buf        []byte     // collected, not written yet
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
	form       Form
	snap       uint32 // bytes of a frame that are written, 0 for all
	begun      bool   // the header of a pcap file is written
	err        error
}

// WriterOptions says what to write beside frames. The zero value is valid.
type WriterOptions struct {
	Form        Form   // pcapng unless it says otherwise
	SnapLen     uint32 // bytes of a frame that are written; 0 writes what Data has
	Application string // the program that writes, empty to leave it out; pcapng only
	Comment     string // on the section, at most 65,535 bytes of it; pcapng only

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
const outputSize = 128 << 10

// NewWriter begins a capture on dst. name stands for it in messages. It does not
// close dst. The error, as that of all methods, is an *Error.
func NewWriter(dst io.Writer, name string, o WriterOptions) (*Writer, error) {
	w := &Writer{name: name, describe: o.Describe, dst: dst, buf: make([]byte, 0, outputSize+outputSize/4),
		ids: map[origin]uint32{}, same: map[described]uint32{}, last: origin{file: -1}, form: o.Form, snap: o.SnapLen}
	if o.Form != Pcapng {
		return w, nil // its header names the link type of the first frame
	}
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

// WriteFrame writes a frame: Data up to the snap length, WireLen, Link and Time; a
// time before 1970 becomes 1970; one behind 2106 does not fit in pcap, and the error wraps ErrTime. Frames whose File and Interface are equal are of
// one interface. pcap knows no interfaces, and one link type only: the error wraps
// ErrLinkType. It does not allocate, but for the first frame of an interface.
func (w *Writer) WriteFrame(f *dissect.Frame) error {
	const fixed = framing + 20
	if w.turns != nil && w.err == nil && w.due(f.Time) {
		w.turn(f)
	}
	if w.err != nil {
		return w.fault()
	}
	data := f.Data
	if w.snap > 0 && len(data) > int(w.snap) {
		data = data[:w.snap]
	}
	w.time = max(f.Time, 0)
	if w.form != Pcapng {
		w.writePcap(f, data)
		return w.fault()
	}
	if from := (origin{f.File, f.Interface, f.Link}); from != w.last {
		w.last, w.lastID = from, w.id(from, f)
	}
	total := uint32(fixed + padded(len(data)))
	b := le.AppendUint32(w.buf, blockEnhanced)
	b = le.AppendUint32(b, total)
	b = le.AppendUint32(b, w.lastID)
	b = le.AppendUint32(b, uint32(w.time>>32))
	b = le.AppendUint32(b, uint32(w.time))
	b = le.AppendUint32(b, uint32(len(data)))
	b = le.AppendUint32(b, uint32(min(max(f.WireLen, len(f.Data)), math.MaxUint32)))
	b = append(b, data...)
	b = append(b, 0, 0, 0)[:len(b)+padded(len(data))-len(data)]
	w.collect(le.AppendUint32(b, total))
	return w.fault()
}

// AddDrops says that n more packets of an interface, named as in dissect.Frame,
// were lost by the capture. It counts for nothing when no frame of that
// interface was written, nor in a pcap file, which has no place for it.
func (w *Writer) AddDrops(file, index int, n uint64) error {
	if n == 0 || w.form != Pcapng {
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
	if !w.begunFile() {
		return w.fault()
	}
	w.send()
	if w.compressor != nil && w.err == nil {
		w.keep(w.compressor.Flush())
	}
	return w.fault()
}

// Close flushes and ends the capture. It closes what Create opened.
func (w *Writer) Close() error {
	if w.begunFile() {
		w.finish()
	}
	return w.fault()
}

// finish ends the file, or the stream.
func (w *Writer) finish() {
	w.complete()
	w.send()
	if w.compressor != nil {
		w.keep(w.compressor.Close())
	}
	if w.file != nil {
		w.keep(w.file.Close())
	}
}

// complete makes a capture of what has no frame yet.
func (w *Writer) complete() {
	if w.form != Pcapng && !w.begun {
		w.pcapHeader(dissect.LinkEthernet)
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
	if w.snap > 0 {
		in.SnapLen = w.snap
	}
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

// write writes bytes that are not part of a frame.
func (w *Writer) write(b []byte) { w.collect(append(w.buf, b...)) }

// collect takes the buffer back, with what was appended to it, and writes it out
// once it is worth it.
func (w *Writer) collect(b []byte) {
	w.buf = b
	if len(b) >= outputSize {
		w.send()
	}
}

// send writes out what was collected.
func (w *Writer) send() {
	if w.err == nil && len(w.buf) > 0 {
		_, w.err = w.dst.Write(w.buf)
	}
	w.buf = w.buf[:0]
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
