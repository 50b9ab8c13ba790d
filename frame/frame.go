package frame

import (
	"github.com/rdmadump/rdmadump/codec"
)

// Vary is what changes from packet to packet in front of the BTH.
type Vary struct {
	SrcPort uint16 // UDP source port; RoCEv2
	ID      uint16 // identification; IPv4
}

const icrcLen, vcrcLen = 4, 2

// Len is how long the frame of a packet is, from the link header to the ICRC or
// VCRC. BTH.PadCnt says how much pad there is; the packet's Pad, ICRC and CutICRC
// do not count.
func (f *Framer) Len(p *codec.Packet) int {
	n := len(f.head) + headersLen(p) + len(p.Payload) + f.Tail()
	if p.BTH.Opcode != codec.OpcodeCNP {
		n += int(p.BTH.PadCnt)
	}
	return n
}

// headersLen is how many bytes the packet's headers take.
func headersLen(p *codec.Packet) int {
	n := p.Headers.Len()
	if p.Has(codec.HeaderTCAETH) {
		n += p.TCAETH.Len() - codec.HeaderTCAETH.Len()
	}
	return n
}

// Tail is how many bytes of a frame come behind payload and pad.
func (f *Framer) Tail() int {
	if f.carrier >= codec.InfiniBand {
		return icrcLen + vcrcLen
	}
	return icrcLen
}

// Append appends the frame of a packet to b: the headers that it names, its
// payload, BTH.PadCnt zeros and a right ICRC. At most snap bytes of it are
// appended; of a frame that is cut no ICRC is computed. The error is that of
// codec.Packet.AppendBinary, and b is unchanged then. It allocates nothing where
// b has room for the whole frame.
func (f *Framer) Append(b []byte, p *codec.Packet, v Vary, snap int) ([]byte, error) {
	start := len(b)
	b = append(b, f.head...)
	bth := len(b)
	b, err := p.AppendBinary(b)
	if err != nil {
		return b[:start], err
	}
	b = b[:len(b)-len(p.Pad)-len(p.ICRC)-len(p.CutICRC)]
	if p.BTH.Opcode != codec.OpcodeCNP {
		b = append(b, 0, 0, 0)[:len(b)+int(p.BTH.PadCnt)]
	}
	f.lengths(b[start:], len(b)-bth+icrcLen, v)
	if snap > len(b)-start || f.carrier == codec.RoCEv2IPv6 { // whose UDP checksum covers the ICRC
		if b, err = f.seal(b, start, bth, p); err != nil {
			return b[:start], err
		}
	}
	return b[:start+min(snap, len(b)-start)], nil
}

// lengths fills in what depends on the length n from the BTH to the ICRC.
func (f *Framer) lengths(b []byte, n int, v Vary) {
	ip := b[f.ip:]
	switch f.carrier {
	case codec.RoCEv2IPv4:
		be.PutUint16(ip[2:], uint16(28+n))
		be.PutUint16(ip[4:], v.ID)
		be.PutUint16(ip[10:], fold(f.sum+uint32(28+n)+uint32(v.ID)))
		be.PutUint16(ip[20:], v.SrcPort)
		be.PutUint16(ip[24:], uint16(8+n))
	case codec.RoCEv2IPv6:
		be.PutUint16(ip[4:], uint16(8+n))
		be.PutUint16(ip[40:], v.SrcPort)
		be.PutUint16(ip[44:], uint16(8+n))
	case codec.RoCEv1:
		be.PutUint16(ip[4:], uint16(n))
	case codec.InfiniBand:
		be.PutUint16(b[4:], uint16(8+n)/4)
	case codec.InfiniBandGRH:
		be.PutUint16(b[4:], uint16(48+n)/4)
		be.PutUint16(ip[4:], uint16(n))
	}
}

// seal appends the ICRC and what comes behind it or depends on it. The frame
// begins at start, its BTH at bth.
func (f *Framer) seal(b []byte, start, bth int, p *codec.Packet) ([]byte, error) {
	icrc, err := f.sign(b[start+f.icrc:], bth-start-f.icrc, p)
	if err != nil {
		return b, err
	}
	b = codec.AppendICRC(b, icrc)
	switch f.carrier {
	case codec.RoCEv2IPv6: // may not do without (RFC 8200, 8.1)
		udp := b[bth-8:]
		check := fold(sum(f.sum+uint32(len(udp)), udp))
		if check == 0 {
			check = 0xffff
		}
		be.PutUint16(udp[6:], check)
	case codec.InfiniBand, codec.InfiniBandGRH:
		b = be.AppendUint16(b, vcrc(b[start:]))
	}
	return b, nil
}

// MarkCE marks a frame of this Framer, cut or not, as a congested switch does:
// both bits of ECN are set, and the checksum of IPv4 is mended. It reports false,
// and leaves the frame alone, where its sender does not take part in ECN.
func (f *Framer) MarkCE(b []byte) bool {
	return len(b) >= f.ip && MarkCE(f.carrier, b[f.ip:])
}
