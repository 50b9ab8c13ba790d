package codec

import "github.com/rdmadump/rdmadump/psn"

// AETH is the ACK Extended Transport Header (IBA 9.3.5).
//
//	+---------------+-----------------------------------------------+
//	|   Syndrome    |                      MSN                      |
//	+---------------+-----------------------------------------------+
type AETH struct {
	Syndrome Syndrome
	MSN      uint32 // messages completed by the responder, modulo 2^24
}

// Decode reads the header from the start of b.
func (h *AETH) Decode(b []byte) error {
	if len(b) < 4 {
		return truncated(HeaderAETH, len(b))
	}
	h.Syndrome, h.MSN = Syndrome(b[0]), uint24(b[1:])
	return nil
}

// AppendBinary appends the header's 4 bytes to b, or returns ErrRange.
func (h *AETH) AppendBinary(b []byte) ([]byte, error) {
	if h.MSN > psn.Mask {
		return b, outOfRange(HeaderAETH, "MSN", uint64(h.MSN), 24)
	}
	return be.AppendUint32(b, uint32(h.Syndrome)<<24|h.MSN), nil
}
