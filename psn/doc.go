// Package psn is the arithmetic of packet sequence numbers: 24-bit serial
// numbers as they stand on the wire (PSN, Range), and the same numbers
// unwrapped to 64 bits (Seq, Span, Set), in which an analysis can sort and
// compare them.
package psn
