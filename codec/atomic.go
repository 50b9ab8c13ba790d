package codec

// AtomicETH is the Atomic Extended Transport Header of CmpSwap and FetchAdd
// (IBA 9.3.4).
//
//	+---------------------------------------------------------------+
//	|                         VA, 64 bits                           |
//	+---------------------------------------------------------------+
//	|                             R_Key                             |
//	+---------------------------------------------------------------+
//	|                   Swap (or Add), 64 bits                      |
//	+---------------------------------------------------------------+
//	|                      Compare, 64 bits                         |
//	+---------------------------------------------------------------+
type AtomicETH struct {
	VA     uint64 // virtual address of the remote 8 bytes
	RKey   uint32
	SwapDt uint64 // value to swap in, or to add
	CmpDt  uint64 // value to compare with; of no use in FetchAdd
}

// Decode reads the header from the start of b.
func (h *AtomicETH) Decode(b []byte) error {
	if len(b) < 28 {
		return truncated(HeaderAtomicETH, len(b))
	}
	h.VA, h.RKey, h.SwapDt, h.CmpDt = be.Uint64(b), be.Uint32(b[8:]), be.Uint64(b[12:]), be.Uint64(b[20:])
	return nil
}

// AppendBinary appends the header's 28 bytes to b. The error is always nil.
func (h *AtomicETH) AppendBinary(b []byte) ([]byte, error) {
	b = be.AppendUint64(b, h.VA)
	b = be.AppendUint32(b, h.RKey)
	b = be.AppendUint64(b, h.SwapDt)
	return be.AppendUint64(b, h.CmpDt), nil
}

// AtomicAckETH is the Atomic ACK Extended Transport Header (IBA 9.3.5.3): 64
// bits, what the remote memory held before.
type AtomicAckETH struct {
	OrigRemDt uint64
}

// Decode reads the header from the start of b.
func (h *AtomicAckETH) Decode(b []byte) error {
	if len(b) < 8 {
		return truncated(HeaderAtomicAckETH, len(b))
	}
	h.OrigRemDt = be.Uint64(b)
	return nil
}

// AppendBinary appends the header's 8 bytes to b. The error is always nil.
func (h *AtomicAckETH) AppendBinary(b []byte) ([]byte, error) {
	return be.AppendUint64(b, h.OrigRemDt), nil
}
