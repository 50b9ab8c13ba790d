// Package layers makes the headers of package codec known to gopacket.
//
// Importing it is enough for gopacket.NewPacket, eager, lazy or NoCopy, to find
// RoCEv2 behind UDP port 4791, RoCEv1 behind Ethertype 0x8915 and InfiniBand in
// captures of link type 247. Every header becomes a layer of its own, in the
// order on the wire: BTH, its extension headers, payload, pad, ICRC. The name is
// that of gopacket's own package, so import one of the two under another:
//
//	import (
//		"github.com/google/gopacket/layers"
//		rdmalayers "github.com/rdmadump/rdmadump/layers"
//	)
//
// What follows a BTH is known from its opcode only, so that BTH is the decoder
// for the whole stack and never asks for the next one. With a
// gopacket.DecodingLayerParser, which knows one struct per layer, BTH.Packet
// holds all of it and nothing is allocated.
//
// gopacket takes a UDP port for a protocol whether it is the destination or the
// source, so what comes from it is doubted: bytes that cannot be an RDMA packet
// stay payload and are no error. After an error inside an RDMA packet the bytes
// from the fault on are a payload layer, and Packet.ErrorLayer says what is
// wrong.
//
// A packet of which the capture holds only a part gets no ICRC layer; what there
// is of a CRC is a gopacket.Fragment.
//
// All layers serialise to the bytes that they were decoded from. The ICRC covers
// the headers around it, which do not exist yet when a layer is serialised:
// FixICRC computes it in the finished frame.
package layers
