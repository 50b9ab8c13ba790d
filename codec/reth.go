package codec

// RETH is the RDMA Extended Transport Header (IBA 9.3.3).
//
//	+---------------------------------------------------------------+
//	|                            VA 63-32                           |
//	+---------------------------------------------------------------+
//	|                            VA 31-0                            |
//	+---------------------------------------------------------------+
//	|                             R_Key                             |
//	+---------------------------------------------------------------+
//	|                            DMALen                             |
//	+---------------------------------------------------------------+
type RETH struct {
	VA     uint64 // virtual address of the remote memory
	RKey   uint32
	DMALen uint32 // length of the whole message in bytes; of this packet in IRN
}

// Decode reads the header from the start of b.
func (h *RETH) Decode(b []byte) error {
	if len(b) < 16 {
		return truncated(HeaderRETH, len(b))
	}
	h.VA, h.RKey, h.DMALen = be.Uint64(b), be.Uint32(b[8:]), be.Uint32(b[12:])
	return nil
}

// AppendBinary appends the header's 16 bytes to b. The error is always nil.
func (h *RETH) AppendBinary(b []byte) ([]byte, error) {
	b = be.AppendUint64(b, h.VA)
	b = be.AppendUint32(b, h.RKey)
	return be.AppendUint32(b, h.DMALen), nil
}
