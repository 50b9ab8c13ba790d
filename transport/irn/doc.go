// Package irn is the transport of "Revisiting Network Support for RDMA"
// (SIGCOMM 2018): the receiver keeps what arrives out of order and names it,
// the sender sends again only what is missing, and never has more in flight
// than the network's bandwidth-delay product (BDP-FC), so that the network may
// lose packets. The paper says what is carried and not in which bits: the
// layout on the wire is this toolkit's own.
//
// Requests count in one PSN space (sPSN), READ responses in another (rPSN),
// which begins at the requester's starting PSN too. Each has a sender with
// bitmap, recovery, BDP-FC and timer, and a receiver with a bitmap. The
// requester sends requests and receives responses; the responder does the
// opposite.
//
// Where the paper and the layout leave a choice:
//
//   - The responder acknowledges a READ request like any other, with 0x11, so
//     that losing a response never costs the request again. A response also
//     acknowledges its request, and everything before it.
//   - An ATOMIC acknowledge is the acknowledgement of its atomic. It counts in
//     no space of its own. An acknowledgement that covers an atomic whose
//     result has not come is taken for a report that it is lost: the requester
//     holds its cumulative point there, takes what lies behind for selectively
//     acknowledged, and resends the atomic, whose saved result is told again.
//   - Responses are recovered by the responder alone. When it gives up it falls
//     silent; the requester, whose request is acknowledged and cannot be sent
//     again, fails the READ when no response has come for as long as the
//     responder may try.
//   - The responder's two bits for each packet tell message ends from others,
//     and those that consume a receive. So it cannot tell that a Middle follows
//     no First, and does not ask.
package irn
