package codec

import "github.com/rdmadump/rdmadump/psn"

// REQ asks for a connection (IBA 12.6.5). Its first 140 bytes are drawn here as
// they lie, 4 a line; private data follow.
//
//	 0  LocalCommID 32                     4  rsv 32
//	 8  ServiceID 64                      16  LocalCAGUID 64
//	24  rsv 32                            28  LocalQKey 32
//	32  LocalQPN 24, ResponderResources 8
//	36  LocalEECN 24, InitiatorDepth 8
//	40  RemoteEECN 24, RemoteCMTimeout 5, TransportService 2, EndToEndFlow 1
//	44  StartingPSN 24, LocalCMTimeout 5, RetryCount 3
//	48  PKey 16, PathMTU 4, RDCExists 1, RNRRetryCount 3, MaxCMRetries 4, SRQ 1, ExtTransport 3
//	52  Primary path, 44 bytes            96  Alternate path, 44 bytes
type REQ struct {
	LocalCommID        uint32 // the sender's name for this connection attempt
	Rsv32a             uint32
	ServiceID          ServiceID
	LocalCAGUID        uint64
	Rsv32b             uint32
	LocalQKey          uint32
	LocalQPN           uint32  // the sender's queue pair; 24 bits
	ResponderResources uint8   // READs and atomics that the sender can answer at a time
	LocalEECN          uint32  // end-to-end context of RD; 24 bits
	InitiatorDepth     uint8   // READs and atomics that the sender will have outstanding
	RemoteEECN         uint32  // 24 bits
	RemoteCMTimeout    uint8   // code, see AckTimeout; 5 bits
	TransportService   uint8   // 0 RC, 1 UC, 2 RD, 3 see ExtTransport
	EndToEndFlow       bool    // the sender wants credits
	StartingPSN        psn.PSN // first PSN that the sender will send
	LocalCMTimeout     uint8   // code, see AckTimeout; 5 bits
	RetryCount         uint8   // retries after a timeout or sequence NAK; 3 bits
	PKey               uint16
	PathMTU            uint8 // code, see MTU; 4 bits
	RDCExists          bool
	RNRRetryCount      uint8 // retries after an RNR NAK, 7 without end; 3 bits
	MaxCMRetries       uint8 // 4 bits
	SRQ                bool  // the sender's queue pair uses a shared receive queue
	ExtTransport       uint8 // 1 XRC where TransportService is 3; 3 bits
	Primary            Path
	Alternate          Path // all zeros where there is none
}

// Decode reads the message from the start of b.
func (h *REQ) Decode(b []byte) error {
	if len(b) < 140 {
		return truncated(HeaderREQ, len(b))
	}
	h.LocalCommID, h.Rsv32a = be.Uint32(b), be.Uint32(b[4:])
	h.ServiceID, h.LocalCAGUID = ServiceID(be.Uint64(b[8:])), be.Uint64(b[16:])
	h.Rsv32b, h.LocalQKey = be.Uint32(b[24:]), be.Uint32(b[28:])
	h.LocalQPN, h.ResponderResources = uint24(b[32:]), b[35]
	h.LocalEECN, h.InitiatorDepth = uint24(b[36:]), b[39]
	h.RemoteEECN = uint24(b[40:])
	h.RemoteCMTimeout, h.TransportService, h.EndToEndFlow = b[43]>>3, b[43]>>1&3, b[43]&1 != 0
	h.StartingPSN = psn.PSN(uint24(b[44:]))
	h.LocalCMTimeout, h.RetryCount = b[47]>>3, b[47]&7
	h.PKey = be.Uint16(b[48:])
	h.PathMTU, h.RDCExists, h.RNRRetryCount = b[50]>>4, b[50]&8 != 0, b[50]&7
	h.MaxCMRetries, h.SRQ, h.ExtTransport = b[51]>>4, b[51]&8 != 0, b[51]&7
	h.Primary.decode(b[52:96])
	h.Alternate.decode(b[96:140])
	return nil
}

// AppendBinary appends the message's 140 bytes to b, or returns ErrRange.
func (h *REQ) AppendBinary(b []byte) ([]byte, error) {
	switch {
	case h.LocalQPN > psn.Mask:
		return b, outOfRange(HeaderREQ, "LocalQPN", uint64(h.LocalQPN), 24)
	case h.LocalEECN > psn.Mask:
		return b, outOfRange(HeaderREQ, "LocalEECN", uint64(h.LocalEECN), 24)
	case h.RemoteEECN > psn.Mask:
		return b, outOfRange(HeaderREQ, "RemoteEECN", uint64(h.RemoteEECN), 24)
	case h.RemoteCMTimeout > 31:
		return b, outOfRange(HeaderREQ, "RemoteCMTimeout", uint64(h.RemoteCMTimeout), 5)
	case h.TransportService > 3:
		return b, outOfRange(HeaderREQ, "TransportService", uint64(h.TransportService), 2)
	case h.StartingPSN > psn.Mask:
		return b, outOfRange(HeaderREQ, "StartingPSN", uint64(h.StartingPSN), 24)
	case h.LocalCMTimeout > 31:
		return b, outOfRange(HeaderREQ, "LocalCMTimeout", uint64(h.LocalCMTimeout), 5)
	case h.RetryCount > 7:
		return b, outOfRange(HeaderREQ, "RetryCount", uint64(h.RetryCount), 3)
	case h.PathMTU > 15:
		return b, outOfRange(HeaderREQ, "PathMTU", uint64(h.PathMTU), 4)
	case h.RNRRetryCount > 7:
		return b, outOfRange(HeaderREQ, "RNRRetryCount", uint64(h.RNRRetryCount), 3)
	case h.MaxCMRetries > 15:
		return b, outOfRange(HeaderREQ, "MaxCMRetries", uint64(h.MaxCMRetries), 4)
	case h.ExtTransport > 7:
		return b, outOfRange(HeaderREQ, "ExtTransport", uint64(h.ExtTransport), 3)
	}
	start := len(b)
	b = be.AppendUint32(b, h.LocalCommID)
	b = be.AppendUint32(b, h.Rsv32a)
	b = be.AppendUint64(b, uint64(h.ServiceID))
	b = be.AppendUint64(b, h.LocalCAGUID)
	b = be.AppendUint32(b, h.Rsv32b)
	b = be.AppendUint32(b, h.LocalQKey)
	b = append(append24(b, h.LocalQPN), h.ResponderResources)
	b = append(append24(b, h.LocalEECN), h.InitiatorDepth)
	b = append(append24(b, h.RemoteEECN), h.RemoteCMTimeout<<3|h.TransportService<<1|uint8(bit(h.EndToEndFlow)))
	b = append(append24(b, uint32(h.StartingPSN)), h.LocalCMTimeout<<3|h.RetryCount)
	b = be.AppendUint16(b, h.PKey)
	b = append(b, h.PathMTU<<4|uint8(bit(h.RDCExists))<<3|h.RNRRetryCount)
	b = append(b, h.MaxCMRetries<<4|uint8(bit(h.SRQ))<<3|h.ExtTransport)
	b, err := h.Primary.append(b, "Primary")
	if err == nil {
		b, err = h.Alternate.append(b, "Alternate")
	}
	if err != nil {
		return b[:start], err
	}
	return b, nil
}

// MTU is the path MTU in bytes that code 1 to 5 stands for, 256 to 4096; zero
// for a code that stands for none (IBA 12.7).
func MTU(code uint8) int {
	if code < 1 || code > 5 {
		return 0
	}
	return 128 << code
}
