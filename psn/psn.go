package psn

import "strconv"

// Bits is the width of a PSN on the wire.
const Bits = 24

// Mask keeps the bits of a PSN.
const Mask = 1<<Bits - 1

// PSN is a packet sequence number: 24 bits, compared by serial arithmetic
// (InfiniBand Architecture Specification, 9.7.1). Values above Mask are not
// PSNs; New makes one of any number.
type PSN uint32

// New takes n modulo 2^24.
func New[N int | int64 | uint32 | uint64](n N) PSN { return PSN(uint32(n) & Mask) }

// Add gives the PSN n after p, or before it when n is negative.
func (p PSN) Add(n int) PSN { return PSN((int64(p) + int64(n)) & Mask) }

// Sub gives the signed distance from q to p in [-2^23, 2^23): positive when p
// comes after q.
func (p PSN) Sub(q PSN) int { return int(int32(uint32(p)-uint32(q))<<8) >> 8 }

// Before reports whether p comes before q in serial order.
func (p PSN) Before(q PSN) bool { return p.Sub(q) < 0 }

// String gives the decimal number, as logs and drivers print it.
func (p PSN) String() string { return strconv.FormatUint(uint64(p), 10) }
