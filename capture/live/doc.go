// Package live captures frames from network interfaces.
//
// It reads Linux packet sockets through a TPACKET_V3 ring in shared memory,
// without cgo and without libpcap. The kernel filters, so that frames that are
// not RDMA cost little; it counts what found no room in the ring; and the VLAN
// tag that it takes off is put back. The sources are
// Documentation/networking/packet_mmap.rst and net/packet/af_packet.c of Linux,
// and for cooked frames https://www.tcpdump.org/linktypes/LINKTYPE_LINUX_SLL2.html.
//
// On other systems Open fails with ErrSystem.
package live
