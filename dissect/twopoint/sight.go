package twopoint

import (
	"encoding/binary"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// sight is one copy of a packet as one capture point saw it. Sights live in a
// pool and name each other by index, so that the collector has little to look
// at; index 0 is none.
type sight struct {
	identity
	hash  uint64 // of the identity
	time  int64  // by the clock of its point
	seq   psn.Seq
	place int64 // among the sights of its stream at its point, from 1
	frame int
	nth   int32 // transmission of its PSN, from 1

	next   int32 // in its chain
	mate   int32 // the same copy at the other point, 0 once that was released
	far    int64 // place of the mate
	before int64 // the largest place of a mate among those settled before it
	times  uint16
	other  uint16 // times of a mate that was released

	traffic, hops uint8
	icrc          dissect.ICRCState
	point         uint8 // 0 or 1, of its pair
	mated         bool
	unique        bool // no other copy has the same identity
	waits         bool // it was settled without a mate
	wanted        bool // its hosts and queue pairs are selected
	chosen        bool // it counts: it is wanted, and passed the first point in the stretch that is selected
	phase         int8 // -1 before that stretch, 1 behind it
}

// identity is what the sights of one copy have in common, and, where unique,
// nothing else. It leaves out what the way may change: TTL, DSCP and ECN, and
// the bytes that damage shows in.
type identity struct {
	stream *stream
	psn    psn.PSN
	tell   uint32 // the AETH of an acknowledgement
	wire   uint32 // length from the BTH to the ICRC
	ipid   uint16
	op     codec.Opcode
}

// mix makes a hash of the identity.
func (id *identity) mix(seed uint64) uint64 {
	h := seed ^ uint64(id.stream.number)
	for _, v := range [...]uint64{uint64(id.psn) | uint64(id.tell)<<32, uint64(id.wire)<<32 | uint64(id.ipid)<<8 | uint64(id.op)} {
		h = scramble(h ^ v)
	}
	return h
}

// scramble spreads 64 bits (the finalizer of MurmurHash3).
func scramble(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// Kind is what the packets of a stream are.
type Kind string

// The kinds. Feedback is ACK, NAK and ATOMIC acknowledges and what the
// transports send in their place; a CNP belongs to no PSN space.
const (
	Request      Kind = "request"
	ReadResponse Kind = "read-response"
	Feedback     Kind = "feedback"
	CNP          Kind = "cnp"
	Datagram     Kind = "datagram"
)

// kindOf tells the kind of a packet by its opcode.
func kindOf(op codec.Opcode) Kind {
	switch {
	case op == codec.OpcodeCNP:
		return CNP
	case op.Service() == codec.UD:
		return Datagram
	case op.Verb() == codec.VerbReadResponse:
		return ReadResponse
	case op.Response():
		return Feedback
	}
	return Request
}

// streamKey is a half and a kind. A datagram's PSN belongs to the queue pair
// that sends, so its key has that too.
type streamKey struct {
	src, dst  dissect.Address
	qpn, src2 uint32
	kind      Kind
}

// arrival is a located packet as all pairs of a point take it.
type arrival struct {
	key   streamKey
	sight sight // all but the stream and what depends on it
	grade dissect.Plausibility
}

// read fills in from a packet whose BTH is h.
func (in *arrival) read(p *dissect.Packet, h *codec.BTH, icrc dissect.ICRCState, grade dissect.Plausibility) {
	in.key = streamKey{src: p.Src, dst: p.Dst, qpn: h.DestQP, kind: kindOf(h.Opcode)}
	in.grade = grade
	in.sight = sight{
		identity: identity{psn: h.PSN, op: h.Opcode, ipid: p.IPID, wire: uint32(p.WireLen)},
		time:     tame(p.Time), frame: p.Number, icrc: icrc, traffic: p.Traffic, hops: p.HopLimit, times: 1,
	}
	t := p.Transport()
	at := codec.HeaderBTH.Len()
	switch in.key.kind {
	case Feedback:
		if len(t) >= at+4 && p.WireLen >= at+8 {
			in.sight.tell = binary.BigEndian.Uint32(t[at:])
		}
	case Datagram:
		var deth codec.DETH
		if len(t) >= at && deth.Decode(t[at:]) == nil {
			in.key.src2 = deth.SrcQP
		}
	}
}
