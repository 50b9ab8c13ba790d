package codec

// layout is what the field table says of one header.
type layout struct {
	name   string
	key    string
	len    int // bytes
	doc    string
	fields []Field
}

// layouts describes the wire, once. A test proves the structs equal to it; the
// JSON output, the field tree, the field reference and the Wireshark dissector
// read it.
var layouts = [numHeaders]layout{
	HeaderLRH: {"LRH", "lrh", 8, "Local Route Header, first on an InfiniBand link (IBA 7.7)", []Field{
		{"VL", "vl", 0, 4, Dec, "virtual lane"},
		{"LVer", "lver", 4, 4, Dec, "link version"},
		{"SL", "sl", 8, 4, Dec, "service level"},
		{"Rsv2", "", 12, 2, Dec, "reserved"},
		{"LNH", "lnh", 14, 2, Dec, "link next header: 2 BTH, 3 GRH"},
		{"DLID", "dlid", 16, 16, Dec, "destination local identifier"},
		{"Rsv5", "", 32, 5, Dec, "reserved"},
		{"PktLen", "pktlen", 37, 11, Dec, "length from the LRH to the ICRC in 4-byte words"},
		{"SLID", "slid", 48, 16, Dec, "source local identifier"},
	}},
	HeaderGRH: {"GRH", "grh", 40, "Global Route Header, laid out like an IPv6 header (IBA 8.3)", []Field{
		{"IPVer", "ipver", 0, 4, Dec, "6"},
		{"TClass", "tclass", 4, 8, Hex, "traffic class: DSCP and ECN"},
		{"FlowLabel", "flowlabel", 12, 20, Hex, "flow label"},
		{"PayLen", "paylen", 32, 16, Dec, "bytes after the GRH up to and with the ICRC"},
		{"NxtHdr", "nxthdr", 48, 8, Hex, "0x1b: an IBA transport follows"},
		{"HopLmt", "hoplmt", 56, 8, Dec, "hop limit"},
		{"SGID", "sgid", 64, 128, GID, "source global identifier"},
		{"DGID", "dgid", 192, 128, GID, "destination global identifier"},
	}},
	HeaderBTH: {"BTH", "bth", 12, "Base Transport Header, in every packet (IBA 9.2)", []Field{
		{"Opcode", "opcode", 0, 8, Hex, "service and operation"},
		{"SE", "se", 8, 1, Flag, "solicited event"},
		{"M", "m", 9, 1, Flag, "migration request"},
		{"PadCnt", "padcnt", 10, 2, Dec, "pad bytes between payload and ICRC"},
		{"TVer", "tver", 12, 4, Dec, "transport version, 0"},
		{"PKey", "p_key", 16, 16, Hex, "partition key"},
		{"FECN", "fecn", 32, 1, Flag, "forward explicit congestion notification"},
		{"BECN", "becn", 33, 1, Flag, "backward explicit congestion notification"},
		{"Rsv6", "", 34, 6, Dec, "reserved, not covered by the ICRC"},
		{"DestQP", "destqp", 40, 24, Hex, "destination queue pair"},
		{"AckReq", "a", 64, 1, Flag, "the sender asks for an acknowledgement"},
		{"Rsv1", "", 65, 1, Dec, "reserved"},
		{"ReTx", "retx", 66, 1, Flag, "MP-RDMA: a retransmission; reserved in IBA"},
		{"Synchronise", "synchronise", 67, 1, Flag, "MP-RDMA: place only after everything before it; reserved in IBA"},
		{"Rsv4", "", 68, 4, Dec, "reserved"},
		{"PSN", "psn", 72, 24, Dec, "packet sequence number"},
	}},
	HeaderRDETH: {"RDETH", "rdeth", 4, "Reliable Datagram Extended Transport Header (IBA 9.3.1)", []Field{
		{"Rsv8", "", 0, 8, Dec, "reserved"},
		{"EECnxt", "eecnxt", 8, 24, Hex, "end-to-end context, which owns the PSN"},
	}},
	HeaderDETH: {"DETH", "deth", 8, "Datagram Extended Transport Header (IBA 9.3.2)", []Field{
		{"QKey", "q_key", 0, 32, Hex, "queue key"},
		{"Rsv8", "", 32, 8, Dec, "reserved"},
		{"SrcQP", "srcqp", 40, 24, Hex, "source queue pair"},
	}},
	HeaderXRCETH: {"XRCETH", "xrceth", 4, "XRC Extended Transport Header, in XRC requests (IBA annex A14)", []Field{
		{"Rsv8", "", 0, 8, Dec, "reserved"},
		{"XRCSRQ", "xrcsrq", 8, 24, Hex, "shared receive queue"},
	}},
	HeaderFETH: {"FETH", "feth", 4, "Flush Extended Transport Header (IBA annex A19)", []Field{
		{"Rsv26", "", 0, 26, Dec, "reserved"},
		{"SEL", "sel", 26, 2, Dec, "selectivity: 0 memory range, 1 memory region"},
		{"PLT", "plt", 28, 4, Hex, "placement type: 1 global visibility, 2 persistence"},
	}},
	HeaderRETH: {"RETH", "reth", 16, "RDMA Extended Transport Header (IBA 9.3.3)", []Field{
		{"VA", "va", 0, 64, Hex, "virtual address of the remote memory"},
		{"RKey", "r_key", 64, 32, Hex, "remote key"},
		{"DMALen", "dmalen", 96, 32, Dec, "length of the message in bytes"},
	}},
	HeaderAtomicETH: {"AtomicETH", "atomiceth", 28, "Atomic Extended Transport Header (IBA 9.3.4)", []Field{
		{"VA", "va", 0, 64, Hex, "virtual address of the remote 8 bytes"},
		{"RKey", "r_key", 64, 32, Hex, "remote key"},
		{"SwapDt", "swapdt", 96, 64, Hex, "value to swap in, or to add"},
		{"CmpDt", "cmpdt", 160, 64, Hex, "value to compare with"},
	}},
	HeaderAETH: {"AETH", "aeth", 4, "ACK Extended Transport Header (IBA 9.3.5)", []Field{
		{"Syndrome", "syndrome", 0, 8, Hex, "ACK with credits, RNR NAK with timer, or NAK with code"},
		{"MSN", "msn", 8, 24, Dec, "number of messages completed by the responder"},
	}},
	HeaderTCAETH: {"T/C AETH", "tcaeth", 30, "windowless cumulative ACK: what the receiver has (draft Windowless Cumulative ACK Extension for RDMA Retransmission)", []Field{
		{"SegmentNum", "segmentnum", 0, 24, Dec, "received segments reported, the first continuous block included: 1 to 4"},
		{"LastFinishedPSN", "lastfinishedpsn", 24, 24, Dec, "last PSN of the first continuous block"},
		{"Seg1Left", "seg1left", 48, 24, Dec, "first PSN of the second received segment"},
		{"Seg1Right", "seg1right", 72, 24, Dec, "last PSN of the second received segment"},
		{"Seg2Left", "seg2left", 96, 24, Dec, "first PSN of the third received segment"},
		{"Seg2Right", "seg2right", 120, 24, Dec, "last PSN of the third received segment"},
		{"Seg3Left", "seg3left", 144, 24, Dec, "first PSN of the fourth received segment"},
		{"Seg3Right", "seg3right", 168, 24, Dec, "last PSN of the fourth received segment"},
		{"Rsv24", "", 192, 24, Dec, "reserved"},
		{"RsvCont", "", 216, 24, Dec, "reserved, absent in the 27-byte form"},
	}},
	HeaderAtomicAckETH: {"AtomicAckETH", "atomicacketh", 8, "Atomic ACK Extended Transport Header (IBA 9.3.5.3)", []Field{
		{"OrigRemDt", "origremdt", 0, 64, Hex, "what the remote memory held before"},
	}},
	HeaderSackETH: {"SackETH", "sacketh", 4, "selective part of an IRN NACK (this toolkit's layout; Revisiting Network Support for RDMA, SIGCOMM 2018)", []Field{
		{"Rsv8", "", 0, 8, Dec, "reserved"},
		{"SackPSN", "sackpsn", 8, 24, Dec, "PSN of the out-of-order packet that triggered the NACK"},
	}},
	HeaderMPETH: {"MPETH", "mpeth", 4, "MP-RDMA acknowledgement (this toolkit's layout; Multi-Path Transport for RDMA in Datacenters, NSDI 2018)", []Field{
		{"ECE", "ece", 0, 1, Flag, "the data packet was marked CE"},
		{"ReTxEcho", "retxecho", 1, 1, Flag, "the data packet was a retransmission"},
		{"Rsv6", "", 2, 6, Dec, "reserved"},
		{"AACK", "aack", 8, 24, Dec, "highest PSN received in order"},
	}},
	HeaderIRNETH: {"IRNETH", "irneth", 8, "place of an IRN packet (this toolkit's layout; Revisiting Network Support for RDMA, SIGCOMM 2018)", []Field{
		{"Rsv8", "", 0, 8, Dec, "reserved"},
		{"WQESN", "wqesn", 8, 24, Dec, "receive or read WQE sequence number"},
		{"Offset", "offset", 32, 32, Dec, "bytes from the start of the message"},
	}},
	HeaderImmDt: {"ImmDt", "immdt", 4, "Immediate Data (IBA 9.3.6)", []Field{
		{"ImmediateData", "immdt", 0, 32, Hex, "handed to the receiver's completion"},
	}},
	HeaderIETH: {"IETH", "ieth", 4, "Invalidate Extended Transport Header (IBA 9.3.7)", []Field{
		{"RKey", "r_key", 0, 32, Hex, "remote key to invalidate"},
	}},
	HeaderCNP: {"CNP", "cnp", 16, "the reserved bytes of a RoCEv2 congestion notification packet (IBA annex A17)", []Field{
		{"RsvHigh", "", 0, 64, Hex, "reserved"},
		{"RsvLow", "", 64, 64, Hex, "reserved"},
	}},
	HeaderMAD:  {"MAD", "mad", 24, "header of a management datagram (IBA 13.4.3)", madFields},
	HeaderREQ:  {"REQ", "req", 140, "connection management: request for a connection (IBA 12.6.5)", reqFields},
	HeaderREP:  {"REP", "rep", 36, "connection management: reply to a request (IBA 12.6.8)", repFields},
	HeaderRTU:  {"RTU", "rtu", 8, "connection management: ready to use (IBA 12.6.9)", commIDs},
	HeaderDREQ: {"DREQ", "dreq", 12, "connection management: request for disconnection (IBA 12.6.10)", dreqFields},
	HeaderDREP: {"DREP", "drep", 8, "connection management: reply to a request for disconnection (IBA 12.6.11)", commIDs},
	HeaderREJ:  {"REJ", "rej", 84, "connection management: reject (IBA 12.6.7)", rejFields},
	HeaderIPCM: {"RDMA IP CM", "ip_cm", 36, "addresses in the private data of a REQ of the RDMA IP CM service (IBA annex A11)", ipcmFields},
	HeaderRate: {"rate advertisement", "rate", 12, "packet rate of a windowless sender, in the private data of REQ and REP (this toolkit's layout)", rateFields},
}
