package codec

import "github.com/rdmadump/rdmadump/psn"

// DETH is the Datagram Extended Transport Header of UD and of RD requests
// (IBA 9.3.2).
//
//	+---------------------------------------------------------------+
//	|                             Q_Key                             |
//	+---------------+-----------------------------------------------+
//	|      rsv      |                     SrcQP                     |
//	+---------------+-----------------------------------------------+
type DETH struct {
	QKey  uint32
	Rsv8  uint8
	SrcQP uint32 // 24 bits
}

// Decode reads the header from the start of b.
func (h *DETH) Decode(b []byte) error {
	if len(b) < 8 {
		return truncated(HeaderDETH, len(b))
	}
	h.QKey, h.Rsv8, h.SrcQP = be.Uint32(b), b[4], uint24(b[5:])
	return nil
}

// AppendBinary appends the header's 8 bytes to b, or returns ErrRange.
func (h *DETH) AppendBinary(b []byte) ([]byte, error) {
	if h.SrcQP > psn.Mask {
		return b, outOfRange(HeaderDETH, "SrcQP", uint64(h.SrcQP), 24)
	}
	b = be.AppendUint32(b, h.QKey)
	return be.AppendUint32(b, uint32(h.Rsv8)<<24|h.SrcQP), nil
}

// RDETH is the Reliable Datagram Extended Transport Header (IBA 9.3.1): 8
// reserved bits and the end-to-end context, to which the PSN belongs.
type RDETH struct {
	Rsv8   uint8
	EECnxt uint32 // 24 bits
}

// Decode reads the header from the start of b.
func (h *RDETH) Decode(b []byte) error {
	if len(b) < 4 {
		return truncated(HeaderRDETH, len(b))
	}
	h.Rsv8, h.EECnxt = b[0], uint24(b[1:])
	return nil
}

// AppendBinary appends the header's 4 bytes to b, or returns ErrRange.
func (h *RDETH) AppendBinary(b []byte) ([]byte, error) {
	if h.EECnxt > psn.Mask {
		return b, outOfRange(HeaderRDETH, "EECnxt", uint64(h.EECnxt), 24)
	}
	return be.AppendUint32(b, uint32(h.Rsv8)<<24|h.EECnxt), nil
}

// XRCETH is the XRC Extended Transport Header of XRC requests (IBA annex A14):
// 8 reserved bits and the shared receive queue.
type XRCETH struct {
	Rsv8   uint8
	XRCSRQ uint32 // 24 bits
}

// Decode reads the header from the start of b.
func (h *XRCETH) Decode(b []byte) error {
	if len(b) < 4 {
		return truncated(HeaderXRCETH, len(b))
	}
	h.Rsv8, h.XRCSRQ = b[0], uint24(b[1:])
	return nil
}

// AppendBinary appends the header's 4 bytes to b, or returns ErrRange.
func (h *XRCETH) AppendBinary(b []byte) ([]byte, error) {
	if h.XRCSRQ > psn.Mask {
		return b, outOfRange(HeaderXRCETH, "XRCSRQ", uint64(h.XRCSRQ), 24)
	}
	return be.AppendUint32(b, uint32(h.Rsv8)<<24|h.XRCSRQ), nil
}
