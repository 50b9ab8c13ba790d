package capture

import (
	"encoding/binary"
)

// The builders write captures field by field as the drafts lay them out, in
// either byte order.

var (
	little = binary.LittleEndian
	bigEnd = binary.BigEndian
)

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

type pcapBuilder struct {
	order byteOrder
	magic uint32
}

func (p pcapBuilder) file(link, snaplen uint32) []byte {
	out := p.order.AppendUint32(nil, p.magic)
	out = p.order.AppendUint16(out, 2)
	out = p.order.AppendUint16(out, 4)
	out = append(out, make([]byte, 8)...)
	out = p.order.AppendUint32(out, snaplen)
	return p.order.AppendUint32(out, link)
}

func (p pcapBuilder) record(out []byte, seconds, fraction, wire uint32, data []byte) []byte {
	for _, v := range []uint32{seconds, fraction, uint32(len(data)), wire} {
		out = p.order.AppendUint32(out, v)
	}
	if p.magic == 0xa1b2cd34 {
		out = append(out, 0xde, 0xad, 0xbe, 0xef, 0x08, 0x00, 0x01, 0x00)
	}
	return append(out, data...)
}

type option struct {
	code  uint16
	value []byte
}

type ngBuilder struct {
	order byteOrder
	out   []byte
}

// block appends a block; parts are uint16, uint32, uint64, []byte (padded) and
// option.
func (n *ngBuilder) block(kind uint32, parts ...any) {
	var body []byte
	for _, part := range parts {
		switch v := part.(type) {
		case uint16:
			body = n.order.AppendUint16(body, v)
		case uint32:
			body = n.order.AppendUint32(body, v)
		case uint64:
			body = n.order.AppendUint64(body, v)
		case []byte:
			body = append(append(body, v...), padding(v)...)
		case option:
			body = n.order.AppendUint16(body, v.code)
			body = n.order.AppendUint16(body, uint16(len(v.value)))
			body = append(append(body, v.value...), padding(v.value)...)
		}
	}
	total := uint32(12 + len(body))
	n.out = n.order.AppendUint32(n.out, kind)
	n.out = n.order.AppendUint32(n.out, total)
	n.out = append(n.out, body...)
	n.out = n.order.AppendUint32(n.out, total)
}

// padding makes b whole 32-bit words.
func padding(b []byte) []byte { return make([]byte, -len(b)&3) }

func (n *ngBuilder) section() {
	n.block(0x0a0d0d0a, uint32(0x1a2b3c4d), uint16(1), uint16(0), ^uint64(0))
}

func (n *ngBuilder) iface(link uint16, snaplen uint32, options ...option) {
	n.block(1, with([]any{link, uint16(0), snaplen}, options)...)
}

func (n *ngBuilder) enhanced(id uint32, units uint64, wire uint32, data []byte, options ...option) {
	n.block(6, with([]any{id, uint32(units >> 32), uint32(units), uint32(len(data)), wire, data}, options)...)
}

func (n *ngBuilder) obsolete(id, drops uint16, units uint64, wire uint32, data []byte) {
	n.block(2, id, drops, uint32(units>>32), uint32(units), uint32(len(data)), wire, data)
}

func (n *ngBuilder) simple(wire uint32, data []byte) { n.block(3, wire, data) }

func (n *ngBuilder) statistics(id uint32, options ...option) {
	n.block(5, with([]any{id, uint64(0)}, options)...)
}

// with adds options and the end of options to the fields of a block.
func with(fields []any, options []option) []any {
	for _, o := range options {
		fields = append(fields, o)
	}
	if len(options) > 0 {
		fields = append(fields, option{})
	}
	return fields
}

// count is an option with a 64-bit number in it.
func (n *ngBuilder) count(code uint16, v uint64) option {
	return option{code, n.order.AppendUint64(nil, v)}
}
