package capture

import "github.com/rdmadump/rdmadump/dissect"

// enhancedPacket reads
//
//	+---------------------------------------------------------------+
//	|                               6                               |
//	|                      block total length                       |
//	|                         interface ID                          |
//	|                     timestamp, upper half                     |
//	|                     timestamp, lower half                     |
//	|                        captured length                        |
//	|                       length on the wire                      |
//	|               packet data, padded to 32 bits ...
//	|                            options ...
func (r *Reader) enhancedPacket(b []byte, f *dissect.Frame) error {
	id := r.u32(b[8:])
	in, err := r.iface(id)
	if err != nil {
		return err
	}
	return r.packet(b, f, in, r.section+int(id))
}

// obsoletePacket reads the block that Enhanced Packet Blocks have replaced. It
// differs in one line, where the drop count is of packets lost before this one:
//
//	|         interface ID          |          drop count           |
func (r *Reader) obsoletePacket(b []byte, f *dissect.Frame) error {
	id := uint32(r.u16(b[8:]))
	in, err := r.iface(id)
	if err != nil {
		return err
	}
	drops := r.u16(b[10:])
	if err := r.packet(b, f, in, r.section+int(id)); err != nil {
		return err
	}
	if drops != 0xffff { // not known
		in.between = addSaturating(in.between, uint64(drops))
	}
	return nil
}

// packet fills f from the fields that both have from the timestamp on.
func (r *Reader) packet(b []byte, f *dissect.Frame, in *iface, index int) error {
	const data = 28 // bytes before the packet data
	captured := r.u32(b[20:])
	if room := uint32(len(b) - data - 4); captured > room {
		return r.damaged("captured length", r.win.offset()+20, "%d is more than the %s that the block has for it", captured, count(room, "byte"))
	}
	end := data + int(captured)
	if options := padded(end); options+4 < len(b) {
		r.dropCount(b[options:len(b)-4], in)
	}
	r.win.pass(len(b))
	r.frames++
	f.Data = b[data:end:end]
	f.WireLen = wireLen(r.u32(b[24:]), int(captured))
	f.Time = in.clock.nanoseconds(uint64(r.u32(b[12:]))<<32 | uint64(r.u32(b[16:])))
	f.Link = in.Link
	f.Number = r.frames
	f.Interface = index
	return nil
}

// dropCount adds epb_dropcount, the packets lost since the interface's last
// one. The packet is good whatever its options are, so a fault in them is none
// of the capture.
func (r *Reader) dropCount(options []byte, in *iface) {
	for len(options) >= 4 {
		code, length := r.u16(options), int(r.u16(options[2:]))
		if code == 0 || 4+length > len(options) {
			return
		}
		if code == 4 && length == 8 {
			in.between = addSaturating(in.between, r.u64(options[4:]))
		}
		options = options[min(4+padded(length), len(options)):]
	}
}

// simplePacket reads
//
//	+---------------------------------------------------------------+
//	|                               3                               |
//	|                      block total length                       |
//	|                       length on the wire                      |
//	|               packet data, padded to 32 bits ...
//
// It is of the section's first interface, whose snaplen is the only word on how
// much was captured, and has no time: f.Time is 0.
func (r *Reader) simplePacket(b []byte, f *dissect.Frame) error {
	const data = 12
	if r.section == len(r.interfaces) {
		return r.damaged("simple packet block", r.win.offset(), "comes before any interface description block")
	}
	in := &r.interfaces[r.section]
	wire := r.u32(b[8:])
	captured := wire
	if in.SnapLen != 0 {
		captured = min(captured, in.SnapLen)
	}
	if room := uint32(len(b) - data - 4); captured > room {
		return r.damaged("length on the wire", r.win.offset()+8, "%d is more than the %s that the block has for it", captured, count(room, "byte"))
	}
	end := data + int(captured)
	r.win.pass(len(b))
	r.frames++
	f.Data = b[data:end:end]
	f.WireLen = wireLen(wire, int(captured))
	f.Time = 0
	f.Link = in.Link
	f.Number = r.frames
	f.Interface = r.section
	return nil
}
