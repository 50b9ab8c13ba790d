package layers

import (
	"github.com/google/gopacket"

	"github.com/rdmadump/rdmadump/dissect"
)

// Packet is what an analysis takes of a decoded packet: where its RDMA packet
// lies and what the headers around it say. It is what dissect.Locator finds in
// the bytes, but from the layers. ok is false when they do not lead to RDMA or
// the capture ends before the BTH does; also for link types, tunnels and
// headers that gopacket does not decode, or takes for something else.
//
// The packet aliases p.Data. Number and File stay 0, since gopacket does not
// count frames: set them. Doubt about what UDP port 4791 carries is left to the
// analysis, as for every dissect.Packet, so that ok is true also where it kept
// NewPacket from adding a BTH.
func Packet(p gopacket.Packet) (q dissect.Packet, ok bool) {
	q, ok = trace(p.Layers())
	if !ok {
		return dissect.Packet{}, false
	}
	frame := p.Data()
	start := cap(frame) - cap(q.Covered)
	q.Link, q.Trailer = frame[:start], frame[start+len(q.Covered):]
	info := p.Metadata().CaptureInfo
	q.Time, q.Cut = info.Timestamp.UnixNano(), q.Cut || info.CaptureLength < info.Length
	return q, true
}
