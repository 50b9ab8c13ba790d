package dissect

import (
	"encoding/binary"

	"github.com/rdmadump/rdmadump/codec"
)

// Stripper makes copies of frames that tell how a network behaved and nothing
// of what it carried, such as a vendor may see. Every length and every header
// stays: addresses, keys, immediate data and the operands of atomics too. Zeros
// stand in place of
//
//   - payload and pad; what cannot be decoded is taken for payload,
//   - all of a management datagram that is not connection management; of a
//     connection management message its private data, but for IP addresses and
//     ports (RDMA IP CM) and rates, and the additional information of a REJ,
//   - what follows the ICRC: padding of the link, frame check sequence, VCRC,
//   - the checksums of UDP and GRE, around tunnels too.
//
// The zero Stripper is ready for use.
type Stripper struct {
	Locator Locator

	// LeaveICRC leaves the ICRC as it is, so that it is wrong wherever there was
	// payload, and tells 32 bits about that: enough to work out 4 bytes of it.
	// Otherwise it is made anew: right where it was right; the complement of
	// what is right where it was wrong, but zero where it was zero, as
	// software captures have it; zero where it cannot be checked.
	LeaveICRC bool

	// ICRC counts the frames by the state of the ICRC that they came with.
	ICRC [3]int64

	locator Locator // that notes checksums
	frame   Frame
	packet  Packet
	decoded codec.Packet
	message codec.CM
	sums    []int
}

// Strip copies a frame without what it carried. The copy is valid until the next
// call. It is nil when no RDMA packet is found in the frame, so that nothing is
// known to be harmless in it. Once its buffers have grown, Strip does not
// allocate.
func (s *Stripper) Strip(f *Frame) *Frame {
	data := append(s.frame.Data[:0], f.Data...)
	s.frame = *f
	s.frame.Data = data
	s.sums = s.sums[:0]
	s.locator = s.Locator
	s.locator.sums = &s.sums
	p := &s.packet
	switch s.locator.follow(&s.frame, p) {
	case Found:
	case Cut: // there is nothing but headers
		for _, off := range s.sums {
			clear(data[off : off+2])
		}
		return &s.frame
	default:
		return nil
	}
	state := p.ICRC()
	s.ICRC[state]++
	d := &s.decoded
	fault := d.Decode(p.Transport(), p.WireLen)
	payload := d.Payload
	if fault == nil && d.BTH.DestQP == 1 && d.Has(codec.HeaderDETH) {
		payload = s.manage(payload)
	}
	clear(payload)
	clear(d.Pad)
	clear(p.Trailer)
	for _, off := range s.sums {
		clear(data[off : off+2])
	}
	if !s.LeaveICRC {
		clear(d.CutICRC)
		s.reseal(state)
	}
	return &s.frame
}

// manage is what is to be zeroed of a management datagram.
func (s *Stripper) manage(b []byte) []byte {
	m := &s.message
	_ = m.Decode(b) // what it cannot read is not among its headers
	if !m.Has(codec.HeaderMAD) || m.Class != codec.ClassCM {
		return b
	}
	if m.Has(codec.HeaderREJ) {
		clear(b[codec.HeaderMAD.Len()+12 : codec.HeaderMAD.Len()+codec.HeaderREJ.Len()])
	}
	return b[m.Headers.Len():]
}

// reseal makes the ICRC anew. What is written in place of a wrong one owes
// nothing to it: the difference between the two would tell of the payload.
func (s *Stripper) reseal(state ICRCState) {
	p, icrc := &s.packet, s.decoded.ICRC
	if len(icrc) < 4 {
		return
	}
	if state == ICRCAbsent {
		clear(icrc)
		return
	}
	right, err := codec.ICRC(p.Carrier, p.Covered[:p.BTH+p.WireLen-4], p.BTH)
	if err != nil {
		clear(icrc)
		return
	}
	old := binary.LittleEndian.Uint32(icrc)
	switch {
	case state == ICRCGood:
		binary.LittleEndian.PutUint32(icrc, right)
	case old != 0 || right == 0:
		binary.LittleEndian.PutUint32(icrc, ^right)
	}
}
