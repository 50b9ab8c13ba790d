package codec

import (
	"fmt"
	"time"
)

// Syndrome is the first byte of an AETH: bit 0 is reserved, bits 1-2 say what
// it is, bits 3-7 carry its value (IBA 9.3.5).
type Syndrome uint8

// Kind is what an acknowledgement says.
type Kind uint8

// The kinds of acknowledgement, as bits 1-2 of the syndrome code them.
const (
	KindACK      Kind = 0
	KindRNRNAK   Kind = 1
	KindReserved Kind = 2
	KindNAK      Kind = 3
)

// Syndromes that carry no free value. SyndromeACK is a positive
// acknowledgement without credit information.
const (
	SyndromeACK               Syndrome = 0x1f
	SyndromePSNSequenceError  Syndrome = 0x60
	SyndromeInvalidRequest    Syndrome = 0x61
	SyndromeRemoteAccess      Syndrome = 0x62
	SyndromeRemoteOperational Syndrome = 0x63
	SyndromeInvalidRDRequest  Syndrome = 0x64
)

// Kind is what the syndrome says. The reserved top bit does not matter.
func (s Syndrome) Kind() Kind { return Kind(s >> 5 & 3) }

// Value is the credit code, RNR timer code or NAK code, 0 to 31.
func (s Syndrome) Value() uint8 { return uint8(s & 31) }

// IsSequenceNAK reports a NAK for a PSN sequence error: the receiver misses
// BTH.PSN.
func (s Syndrome) IsSequenceNAK() bool { return s&0x7f == SyndromePSNSequenceError }

// credits are the end-to-end credits by code (IBA 9.7.7.2).
var credits = [31]uint32{0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768,
	1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768}

// Credits is the number of receive requests that an ACK grants. ok is false
// when it says nothing about them: code 31, or not an ACK.
func (s Syndrome) Credits() (n uint32, ok bool) {
	if s.Kind() != KindACK || int(s.Value()) >= len(credits) {
		return 0, false
	}
	return credits[s.Value()], true
}

// rnrTimers are the RNR NAK timers by code in units of 10 us (IBA 9.7.5.2.8).
var rnrTimers = [32]uint32{65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768,
	1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152}

// RNRTimer is how long an RNR NAK asks the requester to wait; zero when the
// syndrome is no RNR NAK.
func (s Syndrome) RNRTimer() time.Duration {
	if s.Kind() != KindRNRNAK {
		return 0
	}
	return time.Duration(rnrTimers[s.Value()]) * 10 * time.Microsecond
}

// RNRNAK is the syndrome of an RNR NAK that asks to wait for d, or for the next
// longer time that has a code; 655.36 ms, the longest, when there is none.
func RNRNAK(d time.Duration) Syndrome {
	code := 1
	for code < len(rnrTimers) && time.Duration(rnrTimers[code])*10*time.Microsecond < d {
		code++
	}
	return Syndrome(KindRNRNAK)<<5 | Syndrome(code%len(rnrTimers))
}

var nakNames = [...]string{"PSN sequence error", "invalid request", "remote access error", "remote operational error", "invalid RD request"}

// String says it in words: "ACK", "ACK, 16 credits", "RNR NAK, 1.28ms",
// "NAK PSN sequence error".
func (s Syndrome) String() string {
	switch s.Kind() {
	case KindACK:
		if n, ok := s.Credits(); ok {
			return fmt.Sprintf("ACK, %d credits", n)
		}
		return "ACK"
	case KindRNRNAK:
		return "RNR NAK, " + s.RNRTimer().String()
	case KindNAK:
		if v := int(s.Value()); v < len(nakNames) {
			return "NAK " + nakNames[v]
		}
		return fmt.Sprintf("NAK code %d", s.Value())
	}
	return fmt.Sprintf("reserved syndrome %#02x", uint8(s))
}

// AckTimeout is the local ACK timeout that a QP is given as a 5-bit code:
// 4.096 us times 2^code, and zero, which means none, for code 0 (IBA 9.7.6.1.3).
func AckTimeout(code uint8) time.Duration {
	if code == 0 {
		return 0
	}
	return 4096 * time.Nanosecond << (code & 31)
}
