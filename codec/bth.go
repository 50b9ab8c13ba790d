package codec

import "github.com/rdmadump/rdmadump/psn"

// BTH is the Base Transport Header (IBA 9.2).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------+-+-+---+-------+-------------------------------+
//	|    OpCode     |S|M|Pad| TVer  |             P_Key             |
//	+-+-+-----------+-+-+---+-------+-------------------------------+
//	|F|B|   rsv 6   |                    DestQP                     |
//	+-+-+-+-+-------+-----------------------------------------------+
//	|A|r|R|S| rsv 4 |                      PSN                      |
//	+-+-+-+-+-------+-----------------------------------------------+
//
// IBA reserves all seven bits behind A; R and S are MP-RDMA's ReTx and
// Synchronise.
type BTH struct {
	Opcode      Opcode
	SE          bool   // solicited event
	M           bool   // migration request
	PadCnt      uint8  // bytes between payload and ICRC, 0 to 3
	TVer        uint8  // transport version, 0; 4 bits
	PKey        uint16 // partition key
	FECN        bool   // forward explicit congestion notification
	BECN        bool   // backward explicit congestion notification
	Rsv6        uint8  // 6 bits
	DestQP      uint32 // destination queue pair; 24 bits
	AckReq      bool   // an acknowledgement is asked for
	Rsv1        uint8  // 1 bit
	ReTx        bool   // MP-RDMA: a retransmission
	Synchronise bool   // MP-RDMA: place only after everything before it
	Rsv4        uint8  // 4 bits
	PSN         psn.PSN
}

// Decode reads the header from the start of b.
func (h *BTH) Decode(b []byte) error {
	if len(b) < 12 {
		return truncated(HeaderBTH, len(b))
	}
	w0, w1, w2 := be.Uint32(b), be.Uint32(b[4:]), be.Uint32(b[8:])
	h.Opcode = Opcode(w0 >> 24)
	h.SE = w0&(1<<23) != 0
	h.M = w0&(1<<22) != 0
	h.PadCnt = uint8(w0>>20) & 3
	h.TVer = uint8(w0>>16) & 15
	h.PKey = uint16(w0)
	h.FECN = w1&(1<<31) != 0
	h.BECN = w1&(1<<30) != 0
	h.Rsv6 = uint8(w1>>24) & 0x3f
	h.DestQP = w1 & psn.Mask
	h.AckReq = w2&(1<<31) != 0
	h.Rsv1 = uint8(w2>>30) & 1
	h.ReTx = w2&(1<<29) != 0
	h.Synchronise = w2&(1<<28) != 0
	h.Rsv4 = uint8(w2>>24) & 15
	h.PSN = psn.PSN(w2 & psn.Mask)
	return nil
}

// AppendBinary appends the header's 12 bytes to b. It returns ErrRange, and b
// unchanged, when a value does not fit its field.
func (h *BTH) AppendBinary(b []byte) ([]byte, error) {
	switch {
	case h.PadCnt > 3:
		return b, outOfRange(HeaderBTH, "PadCnt", uint64(h.PadCnt), 2)
	case h.TVer > 15:
		return b, outOfRange(HeaderBTH, "TVer", uint64(h.TVer), 4)
	case h.Rsv6 > 0x3f:
		return b, outOfRange(HeaderBTH, "Rsv6", uint64(h.Rsv6), 6)
	case h.DestQP > psn.Mask:
		return b, outOfRange(HeaderBTH, "DestQP", uint64(h.DestQP), 24)
	case h.Rsv1 > 1:
		return b, outOfRange(HeaderBTH, "Rsv1", uint64(h.Rsv1), 1)
	case h.Rsv4 > 15:
		return b, outOfRange(HeaderBTH, "Rsv4", uint64(h.Rsv4), 4)
	case h.PSN > psn.Mask:
		return b, outOfRange(HeaderBTH, "PSN", uint64(h.PSN), 24)
	}
	w0 := uint32(h.Opcode)<<24 | bit(h.SE)<<23 | bit(h.M)<<22 | uint32(h.PadCnt)<<20 | uint32(h.TVer)<<16 | uint32(h.PKey)
	w1 := bit(h.FECN)<<31 | bit(h.BECN)<<30 | uint32(h.Rsv6)<<24 | h.DestQP
	w2 := bit(h.AckReq)<<31 | uint32(h.Rsv1)<<30 | bit(h.ReTx)<<29 | bit(h.Synchronise)<<28 | uint32(h.Rsv4)<<24 | uint32(h.PSN)
	b = be.AppendUint32(b, w0)
	b = be.AppendUint32(b, w1)
	return be.AppendUint32(b, w2), nil
}

func bit(set bool) uint32 {
	if set {
		return 1
	}
	return 0
}
