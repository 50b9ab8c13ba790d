// Package codec reads and writes RDMA transport headers: those of the
// InfiniBand Architecture Specification (IBA, volume 1, chapters 7 to 9, 12 and 13)
// and three extensions, T/C AETH, IRN and MP-RDMA.
//
// Each header is a struct with Decode and AppendBinary, and a set of rows in
// the field table (Header.Fields) that says the same in data. Packet is a
// whole transport packet from the BTH to the ICRC, CM a management datagram that
// sets a connection up or ends it.
//
// Nothing here panics on bad input, and neither decoding nor appending
// allocates. Errors wrap one of ErrTruncated, ErrRange, ErrOpcode and
// ErrLength.
package codec
