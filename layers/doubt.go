package layers

import (
	"errors"

	"github.com/google/gopacket"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// ErrNotRDMA says that bytes behind UDP port 4791 are no RDMA packet.
var ErrNotRDMA = errors.New("not an RDMA packet")

// credible reports whether a BTH behind UDP port 4791, of a packet with wireLen
// bytes on the wire, can be one. The port alone proves nothing.
func credible(h *codec.BTH, wireLen int) bool {
	p := dissect.Packet{WireLen: wireLen}
	return p.Judge(h, dissect.ICRCAbsent) != dissect.Implausible
}

// proved reports whether the ICRC of a packet behind the given layers is good,
// whatever else looks wrong with it.
func proved(before []gopacket.Layer) bool {
	p, ok := trace(before)
	return ok && p.ICRC() == dissect.ICRCGood
}
