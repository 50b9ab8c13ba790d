package live

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/rdmadump/rdmadump/dissect"
)

// links are the interface types whose frames can be read, by ARPHRD number. An
// IP tunnel has no header of its own.
var links = map[uint16]dissect.LinkType{
	unix.ARPHRD_ETHER:    dissect.LinkEthernet,
	unix.ARPHRD_LOOPBACK: dissect.LinkEthernet,
	unix.ARPHRD_NONE:     dissect.LinkRaw,
	unix.ARPHRD_RAWIP:    dissect.LinkRaw,
	unix.ARPHRD_TUNNEL:   dissect.LinkRaw,
	unix.ARPHRD_TUNNEL6:  dissect.LinkRaw,
	unix.ARPHRD_SIT:      dissect.LinkRaw,
	unix.ARPHRD_IPGRE:    dissect.LinkRaw,
	unix.ARPHRD_IP6GRE:   dissect.LinkRaw,
}

// openRing begins to capture from an interface.
func openRing(name string, o *Options) (*ring, error) {
	r := &ring{Interface: Interface{Name: name, Link: dissect.LinkLinuxSLL2, SnapLen: uint32(o.snapLen())}, fd: -1}
	if name != Any {
		in, err := net.InterfaceByName(name)
		if err != nil {
			return nil, noInterface(name)
		}
		r.index = in.Index
	}
	var err error
	// Protocol 0 receives nothing yet: what comes before the filter is there
	// would be in the ring. A socket of type SOCK_DGRAM gives no frame header,
	// but is vague about VLAN tags; so frames of all interfaces are cooked here.
	if r.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0); err != nil {
		r.fd = -1
		return nil, r.socketError(err)
	}
	if name != Any {
		if r.Link, err = linkType(r.fd, name); err != nil {
			r.close()
			return nil, err
		}
	}
	if err := r.start(o); err != nil {
		r.close()
		var known *Error
		if errors.As(err, &known) {
			return nil, err
		}
		return nil, r.socketError(err)
	}
	return r, nil
}

// start sets up ring and filter, and then the socket receives.
func (r *ring) start(o *Options) error {
	if err := unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3); err != nil {
		return fmt.Errorf("TPACKET_V3: %w", err)
	}
	if err := unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_RESERVE, 2*tagLen); err != nil {
		return fmt.Errorf("PACKET_RESERVE: %w", err)
	}
	if err := r.filter(o); err != nil {
		return err
	}
	if o.Hardware {
		r.Hardware = hardwareTime(r.fd, r.Name)
	}
	if err := r.share(o.ring()); err != nil {
		return err
	}
	to := unix.SockaddrLinklayer{Protocol: ntohs(unix.ETH_P_ALL), Ifindex: r.index}
	if err := unix.Bind(r.fd, &to); err != nil {
		return err
	}
	if code, err := unix.GetsockoptInt(r.fd, unix.SOL_SOCKET, unix.SO_ERROR); err == nil && code != 0 {
		return unix.Errno(code)
	}
	if o.Promiscuous && r.index != 0 {
		m := unix.PacketMreq{Ifindex: int32(r.index), Type: unix.PACKET_MR_PROMISC}
		if err := unix.SetsockoptPacketMreq(r.fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &m); err != nil {
			return fmt.Errorf("promiscuous mode: %w", err)
		}
	}
	r.running = true
	return nil
}

// share makes the ring, smaller where memory does not reach.
func (r *ring) share(size int) error {
	for {
		blocks := max(size/blockSize, 1)
		const frameSize = 2048 // of no meaning for TPACKET_V3, but checked
		req := unix.TpacketReq3{
			Block_size: blockSize, Block_nr: uint32(blocks),
			Frame_size: frameSize, Frame_nr: uint32(blocks * (blockSize / frameSize)),
			Retire_blk_tov: retire,
		}
		err := unix.SetsockoptTpacketReq3(r.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &req)
		if errors.Is(err, unix.ENOMEM) && blocks > 1 {
			size = blocks / 2 * blockSize
			continue
		}
		if err != nil {
			return fmt.Errorf("a ring of %d MiB: %w", blocks, err)
		}
		r.memory, err = unix.Mmap(r.fd, 0, blocks*blockSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return fmt.Errorf("a ring of %d MiB: %w", blocks, err)
		}
		return nil
	}
}

// filter tells the kernel which frames to hand over.
func (r *ring) filter(o *Options) error {
	program, err := bpf.Assemble(o.Filter.program(r.Link, o.snapLen()))
	if err != nil {
		return fmt.Errorf("filter: %w", err)
	}
	code := make([]unix.SockFilter, len(program))
	for i, in := range program {
		code[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	if err := unix.SetsockoptSockFprog(r.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}); err != nil {
		return fmt.Errorf("filter: %w", err)
	}
	return nil
}

// linkType is what frames of an interface begin with.
func linkType(fd int, name string) (dissect.LinkType, error) {
	request, err := unix.NewIfreq(name)
	if err != nil {
		return 0, noInterface(name)
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFHWADDR, request); err != nil {
		return 0, &Error{Interface: name, Msg: err.Error(), Err: err}
	}
	kind := request.Uint16()
	link, ok := links[kind]
	switch {
	case ok:
		return link, nil
	case kind == unix.ARPHRD_INFINIBAND:
		return 0, &Error{Interface: name, Err: ErrLink,
			Msg:  "is IP over InfiniBand, where no RDMA packet passes",
			Hint: "ibdump and a port mirror see native InfiniBand: read the file they write"}
	}
	return 0, &Error{Interface: name, Err: ErrLink, Msg: fmt.Sprintf("%v (ARPHRD type %d)", ErrLink, kind)}
}

// hardwareTime asks for time stamps of the network card and reports whether it
// gives them to all frames that it receives. A card that does so already is left
// as it is, since a PTP daemon may depend on it.
func hardwareTime(fd int, name string) bool {
	if name == Any {
		return false
	}
	now, err := unix.IoctlGetHwTstamp(fd, name)
	if err != nil || now.Rx_filter != unix.HWTSTAMP_FILTER_ALL {
		want := unix.HwTstampConfig{Rx_filter: unix.HWTSTAMP_FILTER_ALL}
		if err == nil {
			want.Tx_type = now.Tx_type
		}
		if unix.IoctlSetHwTstamp(fd, name, &want) != nil || want.Rx_filter != unix.HWTSTAMP_FILTER_ALL {
			return false
		}
	}
	return unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_TIMESTAMP, unix.SOF_TIMESTAMPING_RAW_HARDWARE) == nil
}

// socketError says in words what the socket met.
func (r *ring) socketError(err error) *Error {
	e := &Error{Interface: r.Name, Msg: err.Error(), Err: err}
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		e.Msg, e.Err, e.Hint = ErrRight.Error(), ErrRight, "run it as root, or give it the right once: sudo setcap cap_net_raw+ep "+program()
	case errors.Is(err, unix.EAFNOSUPPORT), errors.Is(err, unix.ESOCKTNOSUPPORT), errors.Is(err, unix.EPROTONOSUPPORT):
		e.Msg = "the kernel has no packet sockets (CONFIG_PACKET)"
	case errors.Is(err, unix.ENETDOWN), errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV):
		e.Msg, e.Err = ErrDown.Error(), ErrDown
		if _, gone := net.InterfaceByIndex(r.index); gone != nil {
			e.Msg, e.Err = ErrGone.Error(), ErrGone
		} else if !r.running {
			e.Msg, e.Hint = "the interface is down", "ip link set "+r.Name+" up"
		}
	}
	return e
}

// program is this program's path.
func program() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return os.Args[0]
}
