package codec

// FETH is the Flush Extended Transport Header (IBA annex A19).
//
//	+---------------------------------------------------+---+-------+
//	|                       rsv 26                      |SEL|  PLT  |
//	+---------------------------------------------------+---+-------+
type FETH struct {
	Rsv26 uint32 // 26 bits
	SEL   uint8  // selectivity, 2 bits: 0 memory range, 1 memory region
	PLT   uint8  // placement type, 4 bits: 1 global visibility, 2 persistence
}

// Decode reads the header from the start of b.
func (h *FETH) Decode(b []byte) error {
	if len(b) < 4 {
		return truncated(HeaderFETH, len(b))
	}
	w := be.Uint32(b)
	h.Rsv26, h.SEL, h.PLT = w>>6, uint8(w>>4)&3, uint8(w)&15
	return nil
}

// AppendBinary appends the header's 4 bytes to b, or returns ErrRange.
func (h *FETH) AppendBinary(b []byte) ([]byte, error) {
	switch {
	case h.Rsv26 >= 1<<26:
		return b, outOfRange(HeaderFETH, "Rsv26", uint64(h.Rsv26), 26)
	case h.SEL > 3:
		return b, outOfRange(HeaderFETH, "SEL", uint64(h.SEL), 2)
	case h.PLT > 15:
		return b, outOfRange(HeaderFETH, "PLT", uint64(h.PLT), 4)
	}
	return be.AppendUint32(b, h.Rsv26<<6|uint32(h.SEL)<<4|uint32(h.PLT)), nil
}
