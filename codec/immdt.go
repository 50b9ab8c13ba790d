package codec

// ImmDt is the Immediate Data of SEND and WRITE (IBA 9.3.6): 32 bits that the
// receiver finds in its completion.
type ImmDt struct {
	ImmediateData uint32
}

// Decode reads the header from the start of b.
func (h *ImmDt) Decode(b []byte) error {
	if len(b) < 4 {
		return truncated(HeaderImmDt, len(b))
	}
	h.ImmediateData = be.Uint32(b)
	return nil
}

// AppendBinary appends the header's 4 bytes to b. The error is always nil.
func (h *ImmDt) AppendBinary(b []byte) ([]byte, error) {
	return be.AppendUint32(b, h.ImmediateData), nil
}

// IETH is the Invalidate Extended Transport Header of SEND with Invalidate
// (IBA 9.3.7): 32 bits, the key to invalidate.
type IETH struct {
	RKey uint32
}

// Decode reads the header from the start of b.
func (h *IETH) Decode(b []byte) error {
	if len(b) < 4 {
		return truncated(HeaderIETH, len(b))
	}
	h.RKey = be.Uint32(b)
	return nil
}

// AppendBinary appends the header's 4 bytes to b. The error is always nil.
func (h *IETH) AppendBinary(b []byte) ([]byte, error) {
	return be.AppendUint32(b, h.RKey), nil
}
