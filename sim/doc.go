// Package sim runs the machines of package transport over a simulated network
// and shows what capture points would have seen of it.
//
// A Scenario is data: two hosts, queue pairs between them, the work they post,
// the links and what the links do to packets. Parse reads one from YAML, and the
// same struct can be written in Go. Run plays it: the same scenario gives the same
// bytes, since every random choice has a source of its own that is made of the
// seed and of what the choice is for. So adding a loss model to one link does not
// change what another one loses.
//
// Memory is that of what is in flight, not that of what is sent. Payload bytes
// come from the seed, and each that arrives is compared with what was sent.
package sim
