package capture

import (
	"github.com/rdmadump/rdmadump/dissect"
)

const (
	fileHeaderLen     = 24
	recordHeaderLen   = 16
	modifiedHeaderLen = 24 // interface, protocol and packet type follow the lengths
)

// recordForm is what the magic number of a pcap file says of its records.
type recordForm struct {
	header   int   // bytes before the packet data
	fraction int64 // nanoseconds in a unit of the second part of the time
	limit    int   // longest packet that is believed
}

// pcapForms has the magic numbers that libpcap reads (sf-pcap.c). Of those it
// lists, 0xa1b234cd and 0xa12b3c4d were never seen in files and are not read.
var pcapForms = map[uint32]recordForm{
	0xa1b2c3d4: {header: recordHeaderLen, fraction: 1000},
	0xa1b23c4d: {header: recordHeaderLen, fraction: 1},
	0xa1b2cd34: {header: modifiedHeaderLen, fraction: 1000}, // Kuznetzov's patches to libpcap 0.4
}

// pcapMagic takes the byte order and form of records from the magic number, if
// it is one.
func (r *Reader) pcapMagic(magic []byte) bool {
	for _, big := range [...]bool{false, true} {
		r.big = big
		if form, ok := pcapForms[r.u32(magic)]; ok {
			r.form = form
			return true
		}
	}
	return false
}

// fileHeader reads the header of a pcap file:
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------------------------------+
//	|                          magic number                         |
//	|         major version         |         minor version         |
//	|                           reserved                            |
//	|                           reserved                            |
//	|                            snaplen                            |
//	| FCS |f|0 0 0 0 0 0 0 0 0 0 0 0|           link type           |
//	+---------------------------------------------------------------+
func (r *Reader) fileHeader() error {
	b := r.win.peek(fileHeaderLen)
	if len(b) < fileHeaderLen {
		return r.short("file header", 0, len(b), fileHeaderLen)
	}
	if major := r.u16(b[4:]); major != 2 {
		return r.damaged("pcap version", 4, "%d.%d is not supported, only version 2 is", major, r.u16(b[6:]))
	}
	in := iface{Interface: Interface{Link: dissect.LinkType(r.u32(b[20:]) & 0xffff), SnapLen: r.u32(b[16:])}}
	r.form.limit = packetLimit(in.SnapLen)
	r.interfaces = []iface{in}
	r.win.pass(fileHeaderLen)
	return nil
}

// packetLimit is the longest packet that an honest file with this snaplen has.
// Writers put in anything, so a small snaplen is no bound, and 0 is none at all.
func packetLimit(snaplen uint32) int {
	const ordinary = 256 << 10 // see maxRecord
	if snaplen == 0 {
		return maxRecord
	}
	return int(max(ordinary, min(snaplen, maxRecord)))
}

// nextRecord reads a record of a pcap file:
//
//	+---------------------------------------------------------------+
//	|                       time, seconds                           |
//	|                       time, micro- or nanoseconds             |
//	|                       captured length                         |
//	|                       length on the wire                      |
//	+---------------------------------------------------------------+
//	|                       packet data, not padded ...
func (r *Reader) nextRecord(f *dissect.Frame) error {
	header := r.form.header
	b := r.win.peek(header)
	if len(b) < header {
		if len(b) == 0 {
			return r.end()
		}
		return r.short("packet header", r.win.offset(), len(b), header)
	}
	captured := r.u32(b[8:])
	if captured > uint32(r.form.limit) {
		return r.damaged("captured length", r.win.offset()+8, "%d is more than a packet can have, which is %d", captured, r.form.limit)
	}
	end := header + int(captured)
	b = r.win.peek(end)
	if len(b) < end {
		return r.short("packet data", r.win.offset()+int64(header), len(b)-header, int(captured))
	}
	r.win.pass(end)
	r.frames++
	f.Data = b[header:end:end]
	f.WireLen = wireLen(r.u32(b[12:]), int(captured))
	f.Time = int64(r.u32(b))*1e9 + int64(r.u32(b[4:]))*r.form.fraction
	f.Link = r.interfaces[0].Link
	f.Number = r.frames
	f.Interface = 0
	return nil
}
