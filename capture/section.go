package capture

import (
	"bytes"

	"github.com/rdmadump/rdmadump/dissect"
)

const (
	// maxInterfaces bounds what is kept of a capture with section after
	// section; each describes its interfaces anew.
	maxInterfaces = 1 << 16

	maxInterfaceName = 255 // bytes kept of if_name
)

// iface is an interface and what is needed to read its packets.
type iface struct {
	Interface
	clock clock

	ifDrop, osDrop uint64 // largest count of its statistics blocks
	between        uint64 // sum of the counts that came with its packets
}

// drops are the packets that interface and operating system lost. Statistics
// and packets count the same losses, so the larger one holds.
func (in *iface) drops() uint64 {
	return max(addSaturating(in.ifDrop, in.osDrop), in.between)
}

// sectionOrder takes the byte order from the section header at the window's
// start; its length is in that order already.
func (r *Reader) sectionOrder() error {
	b := r.win.peek(12)
	if len(b) < 12 {
		return r.short("section header block", r.win.offset(), len(b), 28)
	}
	for _, big := range [...]bool{false, true} {
		r.big = big
		if r.u32(b[8:]) == byteOrderMagic {
			return nil
		}
	}
	return r.damaged("byte-order magic", r.win.offset()+8, "is % x", b[8:12])
}

// passSection begins a section, whose interfaces are counted from 0 again:
//
//	+---------------------------------------------------------------+
//	|                          0x0a0d0d0a                           |
//	|                      block total length                       |
//	|                       byte-order magic                        |
//	|         major version         |         minor version         |
//	|                        section length                         |
//	|                                                               |
//	|                            options ...
//
// The section length is not needed, and seldom set.
func (r *Reader) passSection(b []byte) error {
	if major := r.u16(b[12:]); major != 1 {
		return r.damaged("pcapng version", r.win.offset()+12, "%d.%d is not supported, only version 1 is", major, r.u16(b[14:]))
	}
	r.section = len(r.interfaces)
	r.win.pass(len(b))
	return nil
}

// passInterface adds an interface to the section:
//
//	+---------------------------------------------------------------+
//	|                               1                               |
//	|                      block total length                       |
//	|           link type           |           reserved            |
//	|                            snaplen                            |
//	|                            options ...
func (r *Reader) passInterface(b []byte) error {
	if len(r.interfaces) == maxInterfaces {
		return r.damaged("interface description block", r.win.offset(), "is one more than the %d that are believed", maxInterfaces)
	}
	in := iface{
		Interface: Interface{Link: dissect.LinkType(r.u16(b[8:])), SnapLen: r.u32(b[12:])},
		clock:     microseconds,
	}
	err := r.options(b, 16, func(code uint16, value []byte) string {
		switch code {
		case 2: // if_name
			value, _, _ = bytes.Cut(value, []byte{0})
			in.Name = string(value[:min(len(value), maxInterfaceName)])
		case 9: // if_tsresol
			if len(value) != 1 {
				return "if_tsresol"
			}
			offset := in.clock.offset
			in.clock = newClock(value[0])
			in.clock.offset = offset
		case 14: // if_tsoffset, seconds
			if len(value) != 8 {
				return "if_tsoffset"
			}
			in.clock.offset = int64(r.u64(value))
		}
		return ""
	})
	if err != nil {
		return err
	}
	r.interfaces = append(r.interfaces, in)
	r.win.pass(len(b))
	return nil
}

// passStatistics takes the drop counts of an interface, which count from the
// start of its capture on:
//
//	+---------------------------------------------------------------+
//	|                               5                               |
//	|                      block total length                       |
//	|                         interface ID                          |
//	|                     timestamp, upper half                     |
//	|                     timestamp, lower half                     |
//	|                            options ...
//
// Those of an interface that the section has not are no fault, as in Wireshark,
// since no frame hangs on them; what they count is lost all the same.
func (r *Reader) passStatistics(b []byte) error {
	in := &r.stray
	if id := r.u32(b[8:]); uint64(id) < uint64(len(r.interfaces)-r.section) {
		in = &r.interfaces[r.section+int(id)]
	}
	err := r.options(b, 20, func(code uint16, value []byte) string {
		switch code {
		case 5: // isb_ifdrop
			if len(value) != 8 {
				return "isb_ifdrop"
			}
			in.ifDrop = max(in.ifDrop, r.u64(value))
		case 7: // isb_osdrop
			if len(value) != 8 {
				return "isb_osdrop"
			}
			in.osDrop = max(in.osDrop, r.u64(value))
		}
		return ""
	})
	if err != nil {
		return err
	}
	r.win.pass(len(b))
	return nil
}

// iface is the interface that a block names by its index in the section.
func (r *Reader) iface(id uint32) (*iface, error) {
	if n := len(r.interfaces) - r.section; uint64(id) >= uint64(n) {
		return nil, r.damaged("interface ID", r.win.offset()+8, "%d is not among the %s of the section", id, count(n, "interface"))
	}
	return &r.interfaces[r.section+int(id)], nil
}

// options calls visit for each option of block b from the byte at on:
//
//	+---------------------------------------------------------------+
//	|             code              |            length             |
//	|                 value, padded to 32 bits ...
//
// Visit returns the name of an option whose length is wrong. That is a fault, as
// in libpcap: what the option says, such as the unit of all times, is not known.
func (r *Reader) options(b []byte, at int, visit func(code uint16, value []byte) string) error {
	end := len(b) - 4
	for at+4 <= end {
		code, length := r.u16(b[at:]), int(r.u16(b[at+2:]))
		if code == 0 { // opt_endofopt
			return nil
		}
		if at+4+length > end {
			return r.damaged("option", r.win.offset()+int64(at), "%d of %s reaches past its block", code, count(length, "byte"))
		}
		if wrong := visit(code, b[at+4:at+4+length]); wrong != "" {
			return r.damaged("option "+wrong, r.win.offset()+int64(at), "has %s", count(length, "byte"))
		}
		at += 4 + padded(length)
	}
	return nil
}

// padded is n rounded up to 32 bits.
func padded(n int) int { return (n + 3) &^ 3 }
