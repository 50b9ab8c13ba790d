package capture

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/rdmadump/rdmadump/dissect"
)

// Form is the kind of file that a Writer writes.
type Form uint8

// The forms.
const (
	Pcapng    Form = iota // times in nanoseconds
	PcapMicro             // pcap with times in microseconds, which everything reads
	PcapNano              // pcap with times in nanoseconds
)

// FormOf is what a file name asks for: the pcap form where it ends in .pcap, or
// .cap, before a .gz or .zst; else Pcapng.
func FormOf(name string, pcap Form) Form {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".zst"), ".gz")
	if strings.HasSuffix(name, ".pcap") || strings.HasSuffix(name, ".cap") {
		return pcap
	}
	return Pcapng
}

// ErrLinkType is wrapped by the error about a frame that a pcap file cannot
// hold: all of its frames are of the link type of the first one.
var ErrLinkType = errors.New("a pcap file holds frames of one link type")

// ErrTime is wrapped by the error about a time that a pcap file cannot hold: it has
// 32 bits for the seconds since 1970.
var ErrTime = errors.New("a pcap file holds no times behind 2106")

// writePcap writes a frame as
//
//	+---------------------------------------------------------------+
//	|                          seconds                              |
//	|                 microseconds or nanoseconds                   |
//	|                        captured length                        |
//	|                       length on the wire                      |
//	|                         packet data ...
func (w *Writer) writePcap(f *dissect.Frame, data []byte) {
	if !w.begun {
		w.pcapHeader(f.Link)
	} else if f.Link != w.last.link {
		w.keep(fmt.Errorf("%w: %v, then %v", ErrLinkType, w.last.link, f.Link))
		return
	}
	if w.time/1e9 > math.MaxUint32 {
		w.keep(fmt.Errorf("%w, not %s", ErrTime, time.Unix(0, f.Time).UTC().Format(time.RFC3339)))
		return
	}
	fraction := w.time % 1e9
	if w.form == PcapMicro {
		fraction /= 1000
	}
	b := le.AppendUint32(w.buf, uint32(w.time/1e9))
	b = le.AppendUint32(b, uint32(fraction))
	b = le.AppendUint32(b, uint32(len(data)))
	b = le.AppendUint32(b, uint32(min(max(f.WireLen, len(f.Data)), math.MaxUint32)))
	w.collect(append(b, data...))
}

// pcapHeader writes the header of a pcap file (see Reader.fileHeader).
func (w *Writer) pcapHeader(link dissect.LinkType) {
	w.begun, w.last.link = true, link
	magic, snap := uint32(0xa1b2c3d4), w.snap
	if w.form == PcapNano {
		magic = 0xa1b23c4d
	}
	if snap == 0 {
		snap = 262144 // what libpcap takes for "everything"
	}
	b := le.AppendUint32(nil, magic)
	b = le.AppendUint16(b, 2)
	b = le.AppendUint16(b, 4)
	b = le.AppendUint64(b, 0)
	b = le.AppendUint32(b, snap)
	w.write(le.AppendUint32(b, uint32(link)))
}
