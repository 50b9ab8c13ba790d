package layers

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
)

// The layer types. The numbers lie in the range below 2000 that gopacket looks
// up in an array and leaves to applications.
const (
	LayerTypeLRH          gopacket.LayerType = 1791 + iota // Local Route Header
	LayerTypeGRH                                           // Global Route Header
	LayerTypeBTH                                           // Base Transport Header
	LayerTypeRDETH                                         // Reliable Datagram Extended Transport Header
	LayerTypeDETH                                          // Datagram Extended Transport Header
	LayerTypeXRCETH                                        // XRC Extended Transport Header
	LayerTypeFETH                                          // Flush Extended Transport Header
	LayerTypeRETH                                          // RDMA Extended Transport Header
	LayerTypeAtomicETH                                     // Atomic Extended Transport Header
	LayerTypeAETH                                          // ACK Extended Transport Header
	LayerTypeTCAETH                                        // T/C AETH, the windowless cumulative ACK
	LayerTypeAtomicAckETH                                  // Atomic ACK Extended Transport Header
	LayerTypeIRNNack                                       // IRN: the SackETH of a NACK
	LayerTypeMPETH                                         // MP-RDMA: path echo and aggregated ACK
	LayerTypeIRNETH                                        // IRN: WQE sequence number and offset
	LayerTypeImmDt                                         // Immediate Data
	LayerTypeIETH                                          // Invalidate Extended Transport Header
	LayerTypeCNP                                           // the 16 reserved bytes of a congestion notification
	LayerTypePad                                           // pad bytes between payload and ICRC
	LayerTypeICRC                                          // invariant CRC
	LayerTypeVCRC                                          // variant CRC, last on an InfiniBand link
)

// What leads to an RDMA packet.
const (
	UDPPortRoCEv2      layers.UDPPort      = 4791   // IBA annex A17
	EthernetTypeRoCEv1 layers.EthernetType = 0x8915 // IBA annex A16
	LinkTypeInfiniBand layers.LinkType     = 247    // LINKTYPE_INFINIBAND
)

func init() {
	register(LayerTypeLRH, "LRH", decodeLRH)
	register(LayerTypeGRH, "GRH", decodeGRH)
	register(LayerTypeBTH, "BTH", decodeBTH)
	register(LayerTypeRDETH, "RDETH", decodeAlone(codec.HeaderRDETH))
	register(LayerTypeDETH, "DETH", decodeAlone(codec.HeaderDETH))
	register(LayerTypeXRCETH, "XRCETH", decodeAlone(codec.HeaderXRCETH))
	register(LayerTypeFETH, "FETH", decodeAlone(codec.HeaderFETH))
	register(LayerTypeRETH, "RETH", decodeAlone(codec.HeaderRETH))
	register(LayerTypeAtomicETH, "AtomicETH", decodeAlone(codec.HeaderAtomicETH))
	register(LayerTypeAETH, "AETH", decodeAlone(codec.HeaderAETH))
	register(LayerTypeTCAETH, "TCAETH", decodeAlone(codec.HeaderTCAETH))
	register(LayerTypeAtomicAckETH, "AtomicAckETH", decodeAlone(codec.HeaderAtomicAckETH))
	register(LayerTypeIRNNack, "IRNNack", decodeAlone(codec.HeaderSackETH))
	register(LayerTypeMPETH, "MPETH", decodeAlone(codec.HeaderMPETH))
	register(LayerTypeIRNETH, "IRNETH", decodeAlone(codec.HeaderIRNETH))
	register(LayerTypeImmDt, "ImmDt", decodeAlone(codec.HeaderImmDt))
	register(LayerTypeIETH, "IETH", decodeAlone(codec.HeaderIETH))
	register(LayerTypeCNP, "CNP", decodeAlone(codec.HeaderCNP))
	register(LayerTypePad, "Pad", decodePad)
	register(LayerTypeICRC, "ICRC", decodeICRC)
	register(LayerTypeVCRC, "VCRC", decodeVCRC)

	layers.RegisterUDPPortLayerType(UDPPortRoCEv2, LayerTypeBTH)
	layers.EthernetTypeMetadata[EthernetTypeRoCEv1] = layers.EnumMetadata{
		DecodeWith: gopacket.DecodeFunc(decodeGRH), Name: "RoCEv1", LayerType: LayerTypeGRH}
	layers.LinkTypeMetadata[LinkTypeInfiniBand] = layers.EnumMetadata{
		DecodeWith: gopacket.DecodeFunc(decodeLRH), Name: "InfiniBand", LayerType: LayerTypeLRH}
}

func register(t gopacket.LayerType, name string, decode gopacket.DecodeFunc) {
	gopacket.RegisterLayerType(int(t), gopacket.LayerTypeMetadata{Name: name, Decoder: decode})
}
