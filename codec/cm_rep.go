package codec

import "github.com/rdmadump/rdmadump/psn"

// REP accepts a connection (IBA 12.6.8). Private data follow its 36 bytes.
//
//	 0  LocalCommID 32                      4  RemoteCommID 32
//	 8  LocalQKey 32                       12  LocalQPN 24, rsv 8
//	16  LocalEECN 24, rsv 8                20  StartingPSN 24, rsv 8
//	24  ResponderResources 8, InitiatorDepth 8, TargetAckDelay 5, Failover 2, EndToEndFlow 1, RNRRetryCount 3, SRQ 1, rsv 4
//	28  LocalCAGUID 64
type REP struct {
	LocalCommID        uint32 // the sender's name for this connection attempt
	RemoteCommID       uint32 // LocalCommID of the REQ
	LocalQKey          uint32
	LocalQPN           uint32 // the sender's queue pair; 24 bits
	Rsv8a              uint8
	LocalEECN          uint32 // end-to-end context of RD; 24 bits
	Rsv8b              uint8
	StartingPSN        psn.PSN // first PSN that the sender will send
	Rsv8c              uint8
	ResponderResources uint8 // READs and atomics that the sender can answer at a time
	InitiatorDepth     uint8 // READs and atomics that the sender will have outstanding
	TargetAckDelay     uint8 // code of the time to answer, see AckTimeout; 5 bits
	Failover           uint8 // 0 the alternate path was accepted; 2 bits
	EndToEndFlow       bool  // the sender wants credits
	RNRRetryCount      uint8 // retries after an RNR NAK, 7 without end; 3 bits
	SRQ                bool  // the sender's queue pair uses a shared receive queue
	Rsv4               uint8
	LocalCAGUID        uint64
}

// Decode reads the message from the start of b.
func (h *REP) Decode(b []byte) error {
	if len(b) < 36 {
		return truncated(HeaderREP, len(b))
	}
	h.LocalCommID, h.RemoteCommID, h.LocalQKey = be.Uint32(b), be.Uint32(b[4:]), be.Uint32(b[8:])
	h.LocalQPN, h.Rsv8a = uint24(b[12:]), b[15]
	h.LocalEECN, h.Rsv8b = uint24(b[16:]), b[19]
	h.StartingPSN, h.Rsv8c = psn.PSN(uint24(b[20:])), b[23]
	h.ResponderResources, h.InitiatorDepth = b[24], b[25]
	h.TargetAckDelay, h.Failover, h.EndToEndFlow = b[26]>>3, b[26]>>1&3, b[26]&1 != 0
	h.RNRRetryCount, h.SRQ, h.Rsv4 = b[27]>>5, b[27]&16 != 0, b[27]&15
	h.LocalCAGUID = be.Uint64(b[28:])
	return nil
}

// AppendBinary appends the message's 36 bytes to b, or returns ErrRange.
func (h *REP) AppendBinary(b []byte) ([]byte, error) {
	switch {
	case h.LocalQPN > psn.Mask:
		return b, outOfRange(HeaderREP, "LocalQPN", uint64(h.LocalQPN), 24)
	case h.LocalEECN > psn.Mask:
		return b, outOfRange(HeaderREP, "LocalEECN", uint64(h.LocalEECN), 24)
	case h.StartingPSN > psn.Mask:
		return b, outOfRange(HeaderREP, "StartingPSN", uint64(h.StartingPSN), 24)
	case h.TargetAckDelay > 31:
		return b, outOfRange(HeaderREP, "TargetAckDelay", uint64(h.TargetAckDelay), 5)
	case h.Failover > 3:
		return b, outOfRange(HeaderREP, "Failover", uint64(h.Failover), 2)
	case h.RNRRetryCount > 7:
		return b, outOfRange(HeaderREP, "RNRRetryCount", uint64(h.RNRRetryCount), 3)
	case h.Rsv4 > 15:
		return b, outOfRange(HeaderREP, "Rsv4", uint64(h.Rsv4), 4)
	}
	b = be.AppendUint32(b, h.LocalCommID)
	b = be.AppendUint32(b, h.RemoteCommID)
	b = be.AppendUint32(b, h.LocalQKey)
	b = append(append24(b, h.LocalQPN), h.Rsv8a)
	b = append(append24(b, h.LocalEECN), h.Rsv8b)
	b = append(append24(b, uint32(h.StartingPSN)), h.Rsv8c)
	b = append(b, h.ResponderResources, h.InitiatorDepth)
	b = append(b, h.TargetAckDelay<<3|h.Failover<<1|uint8(bit(h.EndToEndFlow)))
	b = append(b, h.RNRRetryCount<<5|uint8(bit(h.SRQ))<<4|h.Rsv4)
	return be.AppendUint64(b, h.LocalCAGUID), nil
}

// RTU says that the sender of the REQ has seen the REP (IBA 12.6.9): 32 bits
// each, private data follow.
type RTU struct {
	LocalCommID  uint32
	RemoteCommID uint32
}

// Decode reads the message from the start of b.
func (h *RTU) Decode(b []byte) error {
	if len(b) < 8 {
		return truncated(HeaderRTU, len(b))
	}
	h.LocalCommID, h.RemoteCommID = be.Uint32(b), be.Uint32(b[4:])
	return nil
}

// AppendBinary appends the message's 8 bytes to b. The error is always nil.
func (h *RTU) AppendBinary(b []byte) ([]byte, error) {
	return be.AppendUint32(be.AppendUint32(b, h.LocalCommID), h.RemoteCommID), nil
}
