package codec

import "github.com/rdmadump/rdmadump/psn"

// SackETH is the selective part of an IRN NACK: 8 reserved bits and the PSN of
// the out-of-order packet that triggered it. The paper says what is carried,
// not in which bits ("Revisiting Network Support for RDMA", SIGCOMM 2018); the
// layout is this toolkit's own.
type SackETH struct {
	Rsv8    uint8
	SackPSN psn.PSN
}

// Decode reads the header from the start of b.
func (h *SackETH) Decode(b []byte) error {
	if len(b) < 4 {
		return truncated(HeaderSackETH, len(b))
	}
	h.Rsv8, h.SackPSN = b[0], psn.PSN(uint24(b[1:]))
	return nil
}

// AppendBinary appends the header's 4 bytes to b, or returns ErrRange.
func (h *SackETH) AppendBinary(b []byte) ([]byte, error) {
	if h.SackPSN > psn.Mask {
		return b, outOfRange(HeaderSackETH, "SackPSN", uint64(h.SackPSN), 24)
	}
	return be.AppendUint32(b, uint32(h.Rsv8)<<24|uint32(h.SackPSN)), nil
}

// IRNETH places an IRN packet in its message and its message among the WQEs,
// so that it can be received out of order. The layout is this toolkit's own.
//
//	+---------------+-----------------------------------------------+
//	|      rsv      |                     WQESN                     |
//	+---------------+-----------------------------------------------+
//	|                            Offset                             |
//	+---------------------------------------------------------------+
type IRNETH struct {
	Rsv8   uint8
	WQESN  uint32 // 24 bits: recv_WQE_SN of SEND and WRITE with Immediate, read_WQE_SN of READ and atomics
	Offset uint32 // bytes from the start of the message
}

// Decode reads the header from the start of b.
func (h *IRNETH) Decode(b []byte) error {
	if len(b) < 8 {
		return truncated(HeaderIRNETH, len(b))
	}
	h.Rsv8, h.WQESN, h.Offset = b[0], uint24(b[1:]), be.Uint32(b[4:])
	return nil
}

// AppendBinary appends the header's 8 bytes to b, or returns ErrRange.
func (h *IRNETH) AppendBinary(b []byte) ([]byte, error) {
	if h.WQESN > psn.Mask {
		return b, outOfRange(HeaderIRNETH, "WQESN", uint64(h.WQESN), 24)
	}
	b = be.AppendUint32(b, uint32(h.Rsv8)<<24|h.WQESN)
	return be.AppendUint32(b, h.Offset), nil
}
