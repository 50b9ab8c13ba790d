package codec

import "math/bits"

// Header names a kind of header. The order is the order on the wire: of two
// headers in one packet the smaller comes first.
type Header uint8

// The headers of IBA and of the extensions.
const (
	HeaderLRH          Header = iota // Local Route Header
	HeaderGRH                        // Global Route Header
	HeaderBTH                        // Base Transport Header
	HeaderRDETH                      // Reliable Datagram Extended Transport Header
	HeaderDETH                       // Datagram Extended Transport Header
	HeaderXRCETH                     // XRC Extended Transport Header
	HeaderFETH                       // Flush Extended Transport Header
	HeaderRETH                       // RDMA Extended Transport Header
	HeaderAtomicETH                  // Atomic Extended Transport Header
	HeaderAETH                       // ACK Extended Transport Header
	HeaderTCAETH                     // T/C AETH, the windowless cumulative ACK
	HeaderAtomicAckETH               // Atomic ACK Extended Transport Header
	HeaderSackETH                    // IRN: the PSN that triggered a NACK
	HeaderMPETH                      // MP-RDMA: path echo and aggregated ACK
	HeaderIRNETH                     // IRN: WQE sequence number and offset
	HeaderImmDt                      // Immediate Data
	HeaderIETH                       // Invalidate Extended Transport Header
	HeaderCNP                        // the 16 reserved bytes of a congestion notification

	// Headers of a management datagram, the payload of a UD packet (see CM).
	HeaderMAD  // Management Datagram
	HeaderREQ  // request for a connection
	HeaderREP  // reply to a request
	HeaderRTU  // ready to use
	HeaderDREQ // request for disconnection
	HeaderDREP // reply to a request for disconnection
	HeaderREJ  // reject
	HeaderIPCM // addresses of the RDMA IP CM service
	HeaderRate // rate advertisement of a windowless sender

	numHeaders
)

// Len is the header's length in bytes. A T/C AETH is 30, though its 27-byte
// form is read too.
func (h Header) Len() int { return layouts[h].len }

// String is the name in the specification: "BTH", "AtomicAckETH", "T/C AETH".
func (h Header) String() string { return layouts[h].name }

// Key is the name as a protocol key: "bth", "atomicacketh", "tcaeth".
func (h Header) Key() string { return layouts[h].key }

// Doc says in one line what the header is for and where it is specified.
func (h Header) Doc() string { return layouts[h].doc }

// Fields are the rows of the field table for this header, in wire order; they
// tile it without holes. The slice is shared and must not be changed.
func (h Header) Fields() []Field { return layouts[h].fields }

// Headers are all kinds of header in wire order.
func Headers() []Header {
	all := make([]Header, numHeaders)
	for i := range all {
		all[i] = Header(i)
	}
	return all
}

// HeaderSet is a set of headers.
type HeaderSet uint32

// Set makes a set of headers.
func Set(headers ...Header) HeaderSet {
	var s HeaderSet
	for _, h := range headers {
		s |= 1 << h
	}
	return s
}

// Has reports whether h is in the set.
func (s HeaderSet) Has(h Header) bool { return s>>h&1 != 0 }

// Len is the sum of the headers' lengths in bytes.
func (s HeaderSet) Len() int {
	n := 0
	for ; s != 0; s &= s - 1 {
		n += s.first().Len()
	}
	return n
}

// first is the header of the set that comes first on the wire. The set must
// not be empty.
func (s HeaderSet) first() Header { return Header(bits.TrailingZeros32(uint32(s))) }
