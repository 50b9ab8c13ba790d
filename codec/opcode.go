package codec

import "fmt"

// Opcode is the first byte of the BTH: a service (3 bits) and an operation
// (5 bits) (IBA 9.2.2, table 38; FLUSH and ATOMIC WRITE from annex A19, CNP
// from annex A17, the manufacturer range 0xE0-0xFF for IRN and MP-RDMA).
type Opcode uint8

// OpcodeCNP is the congestion notification packet, the one opcode that is not
// made of service and operation.
const OpcodeCNP Opcode = 0x81

// Opcodes of the extensions that have no IBA operation behind them.
const (
	OpcodeIRNNack       Opcode = 0xf1 // NACK of a request
	OpcodeIRNReadAck    Opcode = 0xf8 // ACK of a READ response, sent by the requester
	OpcodeIRNReadNack   Opcode = 0xf9 // NACK of a READ response, sent by the requester
	OpcodeMPRDMAAck     Opcode = 0xfa
	OpcodeMPRDMANack    Opcode = 0xfb
	firstManufacturerOp Opcode = 0xc0
)

// Service is the transport service, the upper 3 bits of an opcode.
type Service uint8

// The services.
const (
	RC  Service = iota // Reliable Connection
	UC                 // Unreliable Connection
	RD                 // Reliable Datagram
	UD                 // Unreliable Datagram
	_                  // CNP has this range to itself
	XRC                // Extended Reliable Connection
	MRC                // 0xC0-0xDF, used by OCP MRC, not decoded here
	IRN                // 0xE0-0xFF, manufacturer-specific: IRN and MP-RDMA
)

// String is the service's name, "RC".
func (s Service) String() string { return services[s&7].name }

// Operation is the lower 5 bits of an opcode.
type Operation uint8

// The operations (IBA table 38).
const (
	SendFirst Operation = iota
	SendMiddle
	SendLast
	SendLastImm
	SendOnly
	SendOnlyImm
	WriteFirst
	WriteMiddle
	WriteLast
	WriteLastImm
	WriteOnly
	WriteOnlyImm
	ReadRequest
	ReadResponseFirst
	ReadResponseMiddle
	ReadResponseLast
	ReadResponseOnly
	Acknowledge
	AtomicAcknowledge
	CmpSwap
	FetchAdd
	Resync
	SendLastInv
	SendOnlyInv

	Flush       Operation = 0x1c
	AtomicWrite Operation = 0x1d
)

// Verb is what an operation belongs to.
type Verb uint8

// The verbs, and the three kinds of answer.
const (
	VerbNone Verb = iota
	VerbSend
	VerbWrite
	VerbRead
	VerbAtomic
	VerbFlush
	VerbAtomicWrite
	VerbResync
	VerbReadResponse
	VerbAck       // Acknowledge and the extensions' own
	VerbAtomicAck // ATOMIC Acknowledge
)

// Op makes an opcode of its parts.
func Op(s Service, o Operation) Opcode { return Opcode(s)<<5 | Opcode(o) }

// Service is the upper 3 bits.
func (o Opcode) Service() Service { return Service(o >> 5) }

// Operation is the lower 5 bits. In the manufacturer range it is the IBA
// operation only where Verb says so.
func (o Opcode) Operation() Operation { return Operation(o & 31) }

// Known reports whether this package can decode what follows the BTH.
func (o Opcode) Known() bool { return opcodes[o].known }

// Manufacturer reports whether the opcode lies in the ranges that IBA leaves to
// manufacturers, 0xC0-0xFF.
func (o Opcode) Manufacturer() bool { return o >= firstManufacturerOp }

// Headers is the set of headers of a packet with this opcode, the BTH
// included. It is the BTH alone when the opcode is not known. A T/C AETH is
// never in it, since its presence shows in the length only.
func (o Opcode) Headers() HeaderSet { return opcodes[o].headers }

// Verb says what the operation belongs to; VerbNone for CNP and what is not
// known.
func (o Opcode) Verb() Verb { return opcodes[o].verb }

// Starts reports whether the packet is the first of its message.
func (o Opcode) Starts() bool { return opcodes[o].place&starts != 0 }

// Ends reports whether the packet is the last of its message.
func (o Opcode) Ends() bool { return opcodes[o].place&ends != 0 }

// Response reports whether the packet answers a request: READ responses and
// acknowledgements. IRN's acknowledgements of READ responses are responses too,
// though the requester sends them.
func (o Opcode) Response() bool { return opcodes[o].verb >= VerbReadResponse }

// Payload reports whether bytes may stand between the headers and the pad.
func (o Opcode) Payload() bool { return opcodes[o].place&payload != 0 }

// String is service and operation, "RC RDMA WRITE First", or "Opcode(0xff)".
func (o Opcode) String() string {
	if n := opcodes[o].name; n != "" {
		return n
	}
	return fmt.Sprintf("Opcode(%#02x)", uint8(o))
}

// place says where in its message a packet stands.
type place uint8

const (
	starts place = 1 << iota
	ends
	payload

	only = starts | ends
)

// operations and services are all there is to know of IBA opcodes.
var operations = [32]struct {
	name    string
	verb    Verb
	place   place
	headers HeaderSet
}{
	SendFirst:          {"SEND First", VerbSend, starts | payload, 0},
	SendMiddle:         {"SEND Middle", VerbSend, payload, 0},
	SendLast:           {"SEND Last", VerbSend, ends | payload, 0},
	SendLastImm:        {"SEND Last with Immediate", VerbSend, ends | payload, Set(HeaderImmDt)},
	SendOnly:           {"SEND Only", VerbSend, only | payload, 0},
	SendOnlyImm:        {"SEND Only with Immediate", VerbSend, only | payload, Set(HeaderImmDt)},
	WriteFirst:         {"RDMA WRITE First", VerbWrite, starts | payload, Set(HeaderRETH)},
	WriteMiddle:        {"RDMA WRITE Middle", VerbWrite, payload, 0},
	WriteLast:          {"RDMA WRITE Last", VerbWrite, ends | payload, 0},
	WriteLastImm:       {"RDMA WRITE Last with Immediate", VerbWrite, ends | payload, Set(HeaderImmDt)},
	WriteOnly:          {"RDMA WRITE Only", VerbWrite, only | payload, Set(HeaderRETH)},
	WriteOnlyImm:       {"RDMA WRITE Only with Immediate", VerbWrite, only | payload, Set(HeaderRETH, HeaderImmDt)},
	ReadRequest:        {"RDMA READ Request", VerbRead, only, Set(HeaderRETH)},
	ReadResponseFirst:  {"RDMA READ Response First", VerbReadResponse, starts | payload, Set(HeaderAETH)},
	ReadResponseMiddle: {"RDMA READ Response Middle", VerbReadResponse, payload, 0},
	ReadResponseLast:   {"RDMA READ Response Last", VerbReadResponse, ends | payload, Set(HeaderAETH)},
	ReadResponseOnly:   {"RDMA READ Response Only", VerbReadResponse, only | payload, Set(HeaderAETH)},
	Acknowledge:        {"Acknowledge", VerbAck, only, Set(HeaderAETH)},
	AtomicAcknowledge:  {"ATOMIC Acknowledge", VerbAtomicAck, only, Set(HeaderAETH, HeaderAtomicAckETH)},
	CmpSwap:            {"CmpSwap", VerbAtomic, only, Set(HeaderAtomicETH)},
	FetchAdd:           {"FetchAdd", VerbAtomic, only, Set(HeaderAtomicETH)},
	Resync:             {"RESYNC", VerbResync, only | payload, 0},
	SendLastInv:        {"SEND Last with Invalidate", VerbSend, ends | payload, Set(HeaderIETH)},
	SendOnlyInv:        {"SEND Only with Invalidate", VerbSend, only | payload, Set(HeaderIETH)},
	Flush:              {"FLUSH", VerbFlush, only, Set(HeaderFETH, HeaderRETH)},
	AtomicWrite:        {"ATOMIC WRITE", VerbAtomicWrite, only | payload, Set(HeaderRETH)},
}

// Sets of operations, one bit each.
const (
	sendsAndWrites = 1<<(WriteOnlyImm+1) - 1
	toFetchAdd     = 1<<(FetchAdd+1) - 1
	invalidates    = 1<<SendLastInv | 1<<SendOnlyInv
)

var services = [8]struct {
	name               string
	operations         uint32    // which operations it has
	requests, response HeaderSet // what it puts behind the BTH of either
}{
	RC:  {name: "RC", operations: toFetchAdd | invalidates | 1<<Flush | 1<<AtomicWrite},
	UC:  {name: "UC", operations: sendsAndWrites},
	RD:  {name: "RD", operations: toFetchAdd | 1<<Resync | 1<<Flush, requests: Set(HeaderRDETH, HeaderDETH), response: Set(HeaderRDETH)},
	UD:  {name: "UD", operations: 1<<SendOnly | 1<<SendOnlyImm, requests: Set(HeaderDETH)},
	4:   {name: "CNP"},
	XRC: {name: "XRC", operations: toFetchAdd | invalidates, requests: Set(HeaderXRCETH)},
	MRC: {name: "MRC"},
	IRN: {name: "IRN", operations: sendsAndWrites | 1<<ReadRequest | 1<<ReadResponseFirst | 1<<ReadResponseMiddle |
		1<<ReadResponseLast | 1<<ReadResponseOnly | 1<<CmpSwap | 1<<FetchAdd | invalidates},
}

// irnHeaders is what IRN adds to the headers of an IBA operation, by verb:
// RETH in every WRITE packet, IRNETH where a WQE must be found.
func irnHeaders(o Operation) HeaderSet {
	switch {
	case operations[o].verb == VerbSend, operations[o].verb == VerbRead, operations[o].verb == VerbAtomic:
		return Set(HeaderIRNETH)
	case o == WriteLastImm, o == WriteOnlyImm:
		return Set(HeaderRETH, HeaderIRNETH)
	case operations[o].verb == VerbWrite:
		return Set(HeaderRETH)
	}
	return 0
}

type opcodeInfo struct {
	name    string
	headers HeaderSet
	verb    Verb
	place   place
	known   bool
	reports bool // an acknowledgement that may carry a T/C AETH
	len     int  // of the headers
}

// opcodes spells the two tables out, so that a packet costs one look-up.
var opcodes = spellOut()

func spellOut() (all [256]opcodeInfo) {
	for i := range all {
		o := Opcode(i)
		s, op := services[o.Service()], operations[o.Operation()]
		if s.operations>>o.Operation()&1 == 0 {
			all[i].headers = Set(HeaderBTH)
			continue
		}
		headers := Set(HeaderBTH) | op.headers
		if op.verb >= VerbReadResponse {
			headers |= s.response
		} else {
			headers |= s.requests
		}
		if o.Service() == IRN {
			headers |= irnHeaders(o.Operation())
		}
		all[i] = opcodeInfo{name: s.name + " " + op.name, headers: headers, verb: op.verb, place: op.place, known: true}
	}
	all[OpcodeCNP] = opcodeInfo{name: "CNP", headers: Set(HeaderBTH, HeaderCNP), place: only, known: true}
	ack := func(o Opcode, name string, headers HeaderSet) {
		all[o] = opcodeInfo{name: name, headers: Set(HeaderBTH, HeaderAETH) | headers, verb: VerbAck, place: only, known: true}
	}
	ack(OpcodeIRNNack, "IRN NACK", Set(HeaderSackETH))
	ack(OpcodeIRNReadAck, "IRN READ Response ACK", 0)
	ack(OpcodeIRNReadNack, "IRN READ Response NACK", Set(HeaderSackETH))
	ack(OpcodeMPRDMAAck, "MP-RDMA ACK", Set(HeaderMPETH))
	ack(OpcodeMPRDMANack, "MP-RDMA NACK", Set(HeaderMPETH))
	for _, s := range [...]Service{RC, XRC} {
		all[Op(s, Acknowledge)].reports = true
		all[Op(s, AtomicAcknowledge)].reports = true
	}
	for i := range all {
		all[i].len = all[i].headers.Len()
	}
	return all
}
