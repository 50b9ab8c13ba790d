package live

import (
	"encoding/binary"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rdmadump/rdmadump/dissect"
)

const (
	// blockSize is what the kernel hands over at once: a thousand full packets,
	// so that handing over costs little for each.
	blockSize = 1 << 20

	// retire is how long a block that is not full waits for more, in
	// milliseconds, and so the latency of a quiet link.
	retire = 10

	headerLen    = 48 // TPACKET_ALIGN(sizeof(struct tpacket3_hdr)); the link address follows
	addressesLen = 12
	ethernetLen  = 14
	tagLen       = 4
	sll2Len      = 20
)

// ring is the memory that one packet socket shares with the kernel.
//
//	 block 0                        block 1
//	+--------+-------+-------+-----+--------+-------+-----
//	| status | frame | frame | ... | status | frame | ...
//	+--------+-------+-------+-----+--------+-------+-----
//
// The kernel fills blocks one after the other. A block whose status has
// TP_STATUS_USER is ours until the status is set back.
type ring struct {
	Interface
	index   int // of the interface in the kernel, 0 for all
	fd      int
	memory  []byte
	running bool

	block int    // that is read, or will be next
	ours  bool   // the kernel has handed it over
	left  uint32 // frames of it that were not taken
	next  int    // position of the next of them in memory

	drops uint64
	fault error     // why nothing more comes
	since time.Time // of the fault
}

// blockHeader gives the header of the block in turn.
func (r *ring) blockHeader() *unix.TpacketHdrV1 {
	const behindVersion = 8
	return (*unix.TpacketHdrV1)(unsafe.Pointer(&r.memory[r.block*blockSize+behindVersion]))
}

// ready reports whether a frame is there to be taken. What was taken before is
// not valid any more.
func (r *ring) ready() bool {
	for {
		for r.left == 0 {
			if r.ours {
				r.release()
			}
			h := r.blockHeader()
			if atomic.LoadUint32(&h.Block_status)&unix.TP_STATUS_USER == 0 {
				return false
			}
			r.ours, r.left, r.next = true, h.Num_pkts, r.block*blockSize+int(h.Offset_to_first_pkt)
		}
		if !r.echo() {
			return true
		}
		r.pass()
	}
}

// release gives the block back to the kernel.
func (r *ring) release() {
	atomic.StoreUint32(&r.blockHeader().Block_status, unix.TP_STATUS_KERNEL)
	r.ours = false
	r.block++
	if (r.block+1)*blockSize > len(r.memory) {
		r.block = 0
	}
}

func (r *ring) header() *unix.Tpacket3Hdr {
	return (*unix.Tpacket3Hdr)(unsafe.Pointer(&r.memory[r.next]))
}

func (r *ring) address() *unix.RawSockaddrLinklayer {
	return (*unix.RawSockaddrLinklayer)(unsafe.Pointer(&r.memory[r.next+headerLen]))
}

// pass moves behind the next frame.
func (r *ring) pass() {
	r.left--
	r.next += int(r.header().Next_offset)
}

// echo reports a frame that the loopback interface sends: it comes once more,
// as one that it receives.
func (r *ring) echo() bool {
	a := r.address()
	return a.Pkttype == unix.PACKET_OUTGOING && a.Hatype == unix.ARPHRD_LOOPBACK
}

// time is that of the next frame.
func (r *ring) time() int64 {
	h := r.header()
	return int64(h.Sec)*1e9 + int64(h.Nsec)
}

// take fills f with the next frame, which is there.
func (r *ring) take(f *dissect.Frame) {
	h := r.header()
	begin, length := r.next+int(h.Mac), int(h.Snaplen)
	wire := int(h.Len)
	f.Time = int64(h.Sec)*1e9 + int64(h.Nsec)
	if r.Link != dissect.LinkRaw && h.Status&unix.TP_STATUS_VLAN_VALID != 0 && length >= addressesLen {
		copy(r.memory[begin-tagLen:], r.memory[begin:begin+addressesLen])
		begin, length, wire = begin-tagLen, length+tagLen, wire+tagLen
		tag := r.memory[begin+addressesLen:]
		binary.BigEndian.PutUint16(tag, tpid(h))
		binary.BigEndian.PutUint16(tag[2:], uint16(h.Hv1.Vlan_tci))
	}
	if r.Link == dissect.LinkLinuxSLL2 {
		more := r.cook(begin, length)
		begin, length, wire = begin-more, length+more, wire+more
	}
	end := begin + length
	f.Data = r.memory[begin:end:end]
	f.WireLen = max(wire, length)
	f.Link = r.Link
	r.pass()
}

// tpid is the Ethertype of the tag that the kernel took off.
func tpid(h *unix.Tpacket3Hdr) uint16 {
	if h.Status&unix.TP_STATUS_VLAN_TPID_VALID != 0 && h.Hv1.Vlan_tpid != 0 {
		return h.Hv1.Vlan_tpid
	}
	return unix.ETH_P_8021Q
}

// cook puts a header in place of that of the next frame, which begins there, and
// returns by how much it is longer:
//
//	+-------------------------------+-------------------------------+
//	|           Ethertype           |               0               |
//	|                        interface index                        |
//	|            ARPHRD             |  packet type  | address length|
//	|                            address ...
//	|                            ... address                        |
//	+---------------------------------------------------------------+
//
// The kernel's headers end with a link address of 20 bytes, at 68; a frame that
// has no header of its own begins at 104 or behind (TPACKET_ALIGN(68 + 16) and
// PACKET_RESERVE), so there is room.
func (r *ring) cook(begin, length int) int {
	a := *r.address()
	protocol, header := ntohs(a.Protocol), 0
	if (a.Hatype == hardwareEthernet || a.Hatype == hardwareLoopback) && length >= ethernetLen {
		protocol, header = binary.BigEndian.Uint16(r.memory[begin+addressesLen:]), ethernetLen
	}
	b := r.memory[begin+header-sll2Len : begin+header]
	binary.BigEndian.PutUint16(b, protocol)
	binary.BigEndian.PutUint16(b[2:], 0)
	binary.BigEndian.PutUint32(b[4:], uint32(a.Ifindex))
	binary.BigEndian.PutUint16(b[8:], a.Hatype)
	b[10], b[11] = a.Pkttype, a.Halen
	copy(b[12:], a.Addr[:])
	return sll2Len - header
}

// count adds what the kernel dropped since the last time; it counts from 0 each
// time it is asked.
func (r *ring) count() {
	if r.fd < 0 {
		return
	}
	if s, err := unix.GetsockoptTpacketStatsV3(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
		r.drops += uint64(s.Drops)
	}
}

// look asks why the socket is not well.
func (r *ring) look() {
	code, err := unix.GetsockoptInt(r.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && code != 0 {
		err = unix.Errno(code)
	}
	if err != nil && r.fault == nil {
		r.fault, r.since = r.socketError(err), time.Now()
	}
}

func (r *ring) close() {
	r.count()
	if r.memory != nil {
		_ = unix.Munmap(r.memory)
		r.memory = nil
	}
	if r.fd >= 0 {
		_ = unix.Close(r.fd)
		r.fd = -1
	}
}

// ntohs is a number in network byte order.
func ntohs(v uint16) uint16 {
	var b [2]byte
	binary.NativeEndian.PutUint16(b[:], v)
	return binary.BigEndian.Uint16(b[:])
}
