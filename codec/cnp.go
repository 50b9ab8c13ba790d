package codec

// CNP is what follows the BTH of a congestion notification packet (IBA annex
// A17): 16 reserved bytes.
type CNP struct {
	RsvHigh, RsvLow uint64
}

// Decode reads the header from the start of b.
func (h *CNP) Decode(b []byte) error {
	if len(b) < 16 {
		return truncated(HeaderCNP, len(b))
	}
	h.RsvHigh, h.RsvLow = be.Uint64(b), be.Uint64(b[8:])
	return nil
}

// AppendBinary appends the header's 16 bytes to b. The error is always nil.
func (h *CNP) AppendBinary(b []byte) ([]byte, error) {
	return be.AppendUint64(be.AppendUint64(b, h.RsvHigh), h.RsvLow), nil
}
