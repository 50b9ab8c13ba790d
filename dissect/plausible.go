package dissect

import "github.com/rdmadump/rdmadump/codec"

// Plausibility says how far a packet that Locate found can be taken for RDMA.
// The framing is no proof: any program may use UDP port 4791.
type Plausibility uint8

// The grades, from worst to best.
const (
	// Implausible: something else, and not to be shown.
	Implausible Plausibility = iota
	// Misfit: the BTH is sound, but the headers that it announces, or its
	// PadCnt, do not fit the length. It is shown, with the error that decoding
	// gives, and takes part in a stream only when its half is known.
	Misfit
	// Plausible: the whole packet is as it should be, without proof. Several of
	// them, with coherent PSNs, make a half.
	Plausible
	// Proven: the ICRC is good, whatever the headers say.
	Proven
)

// String is "implausible", "misfit", "plausible" or "proven".
func (g Plausibility) String() string {
	return [...]string{"implausible", "misfit", "plausible", "proven"}[g]
}

// Judge grades a packet by its decoded BTH and by what its ICRC says. A caller
// that does not check the ICRC says that it is absent. Lengths are those on the
// wire: a packet that the capture cut short is none the worse for it.
func (p *Packet) Judge(h *codec.BTH, icrc ICRCState) Plausibility {
	op := h.Opcode
	switch {
	case icrc == ICRCGood:
		return Proven
	case h.TVer != 0, h.PKey == 0, !op.Known() && !op.Manufacturer(), !destQPFits(h):
		return Implausible
	case h.Fits(p.WireLen):
		return Plausible
	case op.Known() && !reservedBits(h):
		return Misfit
	}
	return Implausible
}

// JudgeCut is Judge of a packet that Locate found Cut, by the bytes of the BTH
// that were captured; where there are none, framing is all that speaks for it.
// It is Implausible or Misfit: such a packet has no place in a stream.
func (p *Packet) JudgeCut() Plausibility {
	b := [12]byte{0, 0, 0xff, 0xff, 0, 0, 0, 2} // what is missing is as it should be
	var h codec.BTH
	if n := copy(b[:], p.Transport()); n == 0 || h.Decode(b[:]) != nil {
		return Misfit
	}
	return min(p.Judge(&h, ICRCAbsent), Misfit)
}

// destQPFits reports whether the service can address the queue pair: the
// connected ones have no management queue pairs and no multicast.
func destQPFits(h *codec.BTH) bool {
	switch h.Opcode.Service() {
	case codec.RC, codec.UC, codec.XRC, codec.IRN:
		return h.DestQP > 1 && h.DestQP != 0xffffff
	}
	return true
}

// reservedBits reports whether any bit is set that IBA reserves.
func reservedBits(h *codec.BTH) bool {
	return h.Rsv6 != 0 || h.Rsv1 != 0 || h.ReTx || h.Synchronise || h.Rsv4 != 0
}
