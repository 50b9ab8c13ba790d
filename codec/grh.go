package codec

// GRH is the Global Route Header of RoCEv1 and of routed InfiniBand, laid out
// like an IPv6 header (IBA 8.3).
//
//	+-------+---------------+---------------------------------------+
//	| IPVer |    TClass     |               FlowLabel               |
//	+-------+---------------+-------+---------------+---------------+
//	|            PayLen             |    NxtHdr     |    HopLmt     |
//	+-------------------------------+---------------+---------------+
//	|                       SGID, 128 bits                          |
//	+---------------------------------------------------------------+
//	|                       DGID, 128 bits                          |
//	+---------------------------------------------------------------+
type GRH struct {
	IPVer     uint8  // 6; 4 bits
	TClass    uint8  // traffic class: DSCP and ECN
	FlowLabel uint32 // 20 bits
	PayLen    uint16 // bytes after the GRH up to and with the ICRC
	NxtHdr    uint8  // NxtHdrIBA where a BTH follows
	HopLmt    uint8
	SGID      [16]byte
	DGID      [16]byte
}

// NxtHdrIBA in GRH.NxtHdr says that a BTH follows.
const NxtHdrIBA = 0x1b

// Decode reads the header from the start of b.
func (h *GRH) Decode(b []byte) error {
	if len(b) < 40 {
		return truncated(HeaderGRH, len(b))
	}
	w := be.Uint32(b)
	h.IPVer, h.TClass, h.FlowLabel = uint8(w>>28), uint8(w>>20), w&0xfffff
	h.PayLen, h.NxtHdr, h.HopLmt = be.Uint16(b[4:]), b[6], b[7]
	h.SGID, h.DGID = [16]byte(b[8:24]), [16]byte(b[24:40])
	return nil
}

// AppendBinary appends the header's 40 bytes to b, or returns ErrRange.
func (h *GRH) AppendBinary(b []byte) ([]byte, error) {
	switch {
	case h.IPVer > 15:
		return b, outOfRange(HeaderGRH, "IPVer", uint64(h.IPVer), 4)
	case h.FlowLabel > 0xfffff:
		return b, outOfRange(HeaderGRH, "FlowLabel", uint64(h.FlowLabel), 20)
	}
	b = be.AppendUint32(b, uint32(h.IPVer)<<28|uint32(h.TClass)<<20|h.FlowLabel)
	b = be.AppendUint16(b, h.PayLen)
	b = append(b, h.NxtHdr, h.HopLmt)
	b = append(b, h.SGID[:]...)
	return append(b, h.DGID[:]...), nil
}
