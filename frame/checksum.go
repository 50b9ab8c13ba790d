package frame

// VCRC is the variant CRC of an InfiniBand link packet (IBA 7.8.2): of everything
// from the LRH to the ICRC, in the order in which a big-endian number is stored.
func VCRC(b []byte) uint16 { return vcrc(b) }

// Checksum is the Internet checksum (RFC 1071) of b, a checksum in it being zero.
func Checksum(b []byte) uint16 { return fold(sum(0, b)) }

// UDPChecksum is the checksum of a UDP datagram between two addresses, each 4 or
// 16 bytes, its own checksum being zero. It is never zero, which would say that
// there is none.
func UDPChecksum(src, dst, udp []byte) uint16 {
	s := sum(sum(sum(protocolUDP+uint32(len(udp)), src), dst), udp)
	if c := fold(s); c != 0 {
		return c
	}
	return 0xffff
}
