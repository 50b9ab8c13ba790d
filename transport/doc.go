// Package transport holds reliable RDMA transports as pure state machines, and
// here what they have in common. Each transport is a package of its own:
// gobackn, irn, windowless and mprdma.
//
// A queue pair is two machines at each of its ends: a requester, which sends
// the work posted to it, and a responder, which executes what arrives. Neither
// has a clock, a socket or a goroutine. Whoever drives them passes the time and
// the packets in, asks for packets, and is told when to ask again. So the same
// responder runs in a simulated network, and over the arrival order of a
// capture.
package transport
