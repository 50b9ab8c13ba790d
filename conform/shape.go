package conform

import (
	"errors"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/transport"
)

// damaged judges a packet whose ICRC is wrong. Its receiver drops it.
func (c *Checker) damaged() {
	f := c.f
	w := (*flow)(nil)
	if f.Flow.Valid() {
		w = c.flowOf(f.Flow)
	} else if f.Sent.Valid() {
		w = c.flowOf(f.Sent)
	}
	if w == nil {
		return
	}
	if f.Role == dissect.Request && w.on {
		w.message.known = false
		w.previous.known = false
		if w.running && f.Seq >= w.cursor { // it was sent in its place, and is missing behind here
			w.cursor = f.Seq + 1
			w.running = f.BTH.Opcode.Verb() != codec.VerbRead
		}
	}
	kind := elseNoteThere
	if f.BTH.Opcode.Response() && f.BTH.Opcode != codec.OpcodeIRNReadAck && f.BTH.Opcode != codec.OpcodeIRNReadNack {
		kind = elseNoteBack
	}
	c.doubt(w, kind, icrcRight, "the ICRC is wrong: the packet was damaged before this point, if its sender did not make it so")
}

// shape judges a packet by itself: pad and reserved bits. It reports whether it
// found what err, the decoder's, means.
func (c *Checker) shape(err error) bool {
	w := (*flow)(nil)
	if c.f.Flow.Valid() {
		w = c.flowOf(c.f.Flow)
	}
	p := &c.packet
	if p.BTH.Opcode == codec.OpcodeCNP {
		if c.reservedBTH() != "" {
			c.found(w, reservedBits, Violates, c.reservedBTH())
		}
		return false
	}
	if errors.Is(err, codec.ErrLength) && p.BTH.PadCnt > 0 {
		c.found(w, padCount, Violates, err.Error())
		return true
	}
	if err == nil {
		c.pad(w)
	}
	if text := c.reservedBTH(); text != "" {
		c.found(w, reservedBits, Violates, text)
	}
	if text := c.reserved(); text != "" {
		c.found(w, reservedBits, Violates, text)
	}
	c.flags(w)
	return false
}

// pad judges the pad of a packet that decodes.
func (c *Checker) pad(w *flow) {
	p, op := &c.packet, c.f.BTH.Opcode
	switch n := c.f.Packet.WireLen; {
	case n%4 != 0 && p.Has(codec.HeaderTCAETH):
		c.found(w, padCount, Notes, say("a T/C AETH of %d bytes with PadCnt %d: the packet is no whole number of words", p.TCAETH.Len(), p.BTH.PadCnt))
	case n%4 != 0:
		c.found(w, padCount, Violates, say("PadCnt is %d behind %s, which does not fill a word", p.BTH.PadCnt, byteCount(p.PayloadLen)))
	case p.BTH.PadCnt != 0 && op.Payload() && !op.Ends():
		c.found(w, padCount, Violates, say("%s with PadCnt %d", op, p.BTH.PadCnt))
	}
}

// reservedBTH says which reserved bits of the BTH are set, in whatever transport.
func (c *Checker) reservedBTH() string {
	h := &c.packet.BTH
	switch {
	case h.TVer != 0:
		return say("BTH TVer is %d", h.TVer)
	case h.Rsv6 != 0:
		return say("the BTH's 6 reserved bits before DestQP are %#02x", h.Rsv6)
	case h.Rsv1 != 0 || h.Rsv4 != 0:
		return say("the BTH's reserved bits behind AckReq are %#02x", h.Rsv1<<6|h.Rsv4)
	}
	return ""
}

// flags judges the two bits that IBA reserves and MP-RDMA uses.
func (c *Checker) flags(w *flow) {
	h := &c.packet.BTH
	if !h.ReTx && !h.Synchronise {
		return
	}
	text := "the BTH's reserved bits behind AckReq are 0x20"
	if h.Synchronise {
		text = "the BTH's reserved bits behind AckReq are 0x10"
		if h.ReTx {
			text = "the BTH's reserved bits behind AckReq are 0x30"
		}
	}
	if w == nil {
		if c.f.Sent.Valid() { // its place will be known
			w = c.flowOf(c.f.Sent)
		} else if c.f.BTH.Opcode.Service() != codec.RC {
			c.found(nil, reservedBits, Violates, text)
		}
	}
	if w == nil {
		return
	}
	if w.handle.Transport() != "mp-rdma" {
		c.doubt(w, ifNoPaths, reservedBits, text)
	}
}

// reserved says which reserved bits behind the BTH are set.
func (c *Checker) reserved() string {
	p := &c.packet
	if p.Headers&reserving != 0 {
		if text := reservedIn(p); text != "" {
			return text
		}
	}
	if !p.Has(codec.HeaderAETH) {
		return ""
	}
	switch s := p.AETH.Syndrome; {
	case s&0x80 != 0:
		return say("the reserved bit of the AETH syndrome %#02x is set", uint8(s))
	case s.Kind() == codec.KindReserved:
		return say("the AETH syndrome %#02x is of the reserved kind", uint8(s))
	case s.Kind() == codec.KindNAK && s.Value() > 4:
		return say("the NAK code %d is reserved", s.Value())
	}
	return ""
}

// reservedIn says which reserved bits of headers that have some are set.
func reservedIn(p *transport.Packet) string {
	for _, h := range [...]struct {
		header codec.Header
		bits   uint32
	}{
		{codec.HeaderRDETH, uint32(p.RDETH.Rsv8)}, {codec.HeaderDETH, uint32(p.DETH.Rsv8)}, {codec.HeaderXRCETH, uint32(p.XRCETH.Rsv8)},
		{codec.HeaderFETH, p.FETH.Rsv26}, {codec.HeaderSackETH, uint32(p.SackETH.Rsv8)}, {codec.HeaderMPETH, uint32(p.MPETH.Rsv6)},
		{codec.HeaderIRNETH, uint32(p.IRNETH.Rsv8)}, {codec.HeaderTCAETH, p.TCAETH.Rsv24 | p.TCAETH.RsvCont},
	} {
		if p.Has(h.header) && h.bits != 0 {
			return say("reserved bits of %s are %#x", h.header, h.bits)
		}
	}
	return ""
}

// reserving is the headers with reserved bits, the BTH and the AETH apart.
var reserving = codec.Set(codec.HeaderRDETH, codec.HeaderDETH, codec.HeaderXRCETH, codec.HeaderFETH,
	codec.HeaderSackETH, codec.HeaderMPETH, codec.HeaderIRNETH, codec.HeaderTCAETH)
