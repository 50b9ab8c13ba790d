// Package capture reads capture files as dissect.Frame after dissect.Frame, and
// writes pcapng and pcap.
//
// It reads pcap (both byte orders, microseconds, nanoseconds and Kuznetzov's
// "modified" records) and pcapng (any number of sections and interfaces,
// Enhanced, Simple and the obsolete Packet Block, drop counts of Interface
// Statistics Blocks), each as it is or inside gzip or zstd, from a file or a
// pipe. What a file is follows from its bytes and never from its name.
//
// The sources are draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng; where
// files in the field disagree with them, libpcap and Wireshark decide, and the
// place says so.
//
// A Frame borrows the reader's buffer, so reading a packet copies and allocates
// nothing. No length that a file states is trusted further than its bytes
// reach: the buffer grows only as data arrives, and never past a record of
// 16 MiB. A capture that ends in the middle of a record gives every frame before
// that point and then an Error wrapping ErrCut.
package capture
