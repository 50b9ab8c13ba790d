package live

import (
	"golang.org/x/net/bpf"

	"github.com/rdmadump/rdmadump/dissect"
)

// Filter says which frames the kernel hands over. The zero Filter takes RoCEv2,
// RoCEv1 and the frames that pause a link, inside VLAN tags as well.
type Filter struct {
	All      bool     // every frame
	UDPPorts []uint16 // destination ports of RoCEv2 beside dissect.RoCEv2Port
}

// Ethertypes and protocols that the filter knows.
const (
	typeIPv4   = 0x0800
	typeIPv6   = 0x86dd
	typeRoCEv1 = 0x8915
	typePause  = 0x8808 // MAC control, PFC included

	protocolUDP = 17

	hardwareEthernet = 1   // ARPHRD_ETHER
	hardwareLoopback = 772 // ARPHRD_LOOPBACK, whose frames look alike
)

var tags = [...]uint32{0x8100, 0x88a8, 0x9100, 0x9200}

// maxTags is how many VLAN tags the filter looks behind, beside the one that
// the kernel has taken off already.
const maxTags = 3

// maxPorts is how many ports fit a program: the kernel takes 4096 instructions.
const maxPorts = 256

// program is the filter for frames of a link type, cut to snapLen bytes.
//
// A packet socket shows the program a frame without the VLAN tag that the kernel
// took off, and the Ethertype beside it. X follows the network header.
func (f Filter) program(link dissect.LinkType, snapLen int) []bpf.Instruction {
	take := bpf.RetConstant{Val: uint32(snapLen)}
	if f.All {
		return []bpf.Instruction{take}
	}
	ethernet := []bpf.Instruction{bpf.LoadConstant{Dst: bpf.RegX, Val: 14}, bpf.LoadAbsolute{Off: 12, Size: 2}}
	for range maxTags {
		ethernet = append(ethernet, passTag()...)
	}
	bare := []bpf.Instruction{bpf.LoadConstant{Dst: bpf.RegX, Val: 0}, bpf.LoadExtension{Num: bpf.ExtProto}}
	var b []bpf.Instruction
	switch link {
	case dissect.LinkEthernet:
		b = ethernet
	case dissect.LinkLinuxSLL2: // of all interfaces
		bare = append(bare, bpf.Jump{Skip: uint32(len(ethernet))})
		b = append(b, bpf.LoadExtension{Num: bpf.ExtLinkLayerType},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: hardwareEthernet, SkipTrue: uint8(1 + len(bare))},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: hardwareLoopback, SkipTrue: uint8(len(bare))})
		b = append(append(b, bare...), ethernet...)
	default:
		b = bare
	}
	ports := append([]uint16{dissect.RoCEv2Port}, f.UDPPorts[:min(len(f.UDPPorts), maxPorts)]...)
	four, six := ipv4(ports, take), ipv6(ports, take)
	b = append(b,
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: typeRoCEv1, SkipFalse: 1}, take,
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: typePause, SkipFalse: 1}, take,
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: typeIPv4, SkipTrue: 1},
		bpf.Jump{Skip: uint32(len(four))})
	b = append(b, four...)
	b = append(b, bpf.JumpIf{Cond: bpf.JumpEqual, Val: typeIPv6, SkipTrue: 1}, bpf.RetConstant{})
	return append(b, six...)
}

// passTag moves X behind a VLAN tag and A to the Ethertype in it, if A is the
// Ethertype of a tag.
func passTag() []bpf.Instruction {
	const length = 6
	var b []bpf.Instruction
	for i, tag := range tags {
		b = append(b, bpf.JumpIf{Cond: bpf.JumpEqual, Val: tag, SkipTrue: uint8(len(tags) - i)})
	}
	return append(b, bpf.Jump{Skip: length},
		bpf.LoadIndirect{Off: 2, Size: 2},
		bpf.StoreScratch{Src: bpf.RegA, N: 0},
		bpf.TXA{},
		bpf.ALUOpConstant{Op: bpf.ALUOpAdd, Val: 4},
		bpf.TAX{},
		bpf.LoadScratch{Dst: bpf.RegA, N: 0})
}

// ipv4 takes UDP to one of the ports. Of a datagram in fragments the first one
// has them.
func ipv4(ports []uint16, take bpf.RetConstant) []bpf.Instruction {
	b := []bpf.Instruction{
		bpf.LoadIndirect{Off: 9, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: protocolUDP, SkipTrue: 1}, bpf.RetConstant{},
		bpf.LoadIndirect{Off: 6, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: 0x1fff, SkipFalse: 1}, bpf.RetConstant{},
		bpf.LoadIndirect{Off: 0, Size: 1},
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0xf},
		bpf.ALUOpConstant{Op: bpf.ALUOpShiftLeft, Val: 2},
		bpf.ALUOpX{Op: bpf.ALUOpAdd},
		bpf.TAX{},
		bpf.LoadIndirect{Off: 2, Size: 2},
	}
	return append(b, anyPort(ports, take)...)
}

// ipv6 takes UDP to one of the ports, and everything with extension headers:
// that is rare, and following them is for who reads the frames.
func ipv6(ports []uint16, take bpf.RetConstant) []bpf.Instruction {
	b := []bpf.Instruction{bpf.LoadIndirect{Off: 6, Size: 1}}
	for _, extension := range [...]uint32{0, 43, 44, 51, 60} { // hop-by-hop, routing, fragment, AH, destination
		b = append(b, bpf.JumpIf{Cond: bpf.JumpEqual, Val: extension, SkipFalse: 1}, take)
	}
	b = append(b,
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: protocolUDP, SkipTrue: 1}, bpf.RetConstant{},
		bpf.LoadIndirect{Off: 42, Size: 2})
	return append(b, anyPort(ports, take)...)
}

func anyPort(ports []uint16, take bpf.RetConstant) []bpf.Instruction {
	var b []bpf.Instruction
	for _, port := range ports {
		b = append(b, bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(port), SkipFalse: 1}, take)
	}
	return append(b, bpf.RetConstant{})
}
