package capture

import (
	"encoding/binary"
	"io"
	"math"
	"math/bits"
	"os"

	"github.com/rdmadump/rdmadump/capture/live"
	"github.com/rdmadump/rdmadump/dissect"
)

// Reader reads the frames of one capture. It is not safe for concurrent use.
type Reader struct {
	name   string
	file   *os.File // to be closed with the reader, nil if it is not ours
	pump   *pump    // nil if nothing runs beside the reader
	win    window
	err    error // what Next returns from now on
	frames int   // read so far
	opened bool  // the file header has been read

	format     string
	ng         bool       // pcapng
	big        bool       // fields are big-endian, in pcapng those of the current section
	form       recordForm // of pcap
	interfaces []iface    // of all sections
	section    int        // index of the current section's first interface
	stray      iface      // statistics of interfaces that are not there

	live *live.Capture // of interfaces, nil for files
}

// Info describes a capture as far as it has been read.
type Info struct {
	Name       string      // as given to Open or NewReader
	Format     string      // "pcap", "pcapng" or "live"
	Interfaces []Interface // indexed by dissect.Frame.Interface; one for pcap
	Frames     int         // read so far
	Drops      uint64      // packets that the capturing side lost, over all interfaces
}

// Interface is one capturing interface.
type Interface struct {
	Name    string           // if_name, empty if not given
	Link    dissect.LinkType // of its frames
	SnapLen uint32           // most bytes of a frame that were captured, 0 for no limit
	Drops   uint64           // packets lost by interface and operating system as far as reported so far
}

// Next reads the next frame into f and sets all of it but f.File. f.Data is
// borrowed: it is valid until the next call of Next or Close. The error is
// io.EOF at the end of a whole capture, else an *Error; then f is unchanged, and
// every further call returns the same error.
func (r *Reader) Next(f *dissect.Frame) error {
	if r.err != nil {
		return r.err
	}
	if r.ng {
		return r.nextBlock(f)
	}
	if r.live != nil {
		return r.nextFrame(f)
	}
	return r.nextRecord(f)
}

// Info tells what is known so far; interfaces and drop counts may still come
// until Next has returned an error.
func (r *Reader) Info() Info {
	if r.live != nil {
		r.tellLive()
	}
	info := Info{Name: r.name, Format: r.format, Frames: r.frames, Interfaces: make([]Interface, len(r.interfaces))}
	for i := range r.interfaces {
		in := r.interfaces[i].Interface
		in.Drops = r.interfaces[i].drops()
		info.Interfaces[i] = in
		info.Drops = addSaturating(info.Drops, in.Drops)
	}
	info.Drops = addSaturating(info.Drops, r.stray.drops())
	return info
}

// end ends reading at the end of the last record.
func (r *Reader) end() error {
	if !r.win.ended() {
		return r.stopped()
	}
	r.err = io.EOF
	return io.EOF
}

// u16 and u32 read a field in the byte order of the capture or section.
func (r *Reader) u16(b []byte) uint16 {
	v := binary.LittleEndian.Uint16(b)
	if r.big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

func (r *Reader) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if r.big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (r *Reader) u64(b []byte) uint64 {
	v := binary.LittleEndian.Uint64(b)
	if r.big {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// wireLen is the length on the wire as a file gives it, which some writers set
// too small or leave zero.
func wireLen(stated uint32, captured int) int {
	return max(captured, int(min(uint64(stated), math.MaxInt)))
}

func addSaturating(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}
