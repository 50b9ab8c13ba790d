package codec

import "net/netip"

// ServiceID is what a REQ asks for, as a port is for TCP.
type ServiceID uint64

// Port is the port number of a service ID of the RDMA IP CM service (IBA annex
// A11), which is 0x0000000001 followed by an IP protocol number and the port.
// ok is false for other service IDs.
func (s ServiceID) Port() (port uint16, ok bool) {
	if s>>24 != 1 {
		return 0, false
	}
	return uint16(s), true
}

// IPCM is what the private data of a REQ begin with when its ServiceID is one
// of the RDMA IP CM service (IBA annex A11).
//
//	0  MajorVersion 4, MinorVersion 4, IPVersion 4, rsv 4, SrcPort 16
//	4  SrcAddr 128                        20  DstAddr 128
type IPCM struct {
	MajorVersion uint8 // 4 bits
	MinorVersion uint8 // 4 bits
	IPVersion    uint8 // 4 or 6; 4 bits
	Rsv4         uint8
	SrcPort      uint16
	SrcAddr      [16]byte // an IPv4 address takes the last 4 bytes
	DstAddr      [16]byte
}

// Decode reads the header from the start of b.
func (h *IPCM) Decode(b []byte) error {
	if len(b) < 36 {
		return truncated(HeaderIPCM, len(b))
	}
	h.MajorVersion, h.MinorVersion = b[0]>>4, b[0]&15
	h.IPVersion, h.Rsv4 = b[1]>>4, b[1]&15
	h.SrcPort = be.Uint16(b[2:])
	h.SrcAddr, h.DstAddr = [16]byte(b[4:20]), [16]byte(b[20:36])
	return nil
}

// AppendBinary appends the header's 36 bytes to b, or returns ErrRange.
func (h *IPCM) AppendBinary(b []byte) ([]byte, error) {
	switch {
	case h.MajorVersion > 15:
		return b, outOfRange(HeaderIPCM, "MajorVersion", uint64(h.MajorVersion), 4)
	case h.MinorVersion > 15:
		return b, outOfRange(HeaderIPCM, "MinorVersion", uint64(h.MinorVersion), 4)
	case h.IPVersion > 15:
		return b, outOfRange(HeaderIPCM, "IPVersion", uint64(h.IPVersion), 4)
	case h.Rsv4 > 15:
		return b, outOfRange(HeaderIPCM, "Rsv4", uint64(h.Rsv4), 4)
	}
	b = append(b, h.MajorVersion<<4|h.MinorVersion, h.IPVersion<<4|h.Rsv4)
	b = be.AppendUint16(b, h.SrcPort)
	b = append(b, h.SrcAddr[:]...)
	return append(b, h.DstAddr[:]...), nil
}

// Addrs are the source and destination addresses, of the version that
// IPVersion says.
func (h *IPCM) Addrs() (src, dst netip.Addr) {
	if h.IPVersion == 4 {
		return netip.AddrFrom4([4]byte(h.SrcAddr[12:])), netip.AddrFrom4([4]byte(h.DstAddr[12:]))
	}
	return netip.AddrFrom16(h.SrcAddr), netip.AddrFrom16(h.DstAddr)
}
