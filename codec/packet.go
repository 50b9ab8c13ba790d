package codec

import "fmt"

// Packet is a transport packet from the BTH to the ICRC. Reuse one: Decode
// overwrites it and does not allocate. A header counts only if Has says it is
// there; the structs of the others hold whatever was decoded before.
type Packet struct {
	Headers HeaderSet // what is there, the BTH included

	BTH          BTH
	RDETH        RDETH
	DETH         DETH
	XRCETH       XRCETH
	FETH         FETH
	RETH         RETH
	AtomicETH    AtomicETH
	AETH         AETH
	TCAETH       TCAETH
	AtomicAckETH AtomicAckETH
	SackETH      SackETH
	MPETH        MPETH
	IRNETH       IRNETH
	ImmDt        ImmDt
	IETH         IETH
	CNP          CNP

	// Payload, Pad, ICRC and CutICRC alias what was decoded. After an error
	// Payload is everything from the first header that could not be decoded on.
	Payload []byte
	Pad     []byte
	ICRC    []byte // 4 bytes, least significant first; nil when it is not there in full
	CutICRC []byte // the up to 3 bytes of the ICRC that a cut capture has left

	// PayloadLen is the payload's length on the wire, which a capture that was
	// cut short holds only in part.
	PayloadLen int

	raw []byte
}

const (
	bthLen  = 12
	icrcLen = 4
)

// Decode reads a transport packet. b begins with the BTH and may be shorter
// than wireLen, the length the packet had on the wire from the BTH to the ICRC;
// what exceeds it is ignored. A capture that was cut short has no ICRC, and its
// last bytes are never taken for one.
//
// Errors wrap ErrTruncated (a header or the ICRC is not whole), ErrOpcode, or
// ErrLength (pad or payload do not fit the operation). Whatever came before the
// fault is decoded all the same, and AppendBinary gives the same bytes back.
func (p *Packet) Decode(b []byte, wireLen int) error {
	wireLen = max(wireLen, 0)
	if len(b) > wireLen {
		b = b[:wireLen]
	}
	p.Headers, p.Payload, p.Pad, p.ICRC, p.CutICRC, p.PayloadLen, p.raw = 0, b, nil, nil, nil, wireLen, b
	if err := p.BTH.Decode(b); err != nil {
		return err
	}
	p.Headers = 1 << HeaderBTH
	body := wireLen - icrcLen // where the ICRC begins
	if body < bthLen {
		return p.fault(bthLen, wireLen, fmt.Errorf("ICRC: %w: %d of %d bytes", ErrTruncated, wireLen-bthLen, icrcLen))
	}
	if len(b) == wireLen {
		p.ICRC = b[body:]
	} else if len(b) > body {
		p.CutICRC = b[body:]
	}
	op := p.BTH.Opcode
	info := &opcodes[op]
	if !info.known {
		return p.fault(bthLen, body, fmt.Errorf("BTH: %w: %#02x", ErrOpcode, uint8(op)))
	}
	pad := int(p.BTH.PadCnt)
	if op == OpcodeCNP {
		pad = 0 // its 16 bytes are fixed, whatever PadCnt says
	}
	have := min(body, len(b))
	off := bthLen
	for left := p.present(info, body-pad) &^ (1 << HeaderBTH); left != 0; left &= left - 1 {
		h := left.first()
		n := h.Len()
		if h == HeaderTCAETH {
			n = p.TCAETH.Len()
		}
		if have-off < n {
			return p.fault(off, body, truncated(h, max(have-off, 0)))
		}
		p.decodeHeader(h, b[off:off+n])
		p.Headers |= 1 << h
		off += n
	}
	n := body - pad - off
	if n < 0 {
		return p.fault(off, body, fmt.Errorf("BTH: %w: PadCnt is %d, with %s before the ICRC", ErrLength, pad, bytesCount(body-off)))
	}
	if n > 0 && info.place&payload == 0 {
		return p.fault(off, body, fmt.Errorf("BTH: %w: %s behind the headers of %s", ErrLength, bytesCount(n), op))
	}
	p.PayloadLen = n
	p.Payload = b[off:min(off+n, len(b))]
	p.Pad = b[min(off+n, len(b)):have]
	return nil
}

// present is the set of headers that the opcode asks for, with the T/C AETH
// where the length of an acknowledgement shows it; end is where payload ends.
func (p *Packet) present(info *opcodeInfo, end int) HeaderSet {
	if info.reports {
		switch end - info.len {
		case tcaethShort:
			p.TCAETH.Short = true
			return info.headers | 1<<HeaderTCAETH
		case layouts[HeaderTCAETH].len:
			p.TCAETH.Short = false
			return info.headers | 1<<HeaderTCAETH
		}
	}
	return info.headers
}

// fault leaves everything from off to end as payload, so that nothing is lost.
func (p *Packet) fault(off, end int, err error) error {
	p.Payload = p.raw[min(off, len(p.raw)):min(end, len(p.raw))]
	p.PayloadLen = end - off
	return err
}

// decodeHeader reads a header that is there in full, so that it cannot fail.
func (p *Packet) decodeHeader(h Header, b []byte) {
	switch h {
	case HeaderRDETH:
		_ = p.RDETH.Decode(b)
	case HeaderDETH:
		_ = p.DETH.Decode(b)
	case HeaderXRCETH:
		_ = p.XRCETH.Decode(b)
	case HeaderFETH:
		_ = p.FETH.Decode(b)
	case HeaderRETH:
		_ = p.RETH.Decode(b)
	case HeaderAtomicETH:
		_ = p.AtomicETH.Decode(b)
	case HeaderAETH:
		_ = p.AETH.Decode(b)
	case HeaderTCAETH:
		_ = p.TCAETH.Decode(b)
	case HeaderAtomicAckETH:
		_ = p.AtomicAckETH.Decode(b)
	case HeaderSackETH:
		_ = p.SackETH.Decode(b)
	case HeaderMPETH:
		_ = p.MPETH.Decode(b)
	case HeaderIRNETH:
		_ = p.IRNETH.Decode(b)
	case HeaderImmDt:
		_ = p.ImmDt.Decode(b)
	case HeaderIETH:
		_ = p.IETH.Decode(b)
	case HeaderCNP:
		_ = p.CNP.Decode(b)
	}
}

// AppendBinary appends the packet to b: the BTH, the headers that Headers
// names, payload, pad and what there is of the ICRC, as they stand in the
// struct. It completes nothing, so that wrong packets can be made too. It
// returns ErrRange, and b unchanged, when a value does not fit its field.
func (p *Packet) AppendBinary(b []byte) ([]byte, error) {
	start := len(b)
	var err error
	for left := p.Headers; left != 0; left &= left - 1 {
		if b, err = p.appendHeader(b, left.first()); err != nil {
			return b[:start], err
		}
	}
	b = append(b, p.Payload...)
	b = append(b, p.Pad...)
	b = append(b, p.ICRC...)
	return append(b, p.CutICRC...), nil
}

func (p *Packet) appendHeader(b []byte, h Header) ([]byte, error) {
	switch h {
	case HeaderBTH:
		return p.BTH.AppendBinary(b)
	case HeaderRDETH:
		return p.RDETH.AppendBinary(b)
	case HeaderDETH:
		return p.DETH.AppendBinary(b)
	case HeaderXRCETH:
		return p.XRCETH.AppendBinary(b)
	case HeaderFETH:
		return p.FETH.AppendBinary(b)
	case HeaderRETH:
		return p.RETH.AppendBinary(b)
	case HeaderAtomicETH:
		return p.AtomicETH.AppendBinary(b)
	case HeaderAETH:
		return p.AETH.AppendBinary(b)
	case HeaderTCAETH:
		return p.TCAETH.AppendBinary(b)
	case HeaderAtomicAckETH:
		return p.AtomicAckETH.AppendBinary(b)
	case HeaderSackETH:
		return p.SackETH.AppendBinary(b)
	case HeaderMPETH:
		return p.MPETH.AppendBinary(b)
	case HeaderIRNETH:
		return p.IRNETH.AppendBinary(b)
	case HeaderImmDt:
		return p.ImmDt.AppendBinary(b)
	case HeaderIETH:
		return p.IETH.AppendBinary(b)
	case HeaderCNP:
		return p.CNP.AppendBinary(b)
	}
	return b, fmt.Errorf("%s: %w: not part of a transport packet", h, ErrRange)
}

// Has reports whether the packet has the header.
func (p *Packet) Has(h Header) bool { return p.Headers.Has(h) }

// HeaderBytes are the bytes that a header was decoded from, nil when the
// packet does not have it or was not decoded. They alias what was given to Decode.
func (p *Packet) HeaderBytes(h Header) []byte {
	if !p.Has(h) {
		return nil
	}
	off, n := (p.Headers & (1<<h - 1)).Len(), h.Len()
	if p.Has(HeaderTCAETH) && p.TCAETH.Short {
		const missing = 30 - tcaethShort
		switch {
		case h == HeaderTCAETH:
			n -= missing
		case h > HeaderTCAETH:
			off -= missing
		}
	}
	if off+n > len(p.raw) {
		return nil // a packet that was put together, not decoded
	}
	return p.raw[off : off+n]
}
