package capture

import (
	"fmt"

	"github.com/rdmadump/rdmadump/dissect"
)

// Block types of pcapng that are read; every other type is passed over.
const (
	blockSection    = 0x0a0d0d0a // reads the same in both byte orders
	blockInterface  = 1
	blockPacket     = 2 // obsolete
	blockSimple     = 3
	blockStatistics = 5
	blockEnhanced   = 6
)

// framing is the type and the two lengths of a block, in bytes.
const framing = 12

// leastBlock is the length of a block with all its fields and no options or
// packet data; false for a type that is not read.
func leastBlock(kind uint32) (uint32, bool) {
	switch kind {
	case blockEnhanced, blockPacket:
		return framing + 20, true
	case blockSection:
		return framing + 16, true
	case blockStatistics:
		return framing + 12, true
	case blockInterface:
		return framing + 8, true
	case blockSimple:
		return framing + 4, true
	}
	return framing, false
}

var blockNames = map[uint32]string{
	blockSection:    "section header block",
	blockInterface:  "interface description block",
	blockPacket:     "packet block",
	blockSimple:     "simple packet block",
	blockStatistics: "interface statistics block",
	blockEnhanced:   "enhanced packet block",
}

// blockName is what messages call a block type.
func blockName(kind uint32) string {
	if name, ok := blockNames[kind]; ok {
		return name
	}
	return fmt.Sprintf("block of type %#x", kind)
}

// byteOrderMagic is the third field of a section, in its byte order.
const byteOrderMagic = 0x1a2b3c4d

// firstSection reads the section header that every pcapng file begins with.
func (r *Reader) firstSection() error {
	b, err := r.block(blockSection)
	if err != nil {
		return err
	}
	return r.passSection(b)
}

// nextBlock reads blocks up to and with the next one that holds a packet:
//
//	+---------------------------------------------------------------+
//	|                          block type                           |
//	|                      block total length                       |
//	+---------------------------------------------------------------+
//	|                body, padded to 32 bits ...
//	+---------------------------------------------------------------+
//	|                      block total length                       |
//	+---------------------------------------------------------------+
func (r *Reader) nextBlock(f *dissect.Frame) error {
	for {
		head := r.win.peek(8)
		if len(head) < 8 {
			if len(head) == 0 {
				return r.end()
			}
			return r.short("block header", r.win.offset(), len(head), 8)
		}
		kind := r.u32(head)
		b, err := r.block(kind)
		if err != nil {
			return err
		}
		switch kind {
		case blockEnhanced:
			return r.enhancedPacket(b, f)
		case blockPacket:
			return r.obsoletePacket(b, f)
		case blockSimple:
			return r.simplePacket(b, f)
		case blockSection:
			err = r.passSection(b)
		case blockInterface:
			err = r.passInterface(b)
		case blockStatistics:
			err = r.passStatistics(b)
		}
		if err != nil {
			return err
		}
	}
}

// block returns the block at the window's start, whole, framing included,
// without passing it. Its lengths are sound and its fields are there. A block
// that is not read is passed, and nothing returned.
func (r *Reader) block(kind uint32) ([]byte, error) {
	if kind == blockSection {
		if err := r.sectionOrder(); err != nil {
			return nil, err
		}
	}
	least, read := leastBlock(kind)
	total := r.u32(r.win.peek(8)[4:])
	if total < least || total%4 != 0 || read && total > maxRecord {
		return nil, r.wrongLength(kind, total, least)
	}
	if !read {
		return nil, r.passBlock(kind, total)
	}
	b := r.win.peek(int(total))
	if len(b) < int(total) {
		return nil, r.short(blockName(kind), r.win.offset(), len(b), int(total))
	}
	if trailer := r.u32(b[total-4:]); trailer != total {
		return nil, r.unequal(kind, r.win.offset()+int64(total)-4, total, trailer)
	}
	return b, nil
}

// wrongLength ends reading at a block whose length cannot be true.
func (r *Reader) wrongLength(kind, total, least uint32) error {
	why := fmt.Sprintf("more than the %d that are believed", maxRecord)
	switch {
	case total < least:
		why = fmt.Sprintf("less than its %d", least)
	case total%4 != 0:
		why = "no multiple of 4"
	}
	return r.damaged("block total length", r.win.offset()+4, "of the %s is %d, %s", blockName(kind), total, why)
}

// passBlock passes a block that is not read, of whatever length, holding no
// more of it than the window does.
func (r *Reader) passBlock(kind, total uint32) error {
	start := r.win.offset()
	have := r.win.skip(int64(total) - 4)
	end := r.win.peek(4)
	if len(end) < 4 {
		return r.short(blockName(kind), start, int(have)+len(end), int(total))
	}
	if trailer := r.u32(end); trailer != total {
		return r.unequal(kind, r.win.offset(), total, trailer)
	}
	r.win.pass(4)
	return nil
}

// unequal ends reading at a block whose lengths differ, so that where the next
// one begins is a guess.
func (r *Reader) unequal(kind uint32, offset int64, head, trailer uint32) error {
	return r.damaged("block total length", offset, "of the %s is %d at its end and %d at its start", blockName(kind), trailer, head)
}
