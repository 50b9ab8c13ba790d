package codec

import "github.com/rdmadump/rdmadump/psn"

// MPETH is what an MP-RDMA acknowledgement adds to the AETH ("Multi-Path
// Transport for RDMA in Datacenters", NSDI 2018; the layout is this toolkit's
// own).
//
//	+-+-+-----------+-----------------------------------------------+
//	|E|R|   rsv 6   |                     AACK                      |
//	+-+-+-----------+-----------------------------------------------+
type MPETH struct {
	ECE      bool // the data packet was marked CE
	ReTxEcho bool // the data packet was a retransmission
	Rsv6     uint8
	AACK     psn.PSN // highest PSN received in order
}

// Decode reads the header from the start of b.
func (h *MPETH) Decode(b []byte) error {
	if len(b) < 4 {
		return truncated(HeaderMPETH, len(b))
	}
	w := be.Uint32(b)
	h.ECE, h.ReTxEcho, h.Rsv6, h.AACK = w&(1<<31) != 0, w&(1<<30) != 0, uint8(w>>24)&0x3f, psn.PSN(w&psn.Mask)
	return nil
}

// AppendBinary appends the header's 4 bytes to b, or returns ErrRange.
func (h *MPETH) AppendBinary(b []byte) ([]byte, error) {
	switch {
	case h.Rsv6 > 0x3f:
		return b, outOfRange(HeaderMPETH, "Rsv6", uint64(h.Rsv6), 6)
	case h.AACK > psn.Mask:
		return b, outOfRange(HeaderMPETH, "AACK", uint64(h.AACK), 24)
	}
	return be.AppendUint32(b, bit(h.ECE)<<31|bit(h.ReTxEcho)<<30|uint32(h.Rsv6)<<24|uint32(h.AACK)), nil
}
