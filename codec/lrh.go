package codec

// LRH is the Local Route Header, the first header on an InfiniBand link
// (IBA 7.7).
//
//	+-------+-------+-------+---+---+-------------------------------+
//	|  VL   | LVer  |  SL   |rsv|LNH|             DLID              |
//	+-------+-+-----+-------+---+---+-------------------------------+
//	|  rsv 5  |       PktLen        |             SLID              |
//	+---------+---------------------+-------------------------------+
type LRH struct {
	VL     uint8 // virtual lane, 4 bits
	LVer   uint8 // link version, 4 bits
	SL     uint8 // service level, 4 bits
	Rsv2   uint8
	LNH    uint8 // link next header, 2 bits: LNHBTH or LNHGRH lead to a transport packet
	DLID   uint16
	Rsv5   uint8
	PktLen uint16 // 11 bits: 4-byte words from the LRH up to and with the ICRC
	SLID   uint16
}

// Values of LNH that lead to a BTH: at once, or behind a GRH.
const (
	LNHBTH = 2
	LNHGRH = 3
)

// Decode reads the header from the start of b.
func (h *LRH) Decode(b []byte) error {
	if len(b) < 8 {
		return truncated(HeaderLRH, len(b))
	}
	h.VL, h.LVer = b[0]>>4, b[0]&15
	h.SL, h.Rsv2, h.LNH = b[1]>>4, b[1]>>2&3, b[1]&3
	h.DLID, h.SLID = be.Uint16(b[2:]), be.Uint16(b[6:])
	h.Rsv5, h.PktLen = b[4]>>3, be.Uint16(b[4:])&0x7ff
	return nil
}

// AppendBinary appends the header's 8 bytes to b, or returns ErrRange.
func (h *LRH) AppendBinary(b []byte) ([]byte, error) {
	switch {
	case h.VL > 15:
		return b, outOfRange(HeaderLRH, "VL", uint64(h.VL), 4)
	case h.LVer > 15:
		return b, outOfRange(HeaderLRH, "LVer", uint64(h.LVer), 4)
	case h.SL > 15:
		return b, outOfRange(HeaderLRH, "SL", uint64(h.SL), 4)
	case h.Rsv2 > 3:
		return b, outOfRange(HeaderLRH, "Rsv2", uint64(h.Rsv2), 2)
	case h.LNH > 3:
		return b, outOfRange(HeaderLRH, "LNH", uint64(h.LNH), 2)
	case h.Rsv5 > 31:
		return b, outOfRange(HeaderLRH, "Rsv5", uint64(h.Rsv5), 5)
	case h.PktLen > 0x7ff:
		return b, outOfRange(HeaderLRH, "PktLen", uint64(h.PktLen), 11)
	}
	b = append(b, h.VL<<4|h.LVer, h.SL<<4|h.Rsv2<<2|h.LNH)
	b = be.AppendUint16(b, h.DLID)
	b = be.AppendUint16(b, uint16(h.Rsv5)<<11|h.PktLen)
	return be.AppendUint16(b, h.SLID), nil
}
