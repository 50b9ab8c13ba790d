package irn

import (
	"math/bits"
	"time"
)

// overhead is what a WRITE packet has beside its payload in an Ethernet frame
// over IPv4: Ethernet 14, IPv4 20, UDP 8, BTH 12, RETH 16, ICRC 4. In IRN each
// packet of a WRITE has the RETH.
const overhead = 14 + 20 + 8 + 12 + 16 + 4

// BDP is the bandwidth-delay product in bytes of a path with this rate in bits
// per second and this round-trip time.
func BDP(rate int64, rtt time.Duration) int64 {
	hi, lo := bits.Mul64(uint64(rate), uint64(rtt))
	bytes, _ := bits.Div64(hi, lo, 8*uint64(time.Second))
	return int64(bytes)
}

// Cap is the BDP-FC cap in packets: how many full packets of a path MTU, each
// with its headers, fit into a BDP in bytes. It is at least 1.
func Cap(bdp int64, mtu int) int { return int(max(1, bdp/int64(mtu+overhead))) }

// State is how many bits of bitmap a queue pair has for a cap in packets: five
// bitmaps of one BDP. The requester has one for what is selectively
// acknowledged and one for responses that have arrived; the responder has two
// for requests, since it must tell message ends, and one for what of its
// responses is selectively acknowledged.
func State(packets int) int { return 5 * size(packets) }

// size is the length in bits of a bitmap for so many packets, a power of two.
func size(packets int) int { return max(64, 1<<bits.Len(uint(packets-1))) }
