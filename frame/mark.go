package frame

import "github.com/rdmadump/rdmadump/codec"

// MarkCE marks a packet as a congested switch does: both bits of ECN are set, and
// the checksum of IPv4 is mended. b begins with its IP header or GRH. It reports
// false, and leaves the packet alone, where its sender does not take part in ECN.
func MarkCE(c codec.Carrier, b []byte) bool {
	if c == codec.InfiniBand || len(b) < 12 {
		return false
	}
	shift := 4 // of ECN in the second byte of an IPv6 header or GRH
	if c == codec.RoCEv2IPv4 {
		shift = 0
	}
	ecn := b[1] >> shift & 3
	if ecn == 0 {
		return false
	}
	b[1] |= 3 << shift
	if c == codec.RoCEv2IPv4 {
		be.PutUint16(b[10:], fold(uint32(^be.Uint16(b[10:]))+uint32(3-ecn)))
	}
	return true
}
