// Package twopoint compares captures that were taken at several points of the
// same paths: which copy of which packet vanished between two points, how long
// the others took, and what happened to them on the way.
//
// A single capture has to infer what was lost; here it is seen. What is matched
// is the copy: one transmission of one PSN of one stream. Over IPv4 the
// identification tells copies of a PSN apart. Where there is none (IPv6, RoCEv1,
// InfiniBand, senders that leave it constant) a retransmission equals the first
// copy byte for byte, and order and time decide.
//
// Captures may be given in any order, begin and end at different moments, and
// their clocks may disagree. Nothing is assumed of where the points lie: which
// one a stream passes first follows from the packets.
//
// One pass, all captures read in step (Comparer.Next says which is to be read).
// Memory is that of what is in flight or has not been found yet, not that of the
// captures, and is bounded.
package twopoint
