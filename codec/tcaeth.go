package codec

import (
	"errors"
	"fmt"

	"github.com/rdmadump/rdmadump/psn"
)

// TCAETH is the fragment that a windowless receiver puts behind the AETH: which
// PSNs it has (draft "Windowless Cumulative ACK Extension for RDMA
// Retransmission"). All fields are 24 bits wide. No opcode or flag announces
// it: it is recognised by the length of the acknowledgement.
//
//	+-----------------------+-----------------------+
//	|      SegmentNum       |    LastFinishedPSN    |
//	+-----------------------+-----------------------+
//	|       Seg1Left        |       Seg1Right       |
//	+-----------------------+-----------------------+
//	|       Seg2Left        |       Seg2Right       |
//	+-----------------------+-----------------------+
//	|       Seg3Left        |       Seg3Right       |
//	+-----------------------+-----------------------+
//	|        rsv 24         |     rsv 24 (cont.)    |
//	+-----------------------+-----------------------+
//
// The draft names 27 bytes of fields and fixes the size at 30; the 27-byte form
// is read too and marked Short.
type TCAETH struct {
	SegmentNum          uint32  // received segments reported, the first continuous block included: 1 to 4
	LastFinishedPSN     psn.PSN // last PSN of the first continuous block
	Seg1Left, Seg1Right psn.PSN // both ends inclusive
	Seg2Left, Seg2Right psn.PSN
	Seg3Left, Seg3Right psn.PSN
	Rsv24               uint32
	RsvCont             uint32
	Short               bool // the form of 27 bytes, without RsvCont
}

// tcaethShort is the length of the form without RsvCont.
const tcaethShort = 27

// Decode reads the header: its short form when b has exactly 27 bytes, else 30
// bytes from the start of b.
func (h *TCAETH) Decode(b []byte) error {
	h.Short = len(b) == tcaethShort
	if len(b) < 30 && !h.Short {
		return truncated(HeaderTCAETH, len(b))
	}
	h.SegmentNum, h.LastFinishedPSN = uint24(b), psn.PSN(uint24(b[3:]))
	h.Seg1Left, h.Seg1Right = psn.PSN(uint24(b[6:])), psn.PSN(uint24(b[9:]))
	h.Seg2Left, h.Seg2Right = psn.PSN(uint24(b[12:])), psn.PSN(uint24(b[15:]))
	h.Seg3Left, h.Seg3Right = psn.PSN(uint24(b[18:])), psn.PSN(uint24(b[21:]))
	h.Rsv24, h.RsvCont = uint24(b[24:]), 0
	if !h.Short {
		h.RsvCont = uint24(b[27:])
	}
	return nil
}

// Len is the length of this form in bytes, 30 or 27.
func (h *TCAETH) Len() int {
	if h.Short {
		return tcaethShort
	}
	return 30
}

// AppendBinary appends the header's Len bytes to b, or returns ErrRange.
func (h *TCAETH) AppendBinary(b []byte) ([]byte, error) {
	fields := [...]uint32{h.SegmentNum, uint32(h.LastFinishedPSN), uint32(h.Seg1Left), uint32(h.Seg1Right),
		uint32(h.Seg2Left), uint32(h.Seg2Right), uint32(h.Seg3Left), uint32(h.Seg3Right), h.Rsv24, h.RsvCont}
	for i, v := range fields {
		if v > psn.Mask {
			return b, outOfRange(HeaderTCAETH, HeaderTCAETH.Fields()[i].Name, uint64(v), 24)
		}
	}
	for _, v := range fields[:h.Len()/3] {
		b = append24(b, v)
	}
	return b, nil
}

// The ways in which a T/C AETH makes no sense.
var (
	ErrSegmentNum   = errors.New("SegmentNum is not 1 to 4")
	ErrSegmentOrder = errors.New("segments are not ordered and disjoint above LastFinishedPSN")
)

// Segments are the segments behind the first continuous block that SegmentNum
// says are there; n of them count.
func (h *TCAETH) Segments() (segments [3]psn.Range, n int) {
	segments = [3]psn.Range{{First: h.Seg1Left, Last: h.Seg1Right}, {First: h.Seg2Left, Last: h.Seg2Right}, {First: h.Seg3Left, Last: h.Seg3Right}}
	return segments, int(min(max(h.SegmentNum, 1)-1, 3))
}

// Validate returns nil when the report makes sense, else ErrSegmentNum or
// ErrSegmentOrder, wrapped with what is wrong. A first segment that touches
// LastFinishedPSN is valid.
func (h *TCAETH) Validate() error {
	if h.SegmentNum < 1 || h.SegmentNum > 4 {
		return fmt.Errorf("T/C AETH: %w: %d", ErrSegmentNum, h.SegmentNum)
	}
	segments, n := h.Segments()
	before := 0 // distance of the last PSN so far from LastFinishedPSN
	for i, s := range segments[:n] {
		left, right := s.First.Sub(h.LastFinishedPSN), s.Last.Sub(h.LastFinishedPSN)
		if left <= before || right < left {
			return fmt.Errorf("T/C AETH: %w: Seg%d is %d..%d", ErrSegmentOrder, i+1, s.First, s.Last)
		}
		before = right
	}
	return nil
}

// Gaps appends to dst the PSN ranges that the report shows missing: those
// between neighbouring segments. It appends nothing when Validate fails. What
// comes after the last segment is not judged.
func (h *TCAETH) Gaps(dst []psn.Range) []psn.Range {
	if h.Validate() != nil {
		return dst
	}
	segments, n := h.Segments()
	last := h.LastFinishedPSN
	for _, s := range segments[:n] {
		if s.First != last.Add(1) {
			dst = append(dst, psn.Range{First: last.Add(1), Last: s.First.Add(-1)})
		}
		last = s.Last
	}
	return dst
}
