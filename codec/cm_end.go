package codec

import "github.com/rdmadump/rdmadump/psn"

// DREQ ends a connection (IBA 12.6.10): two communication IDs of 32 bits,
// RemoteQPN 24, reserved 8; private data follow.
type DREQ struct {
	LocalCommID  uint32
	RemoteCommID uint32
	RemoteQPN    uint32 // the receiver's queue pair; 24 bits
	Rsv8         uint8
}

// Decode reads the message from the start of b.
func (h *DREQ) Decode(b []byte) error {
	if len(b) < 12 {
		return truncated(HeaderDREQ, len(b))
	}
	h.LocalCommID, h.RemoteCommID = be.Uint32(b), be.Uint32(b[4:])
	h.RemoteQPN, h.Rsv8 = uint24(b[8:]), b[11]
	return nil
}

// AppendBinary appends the message's 12 bytes to b, or returns ErrRange.
func (h *DREQ) AppendBinary(b []byte) ([]byte, error) {
	if h.RemoteQPN > psn.Mask {
		return b, outOfRange(HeaderDREQ, "RemoteQPN", uint64(h.RemoteQPN), 24)
	}
	b = be.AppendUint32(b, h.LocalCommID)
	b = be.AppendUint32(b, h.RemoteCommID)
	return append(append24(b, h.RemoteQPN), h.Rsv8), nil
}

// DREP answers a DREQ (IBA 12.6.11): 32 bits each, private data follow.
type DREP struct {
	LocalCommID  uint32
	RemoteCommID uint32
}

// Decode reads the message from the start of b.
func (h *DREP) Decode(b []byte) error {
	if len(b) < 8 {
		return truncated(HeaderDREP, len(b))
	}
	h.LocalCommID, h.RemoteCommID = be.Uint32(b), be.Uint32(b[4:])
	return nil
}

// AppendBinary appends the message's 8 bytes to b. The error is always nil.
func (h *DREP) AppendBinary(b []byte) ([]byte, error) {
	return be.AppendUint32(be.AppendUint32(b, h.LocalCommID), h.RemoteCommID), nil
}

// REJ refuses a connection or gives an attempt up (IBA 12.6.7). Private data
// follow its 84 bytes.
//
//	 0  LocalCommID 32                      4  RemoteCommID 32
//	 8  MessageRejected 2, rsv 6, InfoLength 7, rsv 1, Reason 16
//	12  Info, 72 bytes
type REJ struct {
	LocalCommID     uint32 // 0 where the sender has none
	RemoteCommID    uint32
	MessageRejected uint8 // 0 REQ, 1 REP, 2 none; 2 bits
	Rsv6            uint8
	InfoLength      uint8 // how many bytes of Info count; 7 bits
	Rsv1            uint8
	Reason          uint16 // IBA 12.6.7.2: 4 timeout, 8 invalid service ID, 28 the consumer's own
	Info            [72]byte
}

// Decode reads the message from the start of b.
func (h *REJ) Decode(b []byte) error {
	if len(b) < 84 {
		return truncated(HeaderREJ, len(b))
	}
	h.LocalCommID, h.RemoteCommID = be.Uint32(b), be.Uint32(b[4:])
	h.MessageRejected, h.Rsv6 = b[8]>>6, b[8]&0x3f
	h.InfoLength, h.Rsv1 = b[9]>>1, b[9]&1
	h.Reason, h.Info = be.Uint16(b[10:]), [72]byte(b[12:84])
	return nil
}

// AppendBinary appends the message's 84 bytes to b, or returns ErrRange.
func (h *REJ) AppendBinary(b []byte) ([]byte, error) {
	switch {
	case h.MessageRejected > 3:
		return b, outOfRange(HeaderREJ, "MessageRejected", uint64(h.MessageRejected), 2)
	case h.Rsv6 > 0x3f:
		return b, outOfRange(HeaderREJ, "Rsv6", uint64(h.Rsv6), 6)
	case h.InfoLength > 0x7f:
		return b, outOfRange(HeaderREJ, "InfoLength", uint64(h.InfoLength), 7)
	case h.Rsv1 > 1:
		return b, outOfRange(HeaderREJ, "Rsv1", uint64(h.Rsv1), 1)
	}
	b = be.AppendUint32(b, h.LocalCommID)
	b = be.AppendUint32(b, h.RemoteCommID)
	b = append(b, h.MessageRejected<<6|h.Rsv6, h.InfoLength<<1|h.Rsv1)
	b = be.AppendUint16(b, h.Reason)
	return append(b, h.Info[:]...), nil
}
