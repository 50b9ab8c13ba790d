package report

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// Packet is one RDMA packet with all that can be printed of it. Reuse one:
// Decode overwrites it.
type Packet struct {
	Frame *dissect.Frame  // the frame that carries it
	Outer *dissect.Packet // where it lies in the frame, and what the headers around it say
	codec.Packet
	CM   codec.CM // what the payload of a management datagram holds; Headers is 0 for others
	Err  error    // why it could not be decoded to its end, nil if it could
	ICRC dissect.ICRCState
}

// Decode takes a frame and the packet that was located in it. Both are
// borrowed, and must stay as they are while the Packet is printed.
func (p *Packet) Decode(f *dissect.Frame, outer *dissect.Packet) {
	p.Frame, p.Outer = f, outer
	p.Err = p.Packet.Decode(outer.Transport(), outer.WireLen)
	p.ICRC = outer.ICRC()
	p.decodeManagement()
}

// rest is what Transport holds behind the headers, payload and pad that were
// decoded: the ICRC, whole or cut.
func (p *Packet) rest() []byte {
	t := p.Outer.Transport()
	n := len(p.Payload) + len(p.Pad)
	for _, h := range codec.Headers() {
		n += len(p.HeaderBytes(h))
	}
	return t[min(n, len(t)):]
}
