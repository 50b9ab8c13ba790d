package dissect

import "fmt"

// LinkType says which header a frame begins with. The numbers are the
// LINKTYPE_ values that pcap and pcapng store in files
// (https://www.tcpdump.org/linktypes.html).
type LinkType uint16

// The link types that Locate can follow to an RDMA packet.
const (
	LinkNull       LinkType = 0   // BSD loopback, address family in the writer's byte order
	LinkEthernet   LinkType = 1   // Ethernet
	LinkRaw        LinkType = 101 // IPv4 or IPv6, told apart by the version nibble
	LinkLoop       LinkType = 108 // OpenBSD loopback, address family in network order
	LinkLinuxSLL   LinkType = 113 // Linux cooked capture v1
	LinkERF        LinkType = 197 // Endace ERF record, which names its own type
	LinkIPv4       LinkType = 228 // IPv4
	LinkIPv6       LinkType = 229 // IPv6
	LinkInfiniBand LinkType = 247 // InfiniBand from the LRH on
	LinkLinuxSLL2  LinkType = 276 // Linux cooked capture v2
)

var linkNames = map[LinkType]string{
	LinkNull:       "BSD null",
	LinkEthernet:   "Ethernet",
	LinkRaw:        "raw IP",
	LinkLoop:       "BSD loop",
	LinkLinuxSLL:   "Linux cooked v1",
	LinkERF:        "ERF",
	LinkIPv4:       "IPv4",
	LinkIPv6:       "IPv6",
	LinkInfiniBand: "InfiniBand",
	LinkLinuxSLL2:  "Linux cooked v2",
}

// Known reports whether Locate can follow frames of this type.
func (t LinkType) Known() bool {
	_, ok := linkNames[t]
	return ok
}

// String gives the name of a known type and "link type N" of any other.
func (t LinkType) String() string {
	if name, ok := linkNames[t]; ok {
		return name
	}
	return fmt.Sprintf("link type %d", uint16(t))
}
