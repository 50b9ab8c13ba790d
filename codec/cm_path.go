package codec

// Path is one of the two paths that a REQ names, 44 bytes.
//
//	 0  LocalLID 16, RemoteLID 16
//	 4  LocalGID 128                       20  RemoteGID 128
//	36  FlowLabel 20, rsv 6, PacketRate 6
//	40  TrafficClass 8, HopLimit 8, SL 4, SubnetLocal 1, rsv 3, LocalAckTimeout 5, rsv 3
type Path struct {
	LocalLID        uint16
	RemoteLID       uint16
	LocalGID        [16]byte // with RoCEv2 the sender's IP address, IPv4 mapped into IPv6
	RemoteGID       [16]byte
	FlowLabel       uint32 // 20 bits
	Rsv6            uint8
	PacketRate      uint8 // code of the static rate; 6 bits
	TrafficClass    uint8
	HopLimit        uint8
	SL              uint8 // service level; 4 bits
	SubnetLocal     bool
	Rsv3a           uint8
	LocalAckTimeout uint8 // how long the sender waits for an ACK, see AckTimeout; 5 bits
	Rsv3b           uint8
}

// decode reads the path from 44 bytes.
func (h *Path) decode(b []byte) {
	h.LocalLID, h.RemoteLID = be.Uint16(b), be.Uint16(b[2:])
	h.LocalGID, h.RemoteGID = [16]byte(b[4:20]), [16]byte(b[20:36])
	w := be.Uint32(b[36:])
	h.FlowLabel, h.Rsv6, h.PacketRate = w>>12, uint8(w>>6)&0x3f, uint8(w)&0x3f
	h.TrafficClass, h.HopLimit = b[40], b[41]
	h.SL, h.SubnetLocal, h.Rsv3a = b[42]>>4, b[42]&8 != 0, b[42]&7
	h.LocalAckTimeout, h.Rsv3b = b[43]>>3, b[43]&7
}

// append appends the path's 44 bytes, or returns ErrRange naming the field of
// the path called name.
func (h *Path) append(b []byte, name string) ([]byte, error) {
	switch {
	case h.FlowLabel > 0xfffff:
		return b, outOfRange(HeaderREQ, name+".FlowLabel", uint64(h.FlowLabel), 20)
	case h.Rsv6 > 0x3f:
		return b, outOfRange(HeaderREQ, name+".Rsv6", uint64(h.Rsv6), 6)
	case h.PacketRate > 0x3f:
		return b, outOfRange(HeaderREQ, name+".PacketRate", uint64(h.PacketRate), 6)
	case h.SL > 15:
		return b, outOfRange(HeaderREQ, name+".SL", uint64(h.SL), 4)
	case h.Rsv3a > 7:
		return b, outOfRange(HeaderREQ, name+".Rsv3a", uint64(h.Rsv3a), 3)
	case h.LocalAckTimeout > 31:
		return b, outOfRange(HeaderREQ, name+".LocalAckTimeout", uint64(h.LocalAckTimeout), 5)
	case h.Rsv3b > 7:
		return b, outOfRange(HeaderREQ, name+".Rsv3b", uint64(h.Rsv3b), 3)
	}
	b = be.AppendUint16(b, h.LocalLID)
	b = be.AppendUint16(b, h.RemoteLID)
	b = append(b, h.LocalGID[:]...)
	b = append(b, h.RemoteGID[:]...)
	b = be.AppendUint32(b, h.FlowLabel<<12|uint32(h.Rsv6)<<6|uint32(h.PacketRate))
	b = append(b, h.TrafficClass, h.HopLimit)
	b = append(b, h.SL<<4|uint8(bit(h.SubnetLocal))<<3|h.Rsv3a)
	return append(b, h.LocalAckTimeout<<3|h.Rsv3b), nil
}
