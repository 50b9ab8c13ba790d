// Package filter chooses RDMA packets by an expression over their decoded
// fields, under the keys that the JSON output of rdmadump read has:
//
//	opcode_name contains "READ" and bth.psn in 100..200
//	aeth.syndrome >= 0x60 and src in cidr("10.0.0.0/8")
//
// The grammar is that of github.com/expr-lang/expr, whose parser reads it. What
// is read is checked and evaluated here, not by expr's machine: that boxes each
// value, compares 64 bits as if they had a sign, so that addresses of kernel
// memory come before 0, and takes a header that is not there for an error. Here
// types are checked once, evaluating a packet takes no memory, and there is
// nothing to run without end: no loops, closures or variables.
//
// A comparison with a field that a packet does not have is false, whatever the
// operator; has(aeth), aeth != nil and aeth.msn == nil ask for that.
package filter
