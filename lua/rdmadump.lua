-- rdmadump: RDMA in Wireshark and tshark.
-- Made by the package lua of rdmadump; do not change it by hand.

local VERSION = "0.1.0"

if set_plugin_info then
  set_plugin_info { version = VERSION, description = "RDMA: all headers, ICRC, sequence analysis", repository = "https://github.com/rdmadump/rdmadump" }
end

local byte, sub = string.byte, string.sub
local floor, min, max = math.floor, math.min, math.max

-- The headers and their fields.
local HEADER_ROWS = {
  { key = "lrh", name = "LRH", len = 8, fields = {
    { key = "vl", name = "VL", off = 0, size = 1, base = "dec", mask = 0xf0, doc = "virtual lane" },
    { key = "lver", name = "LVer", off = 0, size = 1, base = "dec", mask = 0xf, doc = "link version" },
    { key = "sl", name = "SL", off = 1, size = 1, base = "dec", mask = 0xf0, doc = "service level" },
    { key = "rsv2", name = "Rsv2", off = 1, size = 1, base = "dec", mask = 0xc, doc = "reserved" },
    { key = "lnh", name = "LNH", off = 1, size = 1, base = "dec", mask = 0x3, doc = "link next header: 2 BTH, 3 GRH" },
    { key = "dlid", name = "DLID", off = 2, size = 2, base = "dec", doc = "destination local identifier" },
    { key = "rsv5", name = "Rsv5", off = 4, size = 1, base = "dec", mask = 0xf8, doc = "reserved" },
    { key = "pktlen", name = "PktLen", off = 4, size = 2, base = "dec", mask = 0x7ff, doc = "length from the LRH to the ICRC in 4-byte words" },
    { key = "slid", name = "SLID", off = 6, size = 2, base = "dec", doc = "source local identifier" },
  } },
  { key = "grh", name = "GRH", len = 40, fields = {
    { key = "ipver", name = "IPVer", off = 0, size = 1, base = "dec", mask = 0xf0, doc = "6" },
    { key = "tclass", name = "TClass", off = 0, size = 2, base = "hex", mask = 0xff0, doc = "traffic class: DSCP and ECN" },
    { key = "flowlabel", name = "FlowLabel", off = 1, size = 3, base = "hex", mask = 0xfffff, doc = "flow label" },
    { key = "paylen", name = "PayLen", off = 4, size = 2, base = "dec", doc = "bytes after the GRH up to and with the ICRC" },
    { key = "nxthdr", name = "NxtHdr", off = 6, size = 1, base = "hex", doc = "0x1b: an IBA transport follows" },
    { key = "hoplmt", name = "HopLmt", off = 7, size = 1, base = "dec", doc = "hop limit" },
    { key = "sgid", name = "SGID", off = 8, size = 16, base = "gid", doc = "source global identifier" },
    { key = "dgid", name = "DGID", off = 24, size = 16, base = "gid", doc = "destination global identifier" },
  } },
  { key = "bth", name = "BTH", len = 12, fields = {
    { key = "opcode", name = "Opcode", off = 0, size = 1, base = "hex", doc = "service and operation" },
    { key = "se", name = "SE", off = 1, size = 1, base = "flag", mask = 0x80, doc = "solicited event" },
    { key = "m", name = "M", off = 1, size = 1, base = "flag", mask = 0x40, doc = "migration request" },
    { key = "padcnt", name = "PadCnt", off = 1, size = 1, base = "dec", mask = 0x30, doc = "pad bytes between payload and ICRC" },
    { key = "tver", name = "TVer", off = 1, size = 1, base = "dec", mask = 0xf, doc = "transport version, 0" },
    { key = "p_key", name = "PKey", off = 2, size = 2, base = "hex", doc = "partition key" },
    { key = "fecn", name = "FECN", off = 4, size = 1, base = "flag", mask = 0x80, doc = "forward explicit congestion notification" },
    { key = "becn", name = "BECN", off = 4, size = 1, base = "flag", mask = 0x40, doc = "backward explicit congestion notification" },
    { key = "rsv6", name = "Rsv6", off = 4, size = 1, base = "dec", mask = 0x3f, doc = "reserved, not covered by the ICRC" },
    { key = "destqp", name = "DestQP", off = 5, size = 3, base = "hex", doc = "destination queue pair" },
    { key = "a", name = "AckReq", off = 8, size = 1, base = "flag", mask = 0x80, doc = "the sender asks for an acknowledgement" },
    { key = "rsv1", name = "Rsv1", off = 8, size = 1, base = "dec", mask = 0x40, doc = "reserved" },
    { key = "retx", name = "ReTx", off = 8, size = 1, base = "flag", mask = 0x20, doc = "MP-RDMA: a retransmission; reserved in IBA" },
    { key = "synchronise", name = "Synchronise", off = 8, size = 1, base = "flag", mask = 0x10, doc = "MP-RDMA: place only after everything before it; reserved in IBA" },
    { key = "rsv4", name = "Rsv4", off = 8, size = 1, base = "dec", mask = 0xf, doc = "reserved" },
    { key = "psn", name = "PSN", off = 9, size = 3, base = "dec", doc = "packet sequence number" },
  } },
  { key = "rdeth", name = "RDETH", len = 4, fields = {
    { key = "rsv8", name = "Rsv8", off = 0, size = 1, base = "dec", doc = "reserved" },
    { key = "eecnxt", name = "EECnxt", off = 1, size = 3, base = "hex", doc = "end-to-end context, which owns the PSN" },
  } },
  { key = "deth", name = "DETH", len = 8, fields = {
    { key = "q_key", name = "QKey", off = 0, size = 4, base = "hex", doc = "queue key" },
    { key = "rsv8", name = "Rsv8", off = 4, size = 1, base = "dec", doc = "reserved" },
    { key = "srcqp", name = "SrcQP", off = 5, size = 3, base = "hex", doc = "source queue pair" },
  } },
  { key = "xrceth", name = "XRCETH", len = 4, fields = {
    { key = "rsv8", name = "Rsv8", off = 0, size = 1, base = "dec", doc = "reserved" },
    { key = "xrcsrq", name = "XRCSRQ", off = 1, size = 3, base = "hex", doc = "shared receive queue" },
  } },
  { key = "feth", name = "FETH", len = 4, fields = {
    { key = "rsv26", name = "Rsv26", off = 0, size = 4, base = "dec", mask = 0xffffffc0, doc = "reserved" },
    { key = "sel", name = "SEL", off = 3, size = 1, base = "dec", mask = 0x30, doc = "selectivity: 0 memory range, 1 memory region" },
    { key = "plt", name = "PLT", off = 3, size = 1, base = "hex", mask = 0xf, doc = "placement type: 1 global visibility, 2 persistence" },
  } },
  { key = "reth", name = "RETH", len = 16, fields = {
    { key = "va", name = "VA", off = 0, size = 8, base = "hex", doc = "virtual address of the remote memory" },
    { key = "r_key", name = "RKey", off = 8, size = 4, base = "hex", doc = "remote key" },
    { key = "dmalen", name = "DMALen", off = 12, size = 4, base = "dec", doc = "length of the message in bytes" },
  } },
  { key = "atomiceth", name = "AtomicETH", len = 28, fields = {
    { key = "va", name = "VA", off = 0, size = 8, base = "hex", doc = "virtual address of the remote 8 bytes" },
    { key = "r_key", name = "RKey", off = 8, size = 4, base = "hex", doc = "remote key" },
    { key = "swapdt", name = "SwapDt", off = 12, size = 8, base = "hex", doc = "value to swap in, or to add" },
    { key = "cmpdt", name = "CmpDt", off = 20, size = 8, base = "hex", doc = "value to compare with" },
  } },
  { key = "aeth", name = "AETH", len = 4, fields = {
    { key = "syndrome", name = "Syndrome", off = 0, size = 1, base = "hex", doc = "ACK with credits, RNR NAK with timer, or NAK with code" },
    { key = "msn", name = "MSN", off = 1, size = 3, base = "dec", doc = "number of messages completed by the responder" },
  } },
  { key = "tcaeth", name = "T/C AETH", len = 30, fields = {
    { key = "segmentnum", name = "SegmentNum", off = 0, size = 3, base = "dec", doc = "received segments reported, the first continuous block included: 1 to 4" },
    { key = "lastfinishedpsn", name = "LastFinishedPSN", off = 3, size = 3, base = "dec", doc = "last PSN of the first continuous block" },
    { key = "seg1left", name = "Seg1Left", off = 6, size = 3, base = "dec", doc = "first PSN of the second received segment" },
    { key = "seg1right", name = "Seg1Right", off = 9, size = 3, base = "dec", doc = "last PSN of the second received segment" },
    { key = "seg2left", name = "Seg2Left", off = 12, size = 3, base = "dec", doc = "first PSN of the third received segment" },
    { key = "seg2right", name = "Seg2Right", off = 15, size = 3, base = "dec", doc = "last PSN of the third received segment" },
    { key = "seg3left", name = "Seg3Left", off = 18, size = 3, base = "dec", doc = "first PSN of the fourth received segment" },
    { key = "seg3right", name = "Seg3Right", off = 21, size = 3, base = "dec", doc = "last PSN of the fourth received segment" },
    { key = "rsv24", name = "Rsv24", off = 24, size = 3, base = "dec", doc = "reserved" },
    { key = "rsvcont", name = "RsvCont", off = 27, size = 3, base = "dec", doc = "reserved, absent in the 27-byte form" },
  } },
  { key = "atomicacketh", name = "AtomicAckETH", len = 8, fields = {
    { key = "origremdt", name = "OrigRemDt", off = 0, size = 8, base = "hex", doc = "what the remote memory held before" },
  } },
  { key = "sacketh", name = "SackETH", len = 4, fields = {
    { key = "rsv8", name = "Rsv8", off = 0, size = 1, base = "dec", doc = "reserved" },
    { key = "sackpsn", name = "SackPSN", off = 1, size = 3, base = "dec", doc = "PSN of the out-of-order packet that triggered the NACK" },
  } },
  { key = "mpeth", name = "MPETH", len = 4, fields = {
    { key = "ece", name = "ECE", off = 0, size = 1, base = "flag", mask = 0x80, doc = "the data packet was marked CE" },
    { key = "retxecho", name = "ReTxEcho", off = 0, size = 1, base = "flag", mask = 0x40, doc = "the data packet was a retransmission" },
    { key = "rsv6", name = "Rsv6", off = 0, size = 1, base = "dec", mask = 0x3f, doc = "reserved" },
    { key = "aack", name = "AACK", off = 1, size = 3, base = "dec", doc = "highest PSN received in order" },
  } },
  { key = "irneth", name = "IRNETH", len = 8, fields = {
    { key = "rsv8", name = "Rsv8", off = 0, size = 1, base = "dec", doc = "reserved" },
    { key = "wqesn", name = "WQESN", off = 1, size = 3, base = "dec", doc = "receive or read WQE sequence number" },
    { key = "offset", name = "Offset", off = 4, size = 4, base = "dec", doc = "bytes from the start of the message" },
  } },
  { key = "immdt", name = "ImmDt", len = 4, single = true, fields = {
    { key = "immdt", name = "ImmediateData", off = 0, size = 4, base = "hex", doc = "handed to the receiver's completion" },
  } },
  { key = "ieth", name = "IETH", len = 4, fields = {
    { key = "r_key", name = "RKey", off = 0, size = 4, base = "hex", doc = "remote key to invalidate" },
  } },
  { key = "cnp", name = "CNP", len = 16, fields = {
    { key = "rsvhigh", name = "RsvHigh", off = 0, size = 8, base = "hex", doc = "reserved" },
    { key = "rsvlow", name = "RsvLow", off = 8, size = 8, base = "hex", doc = "reserved" },
  } },
  { key = "mad", name = "MAD", len = 24, fields = {
    { key = "baseversion", name = "BaseVersion", off = 0, size = 1, base = "dec", doc = "version of the MAD format, 1" },
    { key = "mgmtclass", name = "Class", off = 1, size = 1, base = "hex", doc = "management class: 0x07 connection management" },
    { key = "classversion", name = "ClassVersion", off = 2, size = 1, base = "dec", doc = "version of the class" },
    { key = "method", name = "Method", off = 3, size = 1, base = "hex", doc = "0x03 Send" },
    { key = "status", name = "Status", off = 4, size = 2, base = "hex", doc = "status" },
    { key = "classspecific", name = "ClassSpecific", off = 6, size = 2, base = "hex", doc = "of the class" },
    { key = "transactionid", name = "TransactionID", off = 8, size = 8, base = "hex", doc = "pairs request and answer" },
    { key = "attributeid", name = "Attribute", off = 16, size = 2, base = "hex", doc = "which message follows" },
    { key = "rsv16", name = "Rsv16", off = 18, size = 2, base = "dec", doc = "reserved" },
    { key = "attributemodifier", name = "AttributeModifier", off = 20, size = 4, base = "hex", doc = "modifier of the attribute" },
  } },
  { key = "req", name = "REQ", len = 140, fields = {
    { key = "localcommid", name = "LocalCommID", off = 0, size = 4, base = "hex", doc = "the sender's name for this connection attempt" },
    { key = "rsv32a", name = "Rsv32a", off = 4, size = 4, base = "dec", doc = "reserved" },
    { key = "serviceid", name = "ServiceID", off = 8, size = 8, base = "hex", doc = "what is asked for; 0x0000000001, IP protocol and port in RDMA IP CM" },
    { key = "localcaguid", name = "LocalCAGUID", off = 16, size = 8, base = "hex", doc = "the sender's channel adapter" },
    { key = "rsv32b", name = "Rsv32b", off = 24, size = 4, base = "dec", doc = "reserved" },
    { key = "localqkey", name = "LocalQKey", off = 28, size = 4, base = "hex", doc = "queue key" },
    { key = "localqpn", name = "LocalQPN", off = 32, size = 3, base = "hex", doc = "the sender's queue pair" },
    { key = "responderres", name = "ResponderResources", off = 35, size = 1, base = "dec", doc = "READs and atomics that the sender can answer at a time" },
    { key = "localeecn", name = "LocalEECN", off = 36, size = 3, base = "hex", doc = "the sender's end-to-end context" },
    { key = "initdepth", name = "InitiatorDepth", off = 39, size = 1, base = "dec", doc = "READs and atomics that the sender will have outstanding" },
    { key = "remoteeecn", name = "RemoteEECN", off = 40, size = 3, base = "hex", doc = "the receiver's end-to-end context" },
    { key = "remoteresptout", name = "RemoteCMTimeout", off = 43, size = 1, base = "dec", mask = 0xf8, doc = "time for the receiver to answer, 4.096 us x 2^n" },
    { key = "transpsvctype", name = "TransportService", off = 43, size = 1, base = "dec", mask = 0x6, doc = "0 RC, 1 UC, 2 RD, 3 extended" },
    { key = "e2eflowctrl", name = "EndToEndFlow", off = 43, size = 1, base = "flag", mask = 0x1, doc = "the sender wants credits" },
    { key = "startpsn", name = "StartingPSN", off = 44, size = 3, base = "dec", doc = "first PSN that the sender will send" },
    { key = "localresptout", name = "LocalCMTimeout", off = 47, size = 1, base = "dec", mask = 0xf8, doc = "time in which the sender answers, 4.096 us x 2^n" },
    { key = "retrcount", name = "RetryCount", off = 47, size = 1, base = "dec", mask = 0x7, doc = "retries after a timeout or sequence NAK" },
    { key = "pkey", name = "PKey", off = 48, size = 2, base = "hex", doc = "partition key" },
    { key = "pppmtu", name = "PathMTU", off = 50, size = 1, base = "dec", mask = 0xf0, doc = "1 to 5: 256 to 4096 bytes" },
    { key = "rdcexist", name = "RDCExists", off = 50, size = 1, base = "flag", mask = 0x8, doc = "an RD channel exists" },
    { key = "rnrretrcount", name = "RNRRetryCount", off = 50, size = 1, base = "dec", mask = 0x7, doc = "retries after an RNR NAK, 7 without end" },
    { key = "maxcmretr", name = "MaxCMRetries", off = 51, size = 1, base = "dec", mask = 0xf0, doc = "times that a CM message is sent again" },
    { key = "srq", name = "SRQ", off = 51, size = 1, base = "flag", mask = 0x8, doc = "the sender's queue pair uses a shared receive queue" },
    { key = "ext_transport", name = "ExtTransport", off = 51, size = 1, base = "dec", mask = 0x7, doc = "1 XRC where the service is extended" },
    { key = "prim_locallid", name = "Primary LocalLID", off = 52, size = 2, base = "dec", doc = "the sender's local identifier" },
    { key = "prim_remotelid", name = "Primary RemoteLID", off = 54, size = 2, base = "dec", doc = "the receiver's local identifier" },
    { key = "prim_localgid", name = "Primary LocalGID", off = 56, size = 16, base = "gid", doc = "the sender's address" },
    { key = "prim_remotegid", name = "Primary RemoteGID", off = 72, size = 16, base = "gid", doc = "the receiver's address" },
    { key = "prim_flowlabel", name = "Primary FlowLabel", off = 88, size = 3, base = "hex", mask = 0xfffff0, doc = "flow label" },
    { key = "primary.rsv6", name = "Primary Rsv6", off = 90, size = 2, base = "dec", mask = 0xfc0, doc = "reserved" },
    { key = "prim_pktrate", name = "Primary PacketRate", off = 91, size = 1, base = "dec", mask = 0x3f, doc = "code of the static rate" },
    { key = "prim_tfcclass", name = "Primary TrafficClass", off = 92, size = 1, base = "hex", doc = "traffic class" },
    { key = "prim_hoplim", name = "Primary HopLimit", off = 93, size = 1, base = "dec", doc = "hop limit" },
    { key = "prim_sl", name = "Primary SL", off = 94, size = 1, base = "dec", mask = 0xf0, doc = "service level" },
    { key = "prim_subnetlocal", name = "Primary SubnetLocal", off = 94, size = 1, base = "flag", mask = 0x8, doc = "the path stays in the subnet" },
    { key = "primary.rsv3a", name = "Primary Rsv3a", off = 94, size = 1, base = "dec", mask = 0x7, doc = "reserved" },
    { key = "prim_localacktout", name = "Primary LocalAckTimeout", off = 95, size = 1, base = "dec", mask = 0xf8, doc = "wait for an ACK, 4.096 us x 2^n" },
    { key = "primary.rsv3b", name = "Primary Rsv3b", off = 95, size = 1, base = "dec", mask = 0x7, doc = "reserved" },
    { key = "alt_locallid", name = "Alternate LocalLID", off = 96, size = 2, base = "dec", doc = "the sender's local identifier" },
    { key = "alt_remotelid", name = "Alternate RemoteLID", off = 98, size = 2, base = "dec", doc = "the receiver's local identifier" },
    { key = "alt_localgid", name = "Alternate LocalGID", off = 100, size = 16, base = "gid", doc = "the sender's address" },
    { key = "alt_remotegid", name = "Alternate RemoteGID", off = 116, size = 16, base = "gid", doc = "the receiver's address" },
    { key = "alt_flowlabel", name = "Alternate FlowLabel", off = 132, size = 3, base = "hex", mask = 0xfffff0, doc = "flow label" },
    { key = "alternate.rsv6", name = "Alternate Rsv6", off = 134, size = 2, base = "dec", mask = 0xfc0, doc = "reserved" },
    { key = "alt_pktrate", name = "Alternate PacketRate", off = 135, size = 1, base = "dec", mask = 0x3f, doc = "code of the static rate" },
    { key = "alt_tfcclass", name = "Alternate TrafficClass", off = 136, size = 1, base = "hex", doc = "traffic class" },
    { key = "alt_hoplim", name = "Alternate HopLimit", off = 137, size = 1, base = "dec", doc = "hop limit" },
    { key = "alt_sl", name = "Alternate SL", off = 138, size = 1, base = "dec", mask = 0xf0, doc = "service level" },
    { key = "alt_subnetlocal", name = "Alternate SubnetLocal", off = 138, size = 1, base = "flag", mask = 0x8, doc = "the path stays in the subnet" },
    { key = "alternate.rsv3a", name = "Alternate Rsv3a", off = 138, size = 1, base = "dec", mask = 0x7, doc = "reserved" },
    { key = "alt_localacktout", name = "Alternate LocalAckTimeout", off = 139, size = 1, base = "dec", mask = 0xf8, doc = "wait for an ACK, 4.096 us x 2^n" },
    { key = "alternate.rsv3b", name = "Alternate Rsv3b", off = 139, size = 1, base = "dec", mask = 0x7, doc = "reserved" },
  } },
  { key = "rep", name = "REP", len = 36, fields = {
    { key = "localcommid", name = "LocalCommID", off = 0, size = 4, base = "hex", doc = "the sender's name for this connection attempt" },
    { key = "remotecommid", name = "RemoteCommID", off = 4, size = 4, base = "hex", doc = "the receiver's" },
    { key = "localqkey", name = "LocalQKey", off = 8, size = 4, base = "hex", doc = "queue key" },
    { key = "localqpn", name = "LocalQPN", off = 12, size = 3, base = "hex", doc = "the sender's queue pair" },
    { key = "rsv8a", name = "Rsv8a", off = 15, size = 1, base = "dec", doc = "reserved" },
    { key = "localeecn", name = "LocalEECN", off = 16, size = 3, base = "hex", doc = "the sender's end-to-end context" },
    { key = "rsv8b", name = "Rsv8b", off = 19, size = 1, base = "dec", doc = "reserved" },
    { key = "startpsn", name = "StartingPSN", off = 20, size = 3, base = "dec", doc = "first PSN that the sender will send" },
    { key = "rsv8c", name = "Rsv8c", off = 23, size = 1, base = "dec", doc = "reserved" },
    { key = "respres", name = "ResponderResources", off = 24, size = 1, base = "dec", doc = "READs and atomics that the sender can answer at a time" },
    { key = "initdepth", name = "InitiatorDepth", off = 25, size = 1, base = "dec", doc = "READs and atomics that the sender will have outstanding" },
    { key = "tgtackdelay", name = "TargetAckDelay", off = 26, size = 1, base = "dec", mask = 0xf8, doc = "time to answer, 4.096 us x 2^n" },
    { key = "failoveracc", name = "Failover", off = 26, size = 1, base = "dec", mask = 0x6, doc = "0: the alternate path was accepted" },
    { key = "e2eflowctrl", name = "EndToEndFlow", off = 26, size = 1, base = "flag", mask = 0x1, doc = "the sender wants credits" },
    { key = "rnrretrcount", name = "RNRRetryCount", off = 27, size = 1, base = "dec", mask = 0xe0, doc = "retries after an RNR NAK, 7 without end" },
    { key = "srq", name = "SRQ", off = 27, size = 1, base = "flag", mask = 0x10, doc = "the sender's queue pair uses a shared receive queue" },
    { key = "rsv4", name = "Rsv4", off = 27, size = 1, base = "dec", mask = 0xf, doc = "reserved" },
    { key = "localcaguid", name = "LocalCAGUID", off = 28, size = 8, base = "hex", doc = "the sender's channel adapter" },
  } },
  { key = "rtu", name = "RTU", len = 8, fields = {
    { key = "localcommid", name = "LocalCommID", off = 0, size = 4, base = "hex", doc = "the sender's name for this connection attempt" },
    { key = "remotecommid", name = "RemoteCommID", off = 4, size = 4, base = "hex", doc = "the receiver's" },
  } },
  { key = "dreq", name = "DREQ", len = 12, fields = {
    { key = "localcommid", name = "LocalCommID", off = 0, size = 4, base = "hex", doc = "the sender's name for this connection" },
    { key = "remotecommid", name = "RemoteCommID", off = 4, size = 4, base = "hex", doc = "the receiver's" },
    { key = "remoteqpneecn", name = "RemoteQPN", off = 8, size = 3, base = "hex", doc = "the receiver's queue pair" },
    { key = "rsv8", name = "Rsv8", off = 11, size = 1, base = "dec", doc = "reserved" },
  } },
  { key = "drep", name = "DREP", len = 8, fields = {
    { key = "localcommid", name = "LocalCommID", off = 0, size = 4, base = "hex", doc = "the sender's name for this connection attempt" },
    { key = "remotecommid", name = "RemoteCommID", off = 4, size = 4, base = "hex", doc = "the receiver's" },
  } },
  { key = "rej", name = "REJ", len = 84, fields = {
    { key = "localcommid", name = "LocalCommID", off = 0, size = 4, base = "hex", doc = "the sender's name for this connection attempt" },
    { key = "remotecommid", name = "RemoteCommID", off = 4, size = 4, base = "hex", doc = "the receiver's" },
    { key = "msgrej", name = "MessageRejected", off = 8, size = 1, base = "dec", mask = 0xc0, doc = "0 REQ, 1 REP, 2 none" },
    { key = "rsv6", name = "Rsv6", off = 8, size = 1, base = "dec", mask = 0x3f, doc = "reserved" },
    { key = "rejinfolen", name = "InfoLength", off = 9, size = 1, base = "dec", mask = 0xfe, doc = "bytes of additional information" },
    { key = "rsv1", name = "Rsv1", off = 9, size = 1, base = "dec", mask = 0x1, doc = "reserved" },
    { key = "reason", name = "Reason", off = 10, size = 2, base = "dec", doc = "why" },
    { key = "ari", name = "Info", off = 12, size = 72, base = "data", doc = "additional information" },
  } },
  { key = "ip_cm", name = "RDMA IP CM", len = 36, fields = {
    { key = "majv", name = "MajorVersion", off = 0, size = 1, base = "dec", mask = 0xf0, doc = "0" },
    { key = "minv", name = "MinorVersion", off = 0, size = 1, base = "dec", mask = 0xf, doc = "0" },
    { key = "ipv", name = "IPVersion", off = 1, size = 1, base = "dec", mask = 0xf0, doc = "4 or 6" },
    { key = "rsv4", name = "Rsv4", off = 1, size = 1, base = "dec", mask = 0xf, doc = "reserved" },
    { key = "sport", name = "SrcPort", off = 2, size = 2, base = "dec", doc = "source port" },
    { key = "sip", name = "SrcAddr", off = 4, size = 16, base = "gid", doc = "source address; IPv4 in the last 4 bytes" },
    { key = "dip", name = "DstAddr", off = 20, size = 16, base = "gid", doc = "destination address; IPv4 in the last 4 bytes" },
  } },
  { key = "rate", name = "rate advertisement", len = 12, fields = {
    { key = "magic", name = "Magic", off = 0, size = 4, base = "hex", doc = "0x54434145" },
    { key = "version", name = "Version", off = 4, size = 1, base = "dec", doc = "1" },
    { key = "rsv24", name = "Rsv24", off = 5, size = 3, base = "dec", doc = "reserved" },
    { key = "rate", name = "PacketsPerSecond", off = 8, size = 4, base = "dec", doc = "packets per second" },
  } },
}
local HEADERS = {}
for _, h in ipairs(HEADER_ROWS) do HEADERS[h.key] = h end

-- The opcodes.
local CNP = 0x81
local FORMS = {
  [0x00] = { name = "RC SEND First", service = "RC", verb = "send", len = 12, starts = true, payload = true, plain = true, headers = {  } },
  [0x01] = { name = "RC SEND Middle", service = "RC", verb = "send", len = 12, payload = true, plain = true, headers = {  } },
  [0x02] = { name = "RC SEND Last", service = "RC", verb = "send", len = 12, ends = true, payload = true, plain = true, headers = {  } },
  [0x03] = { name = "RC SEND Last with Immediate", service = "RC", verb = "send", len = 16, ends = true, payload = true, plain = true, headers = { "immdt" } },
  [0x04] = { name = "RC SEND Only", service = "RC", verb = "send", len = 12, starts = true, ends = true, payload = true, plain = true, headers = {  } },
  [0x05] = { name = "RC SEND Only with Immediate", service = "RC", verb = "send", len = 16, starts = true, ends = true, payload = true, plain = true, headers = { "immdt" } },
  [0x06] = { name = "RC RDMA WRITE First", service = "RC", verb = "write", len = 28, reth = 12, starts = true, payload = true, plain = true, headers = { "reth" } },
  [0x07] = { name = "RC RDMA WRITE Middle", service = "RC", verb = "write", len = 12, payload = true, plain = true, headers = {  } },
  [0x08] = { name = "RC RDMA WRITE Last", service = "RC", verb = "write", len = 12, ends = true, payload = true, plain = true, headers = {  } },
  [0x09] = { name = "RC RDMA WRITE Last with Immediate", service = "RC", verb = "write", len = 16, ends = true, payload = true, plain = true, headers = { "immdt" } },
  [0x0a] = { name = "RC RDMA WRITE Only", service = "RC", verb = "write", len = 28, reth = 12, starts = true, ends = true, payload = true, plain = true, headers = { "reth" } },
  [0x0b] = { name = "RC RDMA WRITE Only with Immediate", service = "RC", verb = "write", len = 32, reth = 12, starts = true, ends = true, payload = true, plain = true, headers = { "reth", "immdt" } },
  [0x0c] = { name = "RC RDMA READ Request", service = "RC", verb = "read", len = 28, reth = 12, starts = true, ends = true, headers = { "reth" } },
  [0x0d] = { name = "RC RDMA READ Response First", service = "RC", verb = "read response", len = 16, aeth = 12, starts = true, payload = true, response = true, headers = { "aeth" } },
  [0x0e] = { name = "RC RDMA READ Response Middle", service = "RC", verb = "read response", len = 12, payload = true, response = true, headers = {  } },
  [0x0f] = { name = "RC RDMA READ Response Last", service = "RC", verb = "read response", len = 16, aeth = 12, ends = true, payload = true, response = true, headers = { "aeth" } },
  [0x10] = { name = "RC RDMA READ Response Only", service = "RC", verb = "read response", len = 16, aeth = 12, starts = true, ends = true, payload = true, response = true, headers = { "aeth" } },
  [0x11] = { name = "RC Acknowledge", service = "RC", verb = "ack", len = 16, aeth = 12, starts = true, ends = true, response = true, reports = true, headers = { "aeth" } },
  [0x12] = { name = "RC ATOMIC Acknowledge", service = "RC", verb = "atomic ack", len = 24, aeth = 12, starts = true, ends = true, response = true, reports = true, headers = { "aeth", "atomicacketh" } },
  [0x13] = { name = "RC CmpSwap", service = "RC", verb = "atomic", len = 40, starts = true, ends = true, headers = { "atomiceth" } },
  [0x14] = { name = "RC FetchAdd", service = "RC", verb = "atomic", len = 40, starts = true, ends = true, headers = { "atomiceth" } },
  [0x16] = { name = "RC SEND Last with Invalidate", service = "RC", verb = "send", len = 16, ends = true, payload = true, plain = true, headers = { "ieth" } },
  [0x17] = { name = "RC SEND Only with Invalidate", service = "RC", verb = "send", len = 16, starts = true, ends = true, payload = true, plain = true, headers = { "ieth" } },
  [0x1c] = { name = "RC FLUSH", service = "RC", verb = "flush", len = 32, reth = 16, starts = true, ends = true, unknown_to_wireshark = true, headers = { "feth", "reth" } },
  [0x1d] = { name = "RC ATOMIC WRITE", service = "RC", verb = "atomic write", len = 28, reth = 12, starts = true, ends = true, payload = true, plain = true, unknown_to_wireshark = true, headers = { "reth" } },
  [0x20] = { name = "UC SEND First", service = "UC", verb = "send", len = 12, starts = true, payload = true, plain = true, headers = {  } },
  [0x21] = { name = "UC SEND Middle", service = "UC", verb = "send", len = 12, payload = true, plain = true, headers = {  } },
  [0x22] = { name = "UC SEND Last", service = "UC", verb = "send", len = 12, ends = true, payload = true, plain = true, headers = {  } },
  [0x23] = { name = "UC SEND Last with Immediate", service = "UC", verb = "send", len = 16, ends = true, payload = true, plain = true, headers = { "immdt" } },
  [0x24] = { name = "UC SEND Only", service = "UC", verb = "send", len = 12, starts = true, ends = true, payload = true, plain = true, headers = {  } },
  [0x25] = { name = "UC SEND Only with Immediate", service = "UC", verb = "send", len = 16, starts = true, ends = true, payload = true, plain = true, headers = { "immdt" } },
  [0x26] = { name = "UC RDMA WRITE First", service = "UC", verb = "write", len = 28, reth = 12, starts = true, payload = true, plain = true, headers = { "reth" } },
  [0x27] = { name = "UC RDMA WRITE Middle", service = "UC", verb = "write", len = 12, payload = true, plain = true, headers = {  } },
  [0x28] = { name = "UC RDMA WRITE Last", service = "UC", verb = "write", len = 12, ends = true, payload = true, plain = true, headers = {  } },
  [0x29] = { name = "UC RDMA WRITE Last with Immediate", service = "UC", verb = "write", len = 16, ends = true, payload = true, plain = true, headers = { "immdt" } },
  [0x2a] = { name = "UC RDMA WRITE Only", service = "UC", verb = "write", len = 28, reth = 12, starts = true, ends = true, payload = true, plain = true, headers = { "reth" } },
  [0x2b] = { name = "UC RDMA WRITE Only with Immediate", service = "UC", verb = "write", len = 32, reth = 12, starts = true, ends = true, payload = true, plain = true, headers = { "reth", "immdt" } },
  [0x40] = { name = "RD SEND First", service = "RD", verb = "send", len = 24, starts = true, payload = true, headers = { "rdeth", "deth" } },
  [0x41] = { name = "RD SEND Middle", service = "RD", verb = "send", len = 24, payload = true, headers = { "rdeth", "deth" } },
  [0x42] = { name = "RD SEND Last", service = "RD", verb = "send", len = 24, ends = true, payload = true, headers = { "rdeth", "deth" } },
  [0x43] = { name = "RD SEND Last with Immediate", service = "RD", verb = "send", len = 28, ends = true, payload = true, headers = { "rdeth", "deth", "immdt" } },
  [0x44] = { name = "RD SEND Only", service = "RD", verb = "send", len = 24, starts = true, ends = true, payload = true, headers = { "rdeth", "deth" } },
  [0x45] = { name = "RD SEND Only with Immediate", service = "RD", verb = "send", len = 28, starts = true, ends = true, payload = true, headers = { "rdeth", "deth", "immdt" } },
  [0x46] = { name = "RD RDMA WRITE First", service = "RD", verb = "write", len = 40, reth = 24, starts = true, payload = true, headers = { "rdeth", "deth", "reth" } },
  [0x47] = { name = "RD RDMA WRITE Middle", service = "RD", verb = "write", len = 24, payload = true, headers = { "rdeth", "deth" } },
  [0x48] = { name = "RD RDMA WRITE Last", service = "RD", verb = "write", len = 24, ends = true, payload = true, headers = { "rdeth", "deth" } },
  [0x49] = { name = "RD RDMA WRITE Last with Immediate", service = "RD", verb = "write", len = 28, ends = true, payload = true, headers = { "rdeth", "deth", "immdt" } },
  [0x4a] = { name = "RD RDMA WRITE Only", service = "RD", verb = "write", len = 40, reth = 24, starts = true, ends = true, payload = true, headers = { "rdeth", "deth", "reth" } },
  [0x4b] = { name = "RD RDMA WRITE Only with Immediate", service = "RD", verb = "write", len = 44, reth = 24, starts = true, ends = true, payload = true, headers = { "rdeth", "deth", "reth", "immdt" } },
  [0x4c] = { name = "RD RDMA READ Request", service = "RD", verb = "read", len = 40, reth = 24, starts = true, ends = true, headers = { "rdeth", "deth", "reth" } },
  [0x4d] = { name = "RD RDMA READ Response First", service = "RD", verb = "read response", len = 20, aeth = 16, starts = true, payload = true, response = true, headers = { "rdeth", "aeth" } },
  [0x4e] = { name = "RD RDMA READ Response Middle", service = "RD", verb = "read response", len = 16, payload = true, response = true, headers = { "rdeth" } },
  [0x4f] = { name = "RD RDMA READ Response Last", service = "RD", verb = "read response", len = 20, aeth = 16, ends = true, payload = true, response = true, headers = { "rdeth", "aeth" } },
  [0x50] = { name = "RD RDMA READ Response Only", service = "RD", verb = "read response", len = 20, aeth = 16, starts = true, ends = true, payload = true, response = true, headers = { "rdeth", "aeth" } },
  [0x51] = { name = "RD Acknowledge", service = "RD", verb = "ack", len = 20, aeth = 16, starts = true, ends = true, response = true, headers = { "rdeth", "aeth" } },
  [0x52] = { name = "RD ATOMIC Acknowledge", service = "RD", verb = "atomic ack", len = 28, aeth = 16, starts = true, ends = true, response = true, headers = { "rdeth", "aeth", "atomicacketh" } },
  [0x53] = { name = "RD CmpSwap", service = "RD", verb = "atomic", len = 52, starts = true, ends = true, headers = { "rdeth", "deth", "atomiceth" } },
  [0x54] = { name = "RD FetchAdd", service = "RD", verb = "atomic", len = 52, starts = true, ends = true, headers = { "rdeth", "deth", "atomiceth" } },
  [0x55] = { name = "RD RESYNC", service = "RD", verb = "resync", len = 24, starts = true, ends = true, payload = true, headers = { "rdeth", "deth" } },
  [0x5c] = { name = "RD FLUSH", service = "RD", verb = "flush", len = 44, reth = 28, starts = true, ends = true, unknown_to_wireshark = true, headers = { "rdeth", "deth", "feth", "reth" } },
  [0x64] = { name = "UD SEND Only", service = "UD", verb = "send", len = 20, starts = true, ends = true, payload = true, headers = { "deth" } },
  [0x65] = { name = "UD SEND Only with Immediate", service = "UD", verb = "send", len = 24, starts = true, ends = true, payload = true, headers = { "deth", "immdt" } },
  [0x81] = { name = "CNP", service = "CNP", verb = "", len = 28, starts = true, ends = true, unknown_to_wireshark = true, headers = { "cnp" } },
  [0xa0] = { name = "XRC SEND First", service = "XRC", verb = "send", len = 16, starts = true, payload = true, plain = true, unknown_to_wireshark = true, headers = { "xrceth" } },
  [0xa1] = { name = "XRC SEND Middle", service = "XRC", verb = "send", len = 16, payload = true, plain = true, unknown_to_wireshark = true, headers = { "xrceth" } },
  [0xa2] = { name = "XRC SEND Last", service = "XRC", verb = "send", len = 16, ends = true, payload = true, plain = true, unknown_to_wireshark = true, headers = { "xrceth" } },
  [0xa3] = { name = "XRC SEND Last with Immediate", service = "XRC", verb = "send", len = 20, ends = true, payload = true, plain = true, unknown_to_wireshark = true, headers = { "xrceth", "immdt" } },
  [0xa4] = { name = "XRC SEND Only", service = "XRC", verb = "send", len = 16, starts = true, ends = true, payload = true, plain = true, unknown_to_wireshark = true, headers = { "xrceth" } },
  [0xa5] = { name = "XRC SEND Only with Immediate", service = "XRC", verb = "send", len = 20, starts = true, ends = true, payload = true, plain = true, unknown_to_wireshark = true, headers = { "xrceth", "immdt" } },
  [0xa6] = { name = "XRC RDMA WRITE First", service = "XRC", verb = "write", len = 32, reth = 16, starts = true, payload = true, plain = true, unknown_to_wireshark = true, headers = { "xrceth", "reth" } },
  [0xa7] = { name = "XRC RDMA WRITE Middle", service = "XRC", verb = "write", len = 16, payload = true, plain = true, unknown_to_wireshark = true, headers = { "xrceth" } },
  [0xa8] = { name = "XRC RDMA WRITE Last", service = "XRC", verb = "write", len = 16, ends = true, payload = true, plain = true, unknown_to_wireshark = true, headers = { "xrceth" } },
  [0xa9] = { name = "XRC RDMA WRITE Last with Immediate", service = "XRC", verb = "write", len = 20, ends = true, payload = true, plain = true, unknown_to_wireshark = true, headers = { "xrceth", "immdt" } },
  [0xaa] = { name = "XRC RDMA WRITE Only", service = "XRC", verb = "write", len = 32, reth = 16, starts = true, ends = true, payload = true, plain = true, unknown_to_wireshark = true, headers = { "xrceth", "reth" } },
  [0xab] = { name = "XRC RDMA WRITE Only with Immediate", service = "XRC", verb = "write", len = 36, reth = 16, starts = true, ends = true, payload = true, plain = true, unknown_to_wireshark = true, headers = { "xrceth", "reth", "immdt" } },
  [0xac] = { name = "XRC RDMA READ Request", service = "XRC", verb = "read", len = 32, reth = 16, starts = true, ends = true, unknown_to_wireshark = true, headers = { "xrceth", "reth" } },
  [0xad] = { name = "XRC RDMA READ Response First", service = "XRC", verb = "read response", len = 16, aeth = 12, starts = true, payload = true, response = true, unknown_to_wireshark = true, headers = { "aeth" } },
  [0xae] = { name = "XRC RDMA READ Response Middle", service = "XRC", verb = "read response", len = 12, payload = true, response = true, unknown_to_wireshark = true, headers = {  } },
  [0xaf] = { name = "XRC RDMA READ Response Last", service = "XRC", verb = "read response", len = 16, aeth = 12, ends = true, payload = true, response = true, unknown_to_wireshark = true, headers = { "aeth" } },
  [0xb0] = { name = "XRC RDMA READ Response Only", service = "XRC", verb = "read response", len = 16, aeth = 12, starts = true, ends = true, payload = true, response = true, unknown_to_wireshark = true, headers = { "aeth" } },
  [0xb1] = { name = "XRC Acknowledge", service = "XRC", verb = "ack", len = 16, aeth = 12, starts = true, ends = true, response = true, reports = true, unknown_to_wireshark = true, headers = { "aeth" } },
  [0xb2] = { name = "XRC ATOMIC Acknowledge", service = "XRC", verb = "atomic ack", len = 24, aeth = 12, starts = true, ends = true, response = true, reports = true, unknown_to_wireshark = true, headers = { "aeth", "atomicacketh" } },
  [0xb3] = { name = "XRC CmpSwap", service = "XRC", verb = "atomic", len = 44, starts = true, ends = true, unknown_to_wireshark = true, headers = { "xrceth", "atomiceth" } },
  [0xb4] = { name = "XRC FetchAdd", service = "XRC", verb = "atomic", len = 44, starts = true, ends = true, unknown_to_wireshark = true, headers = { "xrceth", "atomiceth" } },
  [0xb6] = { name = "XRC SEND Last with Invalidate", service = "XRC", verb = "send", len = 20, ends = true, payload = true, plain = true, unknown_to_wireshark = true, headers = { "xrceth", "ieth" } },
  [0xb7] = { name = "XRC SEND Only with Invalidate", service = "XRC", verb = "send", len = 20, starts = true, ends = true, payload = true, plain = true, unknown_to_wireshark = true, headers = { "xrceth", "ieth" } },
  [0xe0] = { name = "IRN SEND First", service = "IRN", verb = "send", len = 20, starts = true, payload = true, unknown_to_wireshark = true, headers = { "irneth" } },
  [0xe1] = { name = "IRN SEND Middle", service = "IRN", verb = "send", len = 20, payload = true, unknown_to_wireshark = true, headers = { "irneth" } },
  [0xe2] = { name = "IRN SEND Last", service = "IRN", verb = "send", len = 20, ends = true, payload = true, unknown_to_wireshark = true, headers = { "irneth" } },
  [0xe3] = { name = "IRN SEND Last with Immediate", service = "IRN", verb = "send", len = 24, ends = true, payload = true, unknown_to_wireshark = true, headers = { "irneth", "immdt" } },
  [0xe4] = { name = "IRN SEND Only", service = "IRN", verb = "send", len = 20, starts = true, ends = true, payload = true, unknown_to_wireshark = true, headers = { "irneth" } },
  [0xe5] = { name = "IRN SEND Only with Immediate", service = "IRN", verb = "send", len = 24, starts = true, ends = true, payload = true, unknown_to_wireshark = true, headers = { "irneth", "immdt" } },
  [0xe6] = { name = "IRN RDMA WRITE First", service = "IRN", verb = "write", len = 28, reth = 12, starts = true, payload = true, unknown_to_wireshark = true, headers = { "reth" } },
  [0xe7] = { name = "IRN RDMA WRITE Middle", service = "IRN", verb = "write", len = 28, reth = 12, payload = true, unknown_to_wireshark = true, headers = { "reth" } },
  [0xe8] = { name = "IRN RDMA WRITE Last", service = "IRN", verb = "write", len = 28, reth = 12, ends = true, payload = true, unknown_to_wireshark = true, headers = { "reth" } },
  [0xe9] = { name = "IRN RDMA WRITE Last with Immediate", service = "IRN", verb = "write", len = 40, reth = 12, ends = true, payload = true, unknown_to_wireshark = true, headers = { "reth", "irneth", "immdt" } },
  [0xea] = { name = "IRN RDMA WRITE Only", service = "IRN", verb = "write", len = 28, reth = 12, starts = true, ends = true, payload = true, unknown_to_wireshark = true, headers = { "reth" } },
  [0xeb] = { name = "IRN RDMA WRITE Only with Immediate", service = "IRN", verb = "write", len = 40, reth = 12, starts = true, ends = true, payload = true, unknown_to_wireshark = true, headers = { "reth", "irneth", "immdt" } },
  [0xec] = { name = "IRN RDMA READ Request", service = "IRN", verb = "read", len = 36, reth = 12, starts = true, ends = true, unknown_to_wireshark = true, headers = { "reth", "irneth" } },
  [0xed] = { name = "IRN RDMA READ Response First", service = "IRN", verb = "read response", len = 16, aeth = 12, starts = true, payload = true, response = true, unknown_to_wireshark = true, headers = { "aeth" } },
  [0xee] = { name = "IRN RDMA READ Response Middle", service = "IRN", verb = "read response", len = 12, payload = true, response = true, unknown_to_wireshark = true, headers = {  } },
  [0xef] = { name = "IRN RDMA READ Response Last", service = "IRN", verb = "read response", len = 16, aeth = 12, ends = true, payload = true, response = true, unknown_to_wireshark = true, headers = { "aeth" } },
  [0xf0] = { name = "IRN RDMA READ Response Only", service = "IRN", verb = "read response", len = 16, aeth = 12, starts = true, ends = true, payload = true, response = true, unknown_to_wireshark = true, headers = { "aeth" } },
  [0xf1] = { name = "IRN NACK", service = "IRN", verb = "ack", len = 20, aeth = 12, sack = 16, starts = true, ends = true, response = true, unknown_to_wireshark = true, headers = { "aeth", "sacketh" } },
  [0xf3] = { name = "IRN CmpSwap", service = "IRN", verb = "atomic", len = 48, starts = true, ends = true, unknown_to_wireshark = true, headers = { "atomiceth", "irneth" } },
  [0xf4] = { name = "IRN FetchAdd", service = "IRN", verb = "atomic", len = 48, starts = true, ends = true, unknown_to_wireshark = true, headers = { "atomiceth", "irneth" } },
  [0xf6] = { name = "IRN SEND Last with Invalidate", service = "IRN", verb = "send", len = 24, ends = true, payload = true, unknown_to_wireshark = true, headers = { "irneth", "ieth" } },
  [0xf7] = { name = "IRN SEND Only with Invalidate", service = "IRN", verb = "send", len = 24, starts = true, ends = true, payload = true, unknown_to_wireshark = true, headers = { "irneth", "ieth" } },
  [0xf8] = { name = "IRN READ Response ACK", service = "IRN", verb = "ack", len = 16, aeth = 12, starts = true, ends = true, response = true, unknown_to_wireshark = true, headers = { "aeth" } },
  [0xf9] = { name = "IRN READ Response NACK", service = "IRN", verb = "ack", len = 20, aeth = 12, sack = 16, starts = true, ends = true, response = true, unknown_to_wireshark = true, headers = { "aeth", "sacketh" } },
  [0xfa] = { name = "MP-RDMA ACK", service = "IRN", verb = "ack", len = 20, aeth = 12, mp = 16, starts = true, ends = true, response = true, unknown_to_wireshark = true, headers = { "aeth", "mpeth" } },
  [0xfb] = { name = "MP-RDMA NACK", service = "IRN", verb = "ack", len = 20, aeth = 12, mp = 16, starts = true, ends = true, response = true, unknown_to_wireshark = true, headers = { "aeth", "mpeth" } },
}
for op, form in pairs(FORMS) do
  form.op = op
  for i, key in ipairs(form.headers) do form.headers[i] = HEADERS[key] end
end

-- What values mean.
local NAK_CODES = { [0] = "PSN sequence error", [1] = "invalid request", [2] = "remote access error", [3] = "remote operational error", [4] = "invalid RD request", }
local CREDITS = { [0] = 0, [1] = 1, [2] = 2, [3] = 3, [4] = 4, [5] = 6, [6] = 8, [7] = 12, [8] = 16, [9] = 24, [10] = 32, [11] = 48, [12] = 64, [13] = 96, [14] = 128, [15] = 192, [16] = 256, [17] = 384, [18] = 512, [19] = 768, [20] = 1024, [21] = 1536, [22] = 2048, [23] = 3072, [24] = 4096, [25] = 6144, [26] = 8192, [27] = 12288, [28] = 16384, [29] = 24576, [30] = 32768, }
local RNR_TIMERS = { -- ms
  [0] = 655.36, [1] = 0.01, [2] = 0.02, [3] = 0.03, [4] = 0.04, [5] = 0.06, [6] = 0.08, [7] = 0.12, [8] = 0.16, [9] = 0.24, [10] = 0.32, [11] = 0.48, [12] = 0.64, [13] = 0.96, [14] = 1.28, [15] = 1.92, [16] = 2.56, [17] = 3.84, [18] = 5.12, [19] = 7.68, [20] = 10.24, [21] = 15.36, [22] = 20.48, [23] = 30.72, [24] = 40.96, [25] = 61.44, [26] = 81.92, [27] = 122.88, [28] = 163.84, [29] = 245.76, [30] = 327.68, [31] = 491.52,
}
local CM_CLASS = 0x07
local CM_MESSAGES = { [0x10] = "req", [0x12] = "rej", [0x13] = "rep", [0x14] = "rtu", [0x15] = "dreq", [0x16] = "drep", }
local RATE_MAGIC, RATE_VERSION = 0x54434145, 1
local VALUES = {
  ["rdma.bth.opcode"] = { [0x00] = "RC SEND First", [0x01] = "RC SEND Middle", [0x02] = "RC SEND Last", [0x03] = "RC SEND Last with Immediate", [0x04] = "RC SEND Only", [0x05] = "RC SEND Only with Immediate", [0x06] = "RC RDMA WRITE First", [0x07] = "RC RDMA WRITE Middle", [0x08] = "RC RDMA WRITE Last", [0x09] = "RC RDMA WRITE Last with Immediate", [0x0a] = "RC RDMA WRITE Only", [0x0b] = "RC RDMA WRITE Only with Immediate", [0x0c] = "RC RDMA READ Request", [0x0d] = "RC RDMA READ Response First", [0x0e] = "RC RDMA READ Response Middle", [0x0f] = "RC RDMA READ Response Last", [0x10] = "RC RDMA READ Response Only", [0x11] = "RC Acknowledge", [0x12] = "RC ATOMIC Acknowledge", [0x13] = "RC CmpSwap", [0x14] = "RC FetchAdd", [0x16] = "RC SEND Last with Invalidate", [0x17] = "RC SEND Only with Invalidate", [0x1c] = "RC FLUSH", [0x1d] = "RC ATOMIC WRITE", [0x20] = "UC SEND First", [0x21] = "UC SEND Middle", [0x22] = "UC SEND Last", [0x23] = "UC SEND Last with Immediate", [0x24] = "UC SEND Only", [0x25] = "UC SEND Only with Immediate", [0x26] = "UC RDMA WRITE First", [0x27] = "UC RDMA WRITE Middle", [0x28] = "UC RDMA WRITE Last", [0x29] = "UC RDMA WRITE Last with Immediate", [0x2a] = "UC RDMA WRITE Only", [0x2b] = "UC RDMA WRITE Only with Immediate", [0x40] = "RD SEND First", [0x41] = "RD SEND Middle", [0x42] = "RD SEND Last", [0x43] = "RD SEND Last with Immediate", [0x44] = "RD SEND Only", [0x45] = "RD SEND Only with Immediate", [0x46] = "RD RDMA WRITE First", [0x47] = "RD RDMA WRITE Middle", [0x48] = "RD RDMA WRITE Last", [0x49] = "RD RDMA WRITE Last with Immediate", [0x4a] = "RD RDMA WRITE Only", [0x4b] = "RD RDMA WRITE Only with Immediate", [0x4c] = "RD RDMA READ Request", [0x4d] = "RD RDMA READ Response First", [0x4e] = "RD RDMA READ Response Middle", [0x4f] = "RD RDMA READ Response Last", [0x50] = "RD RDMA READ Response Only", [0x51] = "RD Acknowledge", [0x52] = "RD ATOMIC Acknowledge", [0x53] = "RD CmpSwap", [0x54] = "RD FetchAdd", [0x55] = "RD RESYNC", [0x5c] = "RD FLUSH", [0x64] = "UD SEND Only", [0x65] = "UD SEND Only with Immediate", [0x81] = "CNP", [0xa0] = "XRC SEND First", [0xa1] = "XRC SEND Middle", [0xa2] = "XRC SEND Last", [0xa3] = "XRC SEND Last with Immediate", [0xa4] = "XRC SEND Only", [0xa5] = "XRC SEND Only with Immediate", [0xa6] = "XRC RDMA WRITE First", [0xa7] = "XRC RDMA WRITE Middle", [0xa8] = "XRC RDMA WRITE Last", [0xa9] = "XRC RDMA WRITE Last with Immediate", [0xaa] = "XRC RDMA WRITE Only", [0xab] = "XRC RDMA WRITE Only with Immediate", [0xac] = "XRC RDMA READ Request", [0xad] = "XRC RDMA READ Response First", [0xae] = "XRC RDMA READ Response Middle", [0xaf] = "XRC RDMA READ Response Last", [0xb0] = "XRC RDMA READ Response Only", [0xb1] = "XRC Acknowledge", [0xb2] = "XRC ATOMIC Acknowledge", [0xb3] = "XRC CmpSwap", [0xb4] = "XRC FetchAdd", [0xb6] = "XRC SEND Last with Invalidate", [0xb7] = "XRC SEND Only with Invalidate", [0xe0] = "IRN SEND First", [0xe1] = "IRN SEND Middle", [0xe2] = "IRN SEND Last", [0xe3] = "IRN SEND Last with Immediate", [0xe4] = "IRN SEND Only", [0xe5] = "IRN SEND Only with Immediate", [0xe6] = "IRN RDMA WRITE First", [0xe7] = "IRN RDMA WRITE Middle", [0xe8] = "IRN RDMA WRITE Last", [0xe9] = "IRN RDMA WRITE Last with Immediate", [0xea] = "IRN RDMA WRITE Only", [0xeb] = "IRN RDMA WRITE Only with Immediate", [0xec] = "IRN RDMA READ Request", [0xed] = "IRN RDMA READ Response First", [0xee] = "IRN RDMA READ Response Middle", [0xef] = "IRN RDMA READ Response Last", [0xf0] = "IRN RDMA READ Response Only", [0xf1] = "IRN NACK", [0xf3] = "IRN CmpSwap", [0xf4] = "IRN FetchAdd", [0xf6] = "IRN SEND Last with Invalidate", [0xf7] = "IRN SEND Only with Invalidate", [0xf8] = "IRN READ Response ACK", [0xf9] = "IRN READ Response NACK", [0xfa] = "MP-RDMA ACK", [0xfb] = "MP-RDMA NACK", },
  ["rdma.mad.attributeid"] = { [0x10] = "REQ", [0x11] = "MRA", [0x12] = "REJ", [0x13] = "REP", [0x14] = "RTU", [0x15] = "DREQ", [0x16] = "DREP", [0x17] = "SIDR_REQ", [0x18] = "SIDR_REP", },
  ["rdma.req.pppmtu"] = { [1] = "256 bytes", [2] = "512 bytes", [3] = "1024 bytes", [4] = "2048 bytes", [5] = "4096 bytes", },
}

-- The way through the headers of a frame to the BTH. It does not rest on what
-- Wireshark's dissectors found: they go by the lower UDP port first, and a
-- source port of entropy may be anything, TFTP's for one. Offsets count from 0.

local ROCEV1, IPV4, IPV6, IB, IBGRH = 1, 2, 3, 4, 5
local CARRIER_NAMES = { "rocev1", "rocev2", "rocev2", "ib", "ib" }

-- at is where the packet of the frame at hand lies. One table serves all frames.
local at = {
  carrier = 0,
  start = 0,     -- where the ICRC's coverage begins
  bth = 0,       -- where the BTH is
  wire = 0,      -- bytes on the wire from the BTH up to and with the ICRC
  stop = 0,      -- where the captured part of it ends
  src = "", dst = "",
  sport = 0,     -- of UDP
  id = 0,        -- identification of IPv4
  marked = false -- congestion experienced
}

local ports = { [4791] = true } -- UDP destination ports that carry RoCEv2

local function u16(s, o)
  local a, b = byte(s, o + 1, o + 2)
  return a * 256 + b
end

local locate

do

local MAX_TUNNELS = 8

-- A step takes the state, the frame and the offset of its header, and returns
-- the next step, or nil where the way ends. state.stop bounds what was captured,
-- state.last what the innermost header claims of the wire.
local by_ethertype, by_protocol
local ip_any, ipv4, ipv6, ethernet, lrh

-- bound says where what follows ends on the wire.
local function bound(w, last)
  w.last = last
  if last < w.stop then w.stop = last end
end

local function enter(w, step, o)
  w.depth = w.depth + 1
  if step and w.depth <= MAX_TUNNELS then return step(w, o) end
end

local function found(w, carrier, start, o)
  if w.last - o < 12 then return nil end
  at.carrier, at.start, at.bth, at.wire, at.stop = carrier, start, o, w.last - o, w.stop
  return true
end

local function udp(w, o)
  if w.stop - o < 8 then return nil end
  local last, n = w.last, u16(w.s, o + 4)
  if n >= 8 then last = min(last, o + n) elseif n ~= 0 then return nil end
  if last < o + 8 then return nil end
  bound(w, last)
  local port = u16(w.s, o + 2)
  at.sport = u16(w.s, o)
  o = o + 8
  if ports[port] or port == w.claimed then return found(w, w.carrier, w.ip, o) end
  if port == 4789 or port == 8472 then -- VXLAN
    if w.stop - o < 8 or floor(byte(w.s, o + 1) / 8) % 2 == 0 then return nil end
    return enter(w, ethernet, o + 8)
  elseif port == 6081 then -- GENEVE
    if w.stop - o < 8 then return nil end
    local b = byte(w.s, o + 1)
    local len = 8 + b % 64 * 4
    if b >= 64 or w.stop - o < len then return nil end
    local kind = u16(w.s, o + 2)
    return enter(w, kind == 0x6558 and ethernet or by_ethertype[kind], o + len)
  end
end

ipv4 = function(w, o)
  local s = w.s
  if w.stop - o < 20 then return nil end
  local b, tos = byte(s, o + 1, o + 2)
  local len, total = b % 16 * 4, u16(s, o + 2)
  if floor(b / 16) ~= 4 or len < 20 or len > w.stop - o or total ~= 0 and total < len then return nil end
  if total ~= 0 then bound(w, o + total) end
  w.ip, w.carrier = o, IPV4
  at.src, at.dst = sub(s, o + 13, o + 16), sub(s, o + 17, o + 20)
  at.id, at.marked = u16(s, o + 4), tos % 4 == 3
  local step = by_protocol[byte(s, o + 10)]
  if step == nil or u16(s, o + 6) % 0x4000 ~= 0 then return nil end -- a fragment
  return step(w, o + len)
end

ipv6 = function(w, o)
  local s = w.s
  if w.stop - o < 40 or floor(byte(s, o + 1) / 16) ~= 6 then return nil end
  w.ip, w.carrier = o, IPV6
  at.src, at.dst = sub(s, o + 9, o + 24), sub(s, o + 25, o + 40)
  at.id, at.marked = 0, floor(byte(s, o + 2) / 16) % 4 == 3
  local n = u16(s, o + 4)
  if n ~= 0 then bound(w, o + 40 + n) end
  local step = by_protocol[byte(s, o + 7)]
  return step and step(w, o + 40)
end

ip_any = function(w, o)
  if w.stop - o < 1 then return nil end
  local version = floor(byte(w.s, o + 1) / 16)
  if version == 4 then return ipv4(w, o) elseif version == 6 then return ipv6(w, o) end
end

-- skip passes an extension header of n bytes.
local function skip(w, o, n)
  if n > w.stop - o then return nil end
  local step = by_protocol[byte(w.s, o + 1)]
  return step and step(w, o + n)
end

local function extension(w, o)
  if w.stop - o < 8 then return nil end
  return skip(w, o, 8 * (byte(w.s, o + 2) + 1))
end

local function authentication(w, o)
  if w.stop - o < 8 then return nil end
  return skip(w, o, 4 * (byte(w.s, o + 2) + 2))
end

local function fragment(w, o)
  if w.stop - o < 8 then return nil end
  local field = u16(w.s, o + 2)
  if field >= 8 or field % 2 ~= 0 then return nil end -- offset, or more to come
  return skip(w, o, 8)
end

local function gre(w, o)
  local s = w.s
  if w.stop - o < 4 then return nil end
  local flags, kind = u16(s, o), u16(s, o + 2)
  local has = function(bit) return floor(flags / bit) % 2 == 1 end
  if has(0x4000) or flags % 8 ~= 0 then return nil end -- routing, or another version
  local n = 4
  for _, bit in ipairs { 0x8000, 0x2000, 0x1000 } do -- checksum, key, sequence
    if has(bit) then n = n + 4 end
  end
  if w.stop - o < n then return nil end
  o = o + n
  if kind == 0x88be and has(0x1000) then -- ERSPAN II
    if w.stop - o < 8 or floor(byte(s, o + 1) / 16) ~= 1 then return nil end
    return enter(w, ethernet, o + 8)
  elseif kind == 0x22eb then -- ERSPAN III
    if w.stop - o < 12 or floor(byte(s, o + 1) / 16) ~= 2 then return nil end
    local frame, options = byte(s, o + 11, o + 12)
    n = options % 2 == 1 and 20 or 12
    if w.stop - o < n then return nil end
    frame = floor(frame / 4) % 32
    return enter(w, frame == 0 and ethernet or frame == 2 and ip_any or nil, o + n)
  elseif kind == 0x88be or kind == 0x6558 then -- ERSPAN I, or a whole frame
    return enter(w, ethernet, o)
  end
  return enter(w, by_ethertype[kind], o)
end

local function mpls(w, o)
  local s = w.s
  if w.stop - o < 4 then return nil end
  local last = byte(s, o + 3) % 2 == 1
  o = o + 4
  if not last then return enter(w, mpls, o) end
  local version = w.stop > o and floor(byte(s, o + 1) / 16) or 0
  if version == 4 or version == 6 then return enter(w, ip_any, o) end
  if w.stop - o >= 18 and version == 0 and by_ethertype[u16(s, o + 16)] then o = o + 4 end -- control word
  return enter(w, ethernet, o)
end

local function vlan(w, o)
  if w.stop - o < 4 then return nil end
  local step = by_ethertype[u16(w.s, o + 2)]
  return step and step(w, o + 4)
end

-- grh leads from a GRH to its BTH.
local function grh(w, o)
  local s = w.s
  if w.stop - o < 40 or floor(byte(s, o + 1) / 16) ~= 6 or byte(s, o + 7) ~= 0x1b then return nil end
  at.marked = floor(byte(s, o + 2) / 16) % 4 == 3
  return true
end

local function rocev1(w, o)
  if not grh(w, o) then return nil end
  bound(w, o + 40 + u16(w.s, o + 4))
  at.src, at.dst, at.id, at.sport = sub(w.s, o + 9, o + 24), sub(w.s, o + 25, o + 40), 0, 0
  return found(w, ROCEV1, o, o + 40)
end

lrh = function(w, o)
  local s = w.s
  if w.stop - o < 8 then return nil end
  local n = u16(s, o + 4) % 2048 * 4
  if n < 8 then return nil end
  bound(w, o + n)
  at.src, at.dst, at.id, at.sport, at.marked = sub(s, o + 7, o + 8), sub(s, o + 3, o + 4), 0, 0, false
  local after = byte(s, o + 2) % 4
  if after == 2 then return found(w, IB, o, o + 8) end
  if after == 3 and grh(w, o + 8) then return found(w, IBGRH, o + 8, o + 48) end
end

ethernet = function(w, o)
  if w.stop - o < 14 then return nil end
  local step = by_ethertype[u16(w.s, o + 12)]
  return step and step(w, o + 14)
end

by_ethertype = {
  [0x0800] = ipv4, [0x86dd] = ipv6, [0x8915] = rocev1, [0x8847] = mpls, [0x8848] = mpls,
  [0x8100] = vlan, [0x88a8] = vlan, [0x9100] = vlan, [0x9200] = vlan,
}
by_protocol = {
  [17] = udp, [47] = gre, [137] = mpls, [51] = authentication,
  [0] = extension, [43] = extension, [60] = extension, [44] = fragment,
  [4] = function(w, o) return enter(w, ipv4, o) end,
  [41] = function(w, o) return enter(w, ipv6, o) end,
}

-- The link layers. Lua is not told which one a frame has, so that each is tried
-- whose first bytes allow it.

local function cooked(w) -- Linux cooked capture v1
  if w.stop < 16 or u16(w.s, 0) > 4 then return nil end
  local step = by_ethertype[u16(w.s, 14)]
  return step and step(w, 16)
end

local function cooked2(w) -- and v2
  if w.stop < 20 or u16(w.s, 2) ~= 0 then return nil end
  local step = by_ethertype[u16(w.s, 0)]
  return step and step(w, 20)
end

local FAMILIES = { [2] = ipv4, [10] = ipv6, [24] = ipv6, [28] = ipv6, [30] = ipv6 }

local function loopback(w) -- BSD and OpenBSD
  if w.stop < 4 then return nil end
  local a, b, c, d = byte(w.s, 1, 4)
  local family = a + b == 0 and c * 256 + d or c + d == 0 and b * 256 + a or -1
  local step = FAMILIES[family]
  return step and step(w, 4)
end

local ERF = { [2] = ethernet, [11] = ethernet, [16] = ethernet, [20] = ethernet, [21] = lrh, [22] = ipv4, [23] = ipv6 }

local function erf(w) -- Endace ERF record
  local s = w.s
  if w.stop < 16 then return nil end
  local kind, o = byte(s, 9), 16
  local more = kind >= 128
  while more do
    if w.stop < o + 8 then return nil end
    more = byte(s, o + 1) >= 128
    o = o + 8
  end
  local step = ERF[kind % 128]
  if step == nil then return nil end
  if step == ethernet then o = o + 2 end
  if w.stop < o then return nil end
  bound(w, o + u16(s, 14))
  return step(w, o)
end

-- w is the state of the walk, one for all frames.
local w = {}

local function try(step, s, captured, wire, claimed)
  w.s, w.stop, w.last, w.depth, w.claimed = s, captured, wire, 0, claimed
  return step(w, 0)
end

-- locate finds the BTH of a frame and fills at. claimed is a UDP port that
-- carries RoCEv2 in this frame, as the user decided. s is all of the frame.
function locate(s, wire, claimed)
  local n = #s
  for _, step in ipairs { ethernet, cooked, cooked2, loopback, ip_any, erf } do
    if try(step, s, n, max(wire, n), claimed) then return true end
  end
  return false
end

end

-- What stands in a transport packet, and whether it is one at all: UDP port 4791
-- is no proof.

local IMPLAUSIBLE, MISFIT, PLAUSIBLE, PROVEN = 0, 1, 2, 3

local TCAETH, TCAETH_SHORT = 30, 27

-- fits reports whether a packet of this opcode can be n bytes long.
local function fits(op, form, pad, n)
  if form == nil then return n >= 16 end
  local left = n - 4 - form.len
  if op == CNP then return left == 0 end
  if form.payload then return left >= pad and left % 4 == 0 end
  left = left - pad
  return left == 0 or form.reports and (left == TCAETH or left == TCAETH_SHORT)
end

-- judge grades a packet by its BTH: b1 to b4 are the bytes 1, 4, 8 of the BTH
-- and its P_Key.
local function judge(op, b1, pkey, b4, qp, b8, n)
  local form = FORMS[op]
  if b1 % 16 ~= 0 or pkey == 0 or form == nil and op < 0xc0 then return IMPLAUSIBLE end
  local service = floor(op / 32)
  if (service <= 1 or service == 5 or service == 7) and (qp <= 1 or qp == 0xffffff) then return IMPLAUSIBLE end
  if fits(op, form, floor(b1 / 16) % 4, n) then return PLAUSIBLE end
  if form and b4 % 64 == 0 and b8 % 128 == 0 then return MISFIT end
  return IMPLAUSIBLE
end

local parts

do

local function truncated(name, have, of)
  return string.format("%s: truncated: %d of %d bytes", name, have, of)
end

local function count(n) return n == 1 and "1 byte" or n .. " bytes" end

-- parts takes a packet apart: bytes captured from the BTH on, and on the wire.
-- It returns the headers behind the BTH as { header, offset from the BTH, length },
-- the length of the payload or nil, and what is wrong or nil.
function parts(op, pad, captured, wire)
  local list = {}
  local form = FORMS[op]
  captured = min(captured, wire)
  if captured < 12 then return list, nil, truncated("BTH", max(captured, 0), 12) end
  local body = wire - 4
  if body < 12 then return list, nil, truncated("ICRC", wire - 12, 4) end
  if form == nil then return list, nil, string.format("BTH: unknown opcode: 0x%02x", op) end
  if op == CNP then pad = 0 end
  local have, o = min(body, captured), 12
  local add = function(h, n)
    if have - o < n then return truncated(h.name, max(have - o, 0), h.len) end
    list[#list + 1] = { h, o, n }
    o = o + n
  end
  local extra = form.reports and body - pad - form.len or 0
  for _, h in ipairs(form.headers) do
    local fault = add(h, h.len)
    if fault then return list, nil, fault end
    if h == HEADERS.aeth and (extra == TCAETH or extra == TCAETH_SHORT) then
      fault = add(HEADERS.tcaeth, extra)
      if fault then return list, nil, fault end
    end
  end
  local n = body - pad - o
  if n < 0 then
    return list, nil, string.format("BTH: wrong length: PadCnt is %d, with %s before the ICRC", pad, count(body - o))
  end
  if n > 0 and not form.payload then
    return list, nil, string.format("BTH: wrong length: %s behind the headers of %s", count(n), form.name)
  end
  return list, n, nil
end

end

local function u24(s, o)
  local a, b, c = byte(s, o + 1, o + 3)
  return (a * 256 + b) * 256 + c
end

local function u32(s, o)
  local a, b, c, d = byte(s, o + 1, o + 4)
  return ((a * 256 + b) * 256 + c) * 256 + d
end

-- less is the signed distance a - b of two PSNs.
local function less(a, b)
  local d = (a - b) % 0x1000000
  return d >= 0x800000 and d - 0x1000000 or d
end

-- report reads a T/C AETH: LastFinishedPSN, the segments that count as
-- { first, last }, and what is wrong or nil.
local function report(s, o)
  local n, last = u24(s, o), u24(s, o + 3)
  local segments, fault = {}, nil
  if n < 1 or n > 4 then fault = "T/C AETH: SegmentNum is not 1 to 4: " .. n end
  local before = 0
  for i = 1, min(max(n, 1) - 1, 3) do
    local first, final = u24(s, o + 6 * i), u24(s, o + 6 * i + 3)
    segments[i] = { first, final }
    local left, right = less(first, last), less(final, last)
    if not fault and (left <= before or right < left) then
      fault = string.format("T/C AETH: segments are not ordered and disjoint above LastFinishedPSN: Seg%d is %d..%d", i, first, final)
    end
    before = right
  end
  return last, segments, fault
end

-- missing is the PSN ranges between the segments of a report.
local function missing(last, segments)
  local gaps = {}
  for _, s in ipairs(segments) do
    local first = (last + 1) % 0x1000000
    if s[1] ~= first then gaps[#gaps + 1] = { first, (s[1] - 1) % 0x1000000 } end
    last = s[2]
  end
  return gaps
end

-- The ICRC. Lua takes its time over it, so that it is computed only where a
-- preference asks, or where nothing else tells whether a frame is RDMA.

local icrc

do

local crc_update -- crc, string, first and last place in it

do
  -- T[0][i] is what the byte i adds to the CRC; T[k][i] what it adds when k bytes
  -- follow it. Four bytes are taken at a time.
  local T = { [0] = {}, {}, {}, {} }
  -- Lua 5.3 and later have operators that older ones cannot even parse; those
  -- have a library, which the later ones lack.
  local native = load and load([[
    local T = ...
    local T0, T1, T2, T3 = T[0], T[1], T[2], T[3]
    local byte, unpack = string.byte, string.unpack
    for i = 0, 255 do
      local c = i
      for _ = 1, 8 do c = c & 1 == 1 and c >> 1 ~ 0xedb88320 or c >> 1 end
      T0[i] = c
    end
    for k = 1, 3 do
      for i = 0, 255 do T[k][i] = T0[T[k - 1][i] & 255] ~ T[k - 1][i] >> 8 end
    end
    return function(crc, s, i, j)
      for at = i, j - 3, 4 do
        local x = crc ~ unpack("<I4", s, at)
        crc = T3[x & 255] ~ T2[x >> 8 & 255] ~ T1[x >> 16 & 255] ~ T0[x >> 24]
        i = at + 4
      end
      for at = i, j do crc = T0[(crc ~ byte(s, at)) & 255] ~ crc >> 8 end
      return crc
    end]])
  if native then
    crc_update = native(T)
  else
    local T0, T1, T2, T3 = T[0], T[1], T[2], T[3]
    local bxor = (bit32 or bit).bxor -- of bit the result is signed
    for i = 0, 255 do
      local c = i
      for _ = 1, 8 do
        local odd = c % 2
        c = (c - odd) / 2
        if odd == 1 then c = bxor(c, 0xedb88320) % 0x100000000 end
      end
      T0[i] = c
    end
    for k = 1, 3 do
      for i = 0, 255 do
        local before = T[k - 1][i]
        T[k][i] = bxor(T0[before % 256], floor(before / 256)) % 0x100000000
      end
    end
    crc_update = function(crc, s, i, j)
      while i + 3 <= j do
        local a, b, c, d = byte(s, i, i + 3)
        local x = bxor(crc, a + b * 256 + c * 65536 + d * 16777216) % 0x100000000
        local x0 = x % 256
        x = (x - x0) / 256
        local x1 = x % 256
        x = (x - x1) / 256
        local x2 = x % 256
        crc = bxor(T3[x0], T2[x1], T1[x2], T0[(x - x2) / 256])
        i = i + 4
      end
      crc = crc % 0x100000000
      for at = i, j do
        local low = crc % 256
        crc = bxor(T0[bxor(low, byte(s, at)) % 256], (crc - low) / 256) % 0x100000000
      end
      return crc
    end
  end
end

local ONES = string.rep("\255", 8)

-- icrc computes the ICRC of the packet that at describes. s is the frame. It is
-- nil where the ICRC was not captured.
function icrc(s)
  local stop = at.bth + at.wire - 4
  if at.wire < 16 or #s < stop + 4 or at.stop < stop + 4 then return nil end
  local b = at.bth - at.start
  if b + 5 > 256 then return nil end
  local head = { byte(s, at.start + 1, at.bth + 5) }
  local crc = 0xffffffff
  local ones = function(...)
    for _, i in ipairs { ... } do head[i + 1] = 255 end
  end
  if at.carrier == IPV4 then
    ones(1, 8, 10, 11, b - 2, b - 1)
  elseif at.carrier == IB then
    head[1] = head[1] % 16 + 0xf0
  else
    head[1] = head[1] - head[1] % 16 + 15
    ones(1, 2, 3, 7)
    if at.carrier == IPV6 then ones(b - 2, b - 1) end
  end
  ones(b + 4)
  if at.carrier ~= IB then crc = crc_update(crc, ONES, 1, 8) end
  local chars = {}
  for i, v in ipairs(head) do chars[i] = string.char(v) end
  crc = crc_update(crc, table.concat(chars), 1, #chars)
  crc = 0xffffffff - crc_update(crc, s, at.bth + 6, stop)
  local c1, c2, c3, c4 = byte(s, stop + 1, stop + 4)
  return crc, c1 + c2 * 256 + c3 * 65536 + c4 * 16777216
end

end

-- Sets of whole numbers as sorted, disjoint spans { first, last }. They hold
-- what trouble leaves behind: a stream without loss has none.

local MAX_SPANS = 1024 -- the lowest span goes when there are more

-- span_from is the index of the first span that does not end before q.
local function span_from(set, q)
  local low, high = 1, #set + 1
  while low < high do
    local mid = floor((low + high) / 2)
    if set[mid][2] < q then low = mid + 1 else high = mid end
  end
  return low
end

local function set_has(set, q)
  if set[1] == nil then return false end
  local span = set[span_from(set, q)]
  return span ~= nil and span[1] <= q
end

local function set_insert(set, first, last)
  if first > last then return end
  local newest = set[#set]
  if newest and first >= newest[1] and first <= newest[2] + 1 then -- nearly always
    if last > newest[2] then newest[2] = last end
    return
  end
  local i = span_from(set, first - 1)
  local span = set[i]
  if span == nil or span[1] > last + 1 then
    table.insert(set, i, { first, last })
    if #set > MAX_SPANS then table.remove(set, 1) end
    return
  end
  if first < span[1] then span[1] = first end
  if last > span[2] then span[2] = last end
  local after = set[i + 1]
  while after and after[1] <= span[2] + 1 do
    if after[2] > span[2] then span[2] = after[2] end
    table.remove(set, i + 1)
    after = set[i + 1]
  end
end

-- set_remove returns how many numbers it took out.
local function set_remove(set, first, last)
  if set[1] == nil or set[1][1] > last then return 0 end
  local n, i = 0, span_from(set, first)
  local span = set[i]
  while span and span[1] <= last do
    local from, to = max(first, span[1]), min(last, span[2])
    n = n + to - from + 1
    if span[1] < from and span[2] > to then
      table.insert(set, i + 1, { to + 1, span[2] })
      span[2] = from - 1
      return n
    elseif span[1] < from then
      span[2] = from - 1
      i = i + 1
    elseif span[2] > to then
      span[1] = to + 1
    else
      table.remove(set, i)
    end
    span = set[i]
  end
  return n
end

-- set_within is the parts of first..last that are in the set.
local function set_within(set, first, last)
  local parts, i = {}, span_from(set, first)
  local span = set[i]
  while span and span[1] <= last do
    parts[#parts + 1] = { max(first, span[1]), min(last, span[2]) }
    i = i + 1
    span = set[i]
  end
  return parts
end

-- set_without is the parts of first..last that are not in the set.
local function set_without(set, first, last)
  local parts = {}
  for _, span in ipairs(set_within(set, first, last)) do
    if span[1] > first then parts[#parts + 1] = { first, span[1] - 1 } end
    first = span[2] + 1
  end
  if first <= last then parts[#parts + 1] = { first, last } end
  return parts
end

-- begins is where the first part of first..last ends that is in the set, or is not.
local function begins(set, first, last)
  local span = set[span_from(set, first)]
  if span == nil or span[1] > last then return last end
  return span[1] > first and span[1] - 1 or min(last, span[2])
end

local function set_overlap(set, first, last)
  if set[1] == nil then return 0 end
  local n = 0
  for _, span in ipairs(set_within(set, first, last)) do n = n + span[2] - span[1] + 1 end
  return n
end

-- What the analysis has to say of frames. It is found out on the first pass and
-- may change until that ends: a packet that looks late turns out to be the first
-- of a resend run by the one that follows it. Later passes read it.

local marks = {}    -- by frame number
local acked_by = {} -- frame of a request to the frame that acknowledged it
local acks_of = {}  -- frame of an acknowledgement to the frame whose PSN it carries
local rtts = {}     -- frame of an acknowledgement to the round trip that it ends, ns

local function mark(frame)
  local m = marks[frame]
  if m == nil then
    m = {}
    marks[frame] = m
  end
  return m
end

local function mark_gap(g)
  local m = mark(g.frame)
  m.gaps = m.gaps or {}
  m.gaps[#m.gaps + 1] = g
end

-- unmark_gap takes a gap off its frame. Most are among the last.
local function unmark_gap(g)
  local list = marks[g.frame].gaps
  for i = #list, 1, -1 do
    if list[i] == g then
      table.remove(list, i)
      return
    end
  end
end

-- The virtual paths of MP-RDMA: UDP source ports. A path keeps the order, and the
-- receiver answers each packet on the packet's own path.

local first_path, travelled, slowest_path, path_trip, answer

do

local MAX_PATHS = 256      -- that a stream is parted by
local MAX_UNANSWERED = 512 -- packets in flight that are remembered

-- push adds a packet to those that were not answered yet, in the order in which
-- they passed. The oldest goes when there are too many.
local function push(u, seq, sport)
  u.newest = u.newest + 1
  u[u.newest] = { seq = seq, sport = sport }
  if u.newest - u.oldest >= MAX_UNANSWERED then
    u[u.oldest] = nil
    u.oldest = u.oldest + 1
  end
end

-- answer takes out the first packet of a path that is one of from to last, and
-- those of the path before it, whose answers were lost or never given.
function answer(s, sport, from, last)
  local u = s.unanswered
  for i = u.oldest, u.newest do
    local one = u[i]
    if not one.done and one.sport == sport and one.seq >= from and one.seq <= last then
      for k = u.oldest, i do
        if u[k].sport == sport then u[k].done = true end
      end
      while u.oldest <= u.newest and u[u.oldest].done do
        u[u.oldest] = nil
        u.oldest = u.oldest + 1
      end
      return one.seq
    end
  end
end

-- first_path begins to tell paths apart: all packets so far took one, of which
-- the last is timed.
function first_path(s, last)
  s.paths = { [s.sport] = s.n > 0 and { probe = last, sent = s.last_time } or {} }
  s.n_paths = 1
end

local function path(s, sport)
  local one = s.paths[sport]
  if one == nil and s.n_paths < MAX_PATHS then
    one = {}
    s.paths[sport], s.n_paths = one, s.n_paths + 1
  end
  return one
end

-- travelled notes a packet on its path.
function travelled(s, p, seq)
  if s.paths == nil then
    if s.sport == p.sport then return end
    first_path(s, seq - 1)
    for before = max(s.first, seq - 64), seq - 1 do push(s.unanswered, before, s.sport) end
  end
  push(s.unanswered, seq, p.sport)
  local one = path(s, p.sport)
  if one == nil then return end
  if not p.retx then
    if one.sent == nil then one.probe, one.sent = seq, p.time end
    return
  end
  for _, other in pairs(s.paths) do
    if other.probe == seq then other.sent = nil end -- only what was sent once tells the time
  end
end

-- path_trip takes a round trip from the acknowledgement of a packet, if it is the
-- one that times its path.
function path_trip(s, seq, p)
  local one = path(s, p.sport)
  if one == nil or one.sent == nil or one.probe ~= seq then return end
  local span = p.time - one.sent
  if span > 0 and not p.echoes_retx then
    if one.rtt == nil or span < one.rtt then one.rtt = span end
    if s.rtt == 0 or span < s.rtt then s.rtt = span end
    rtts[p.frame] = span
  end
  one.sent = nil
end

-- slowest_path is the longest of the round trips of the paths.
function slowest_path(s)
  local rtt = 0
  for _, one in pairs(s.paths or {}) do rtt = max(rtt, one.rtt or 0) end
  return rtt
end

end

-- One PSN space of one half: its requests, or the READ responses that it
-- carries. The model is that of rdmadump loss: a sender puts runs on the wire.
-- The first run is new data; a NAK or a timer starts another, which repeats from
-- somewhere below the top and goes on into new data. A packet above the current
-- run passes over PSNs, which are then missing; one below it is late, or begins
-- a run. PSNs are unwrapped: they grow beyond 24 bits.

local FORWARD_REACH, FORWARD_STEP = 65536, 1024 -- the largest gap believed, and believed at once
local BACKWARD_REACH, COHERENT = 256, 64
local MAX_STRAGGLERS = 4   -- of an older run, in the way of a later one
local SHORTEST_TIMER = 1e5 -- ns; a shorter silence is only the pace of the packets
local SLOWEST_ANSWER = 256 -- round trips between a NAK and what answers it

local function new_stream(half, response)
  return {
    half = half, response = response,
    on = false,     -- the first packet was seen
    top = 0,        -- one past the highest PSN taken
    next = 0,       -- what continues the current run; top unless a resend is under way
    acked = 0,      -- one past the highest PSN acknowledged
    heard = false,  -- acked rests on an acknowledgement
    expect = -1,    -- the PSN that needs no look at all; -1 while everything does
    first = 0, epochs = 0, peak = 0, last_time = 0,
    again = 0, gaps = 0, missing = 0, resent = 0, late = 0, naks = 0, -- for the summary
    -- The packets of new data, in order: PSN, frame of the last copy, time and IP
    -- identification. head is the first one that is not acknowledged.
    seqs = {}, frames = {}, times = {}, ids = {}, n = 0, head = 1,
    asks_ack = {}, asked = 0, -- the last packets that asked for an acknowledgement
    rtt = 0,        -- the smallest round trip
    open = false,   -- a message has begun and not ended
    paths = nil,    -- by source port, once there is more than one or MP-RDMA is known
    unanswered = { oldest = 1, newest = 0 }, -- of these
    reads = {},     -- PSNs that READ requests took, as spans
    tail = nil,     -- the newest READ while its length is not known
    moved = nil,    -- a packet far from the window
    d = nil         -- what only trouble needs
  }
end

local function trouble(s)
  local d = s.d
  if d == nil then
    d = {
      gaps = {}, holes = {}, unseen = {}, named = {}, again = {}, refused = {}, refused_before = {},
      skipped = {}, tardy = {}, spoilt = {}, has = {}, lost_psns = {}, missed = {}, done = {},
      run = { id = 0, first = 0, before = 0, began = 0 },
      points = {}, recent = {}, asks = {}, answers = {}, repairs = {}, timer = 0, tail_from = 0, tail_to = 0,
      turned = {}, books = {}, n_books = 0, slots = 0 -- see turned_away
    }
    s.d = d
  end
  return d
end

-- reached notes that an acknowledgement went up to q; the last ones are kept.
local function reached(d, q)
  local recent = d.recent
  if recent[#recent] == q then return end
  recent[#recent + 1], d.points[q] = q, true
  if #recent > 32 then d.points[table.remove(recent, 1)] = nil end
end

local function unwrap(ref, psn)
  local d = (psn - ref) % 0x1000000
  if d >= 0x800000 then d = d - 0x1000000 end
  return ref + d
end

local function selects(s) return s.half.transport ~= "go-back-n" or s.d ~= nil and s.d.selective end

-- quiet returns to the short way once nothing is left to watch.
local function quiet(s)
  local d, h = s.d, s.half
  if s.next ~= s.top or s.moved or s.paths and not s.heard or s.tail or h.transport ~= "go-back-n" and not s.response or h.renew or
    d and (d.trial or d.broken or d.rnr or #d.answers > 0 or d.holes[1] or d.refused[1]) then
    s.expect = -1
  else
    s.expect = s.top % 0x1000000
  end
end

local function begin(s, p, psn)
  s.epochs = s.epochs + 1
  if not s.on then s.sport = p.sport end
  s.first = s.epochs * 0x100000000 + psn -- epochs share no number
  s.top, s.next, s.acked = s.first, s.first, s.first
  s.heard, s.on, s.expect = false, true, -1
  s.asks_ack, s.asked, s.tail, s.reads, s.open = {}, 0, nil, {}, false
  s.last_time = p.time
  s.head = s.n + 1
end

-- advance takes a packet that continues new data.
local function advance(s, p, n)
  local seq = s.top
  s.top = seq + n
  s.next = s.top
  if not s.response then travelled(s, p, seq) end
  s.last_time = p.time
  local k = s.n + 1
  s.n, s.seqs[k], s.frames[k], s.times[k], s.ids[k] = k, seq, p.frame, p.time, p.id
  s.open = not p.form.ends
  if p.ackreq then
    s.asks_ack[s.asked % 8 + 1] = { seq, p.time, true, p.frame }
    s.asked = s.asked + 1
  end
end

-- carried is the frame that carried a PSN last, and its place in the order of
-- new data; nil where none did. Every packet takes a PSN at least, so that it
-- stands where it would without gaps, or a few places behind that.
local function carried(s, seq)
  local seqs, n = s.seqs, s.n
  local low, high = max(1, n - (s.top - seq) + 1), n + 1
  if low > n then return nil end
  if seqs[low] == seq then return s.frames[low], low end
  while low < high do
    local mid = floor((low + high) / 2)
    if seqs[mid] < seq then low = mid + 1 else high = mid end
  end
  if seqs[low] == seq then return s.frames[low], low end
end

-- Gaps. g.first and g.last are what was missing when it opened, or what is left
-- of that once late packets were taken out.

local gap_at, miss, cut, fill, lose, name_lost

do

local MAX_GAPS = 1024 -- open at a time, in one stream
local MAX_AGAIN = 16  -- up to how many lost copies are told apart by PSN

function gap_at(d, q)
  local gaps, low, high = d.gaps, 1, #d.gaps + 1
  while low < high do
    local mid = floor((low + high) / 2)
    if gaps[mid].last < q then low = mid + 1 else high = mid end
  end
  return low, gaps[low] ~= nil and gaps[low].first <= q
end

local function tell_gap(s, g)
  mark_gap(g)
  s.gaps = s.gaps + 1
  s.missing = s.missing + g.last - g.first + 1
end

-- lose notes PSNs of which the network lost a copy.
function lose(d, parts)
  for _, part in ipairs(parts) do set_insert(d.lost_psns, part[1], part[2]) end
end

-- name_lost notes that feedback named first..last, whose copies are thereby lost.
function name_lost(d, first, last)
  lose(d, set_without(d.named, first, last))
  set_insert(d.named, first, last)
end

-- miss_again notes that copies of PSNs in a gap were lost that stands already.
-- g.again[1] is the PSNs of which a second copy was lost, then those of a third.
local function miss_again(g, first, last)
  g.again = g.again or {}
  local parts = { { first, last } }
  for k = 1, MAX_AGAIN do
    if parts[1] == nil then return end
    local set, more = g.again[k] or {}, {}
    g.again[k] = set
    for _, part in ipairs(parts) do
      for _, twice in ipairs(set_within(set, part[1], part[2])) do more[#more + 1] = twice end
      set_insert(set, part[1], part[2])
    end
    parts = more
  end
end

-- miss marks first..last as missing: a gap of its own where none is, one copy
-- more where a gap stands open or was filled.
function miss(s, first, last, kind, frame, suspect)
  local d = trouble(s)
  while first <= last do
    local i, inside = gap_at(d, first)
    local part = last
    if inside then
      local g = d.gaps[i]
      part = begins(d.holes, first, min(part, g.last))
      g.suspect = g.suspect and suspect
      if g.run ~= d.run.id or first > g.up_to or not set_has(d.holes, first) then
        if not suspect then
          miss_again(g, first, part)
          local holes = set_within(d.holes, first, part)
          lose(d, holes)
          for _, again in ipairs(holes) do set_insert(d.again, again[1], again[2]) end
          local m = mark(frame)
          m.again = m.again or {}
          m.again[#m.again + 1] = { first, part }
        end
        g.up_to = part
      end
      g.run, g.closed = d.run.id, nil
      set_insert(d.holes, first, part)
    else
      if d.gaps[i] then part = min(part, d.gaps[i].first - 1) end
      local g = { first = first, last = part, kind = kind, frame = frame, run = d.run.id, up_to = part, suspect = suspect }
      table.insert(d.gaps, i, g)
      set_insert(d.holes, first, part)
      tell_gap(s, g)
      if #d.gaps > MAX_GAPS then table.remove(d.gaps, 1) end
    end
    first = part + 1
  end
end

-- piece is a part of a gap as a gap of its own.
local function piece(g, first, last)
  local part = {}
  for k, v in pairs(g) do part[k] = v end
  part.first, part.last, part.again = first, last, nil
  for k, set in ipairs(g.again or {}) do
    local within = set_within(set, first, last)
    if within[1] == nil then break end
    part.again = part.again or {}
    part.again[k] = within
  end
  return part
end

-- cut puts parts of a gap in its place, in a list of gaps. It returns them.
function cut(s, gaps, i, parts)
  local g, rest = gaps[i], {}
  for _, part in ipairs(parts) do
    if part[1] <= part[2] then rest[#rest + 1] = piece(g, part[1], part[2]) end
  end
  table.remove(gaps, i)
  s.gaps, s.missing = s.gaps - 1, s.missing - (g.last - g.first + 1)
  unmark_gap(g)
  for k, part in ipairs(rest) do
    table.insert(gaps, i + k - 1, part)
    tell_gap(s, part)
  end
  return rest
end

-- fill puts a copy that was sent again into its place. A READ request fills all
-- the PSNs that it takes, and was lost once.
function fill(s, first, last, p, read)
  local d = s.d
  for k, part in ipairs(set_within(d.holes, first, last)) do
    lose(d, set_without(d.named, part[1], read and part[1] or part[2]))
    set_remove(d.holes, part[1], part[2])
    set_remove(d.unseen, part[1], part[2])
    set_remove(d.named, part[1], part[2])
    set_remove(d.again, part[1], part[2])
    local i, inside = gap_at(d, part[1])
    if inside then
      local g = d.gaps[i]
      g.suspect = nil
      if read and part[2] > part[1] and part[1] >= g.first and part[2] == g.last and k == 1 then
        s.missing = s.missing - (g.last - part[1])
        g.last = part[1]
      end
      if set_overlap(d.holes, g.first, g.last) == 0 then
        g.closed, g.closed_frame = "retransmitted", p.frame
      end
    end
  end
end

end

-- What was taken for lost and was late.

local late, was_late, arrived_after_all, came_behind

do

local RECALL_REACH = 4096 -- how many of the newest gap records may be taken back
local REPLACED_REACH = 128 -- and how many are searched for a copy that came after its resend

-- sides is what stands on either side of a part of a gap.
local function sides(g, first, last) return { { g.first, first - 1 }, { last + 1, g.last } } end

-- take_back says that the newest copies of first..last, taken for lost, came
-- after all.
local function take_back(g, first, last)
  local again = g.again
  for k = #again, 1, -1 do
    if set_remove(again[k], first, last) > 0 then break end
  end
  while again[1] and again[#again][1] == nil do again[#again] = nil end
end

-- late_of takes a part of the i-th gap for late.
local function late_of(s, i, first, last)
  local d = s.d
  local n = set_remove(d.named, first, last)
  for _, set in ipairs(d.gaps[i].again or {}) do n = n + set_remove(set, first, last) end
  if n > 0 then set_remove(d.lost_psns, first, last) end
  set_remove(d.again, first, last)
  set_remove(d.holes, first, last)
  set_remove(d.unseen, first, last)
  cut(s, d.gaps, i, sides(d.gaps[i], first, last))
end

-- late_again takes a copy that came late for one of several that a gap lost.
local function late_again(s, g, first, last, frame)
  local d = s.d
  if g.again then take_back(g, first, last) end
  for _, set in ipairs { d.again, d.named, d.unseen, d.holes } do set_remove(set, first, last) end
  if set_overlap(d.holes, g.first, g.last) == 0 then g.closed, g.closed_frame = "retransmitted", frame end
end

-- late takes holes out of their gaps: what came was late, not lost. Where an
-- earlier copy was lost too the gap stands, and lost one copy less.
function late(s, first, last, frame)
  local d = s.d
  while first <= last do
    local i, inside = gap_at(d, first)
    if not inside then return end
    local g = d.gaps[i]
    local again = g.again and g.again[1] or {}
    local part = begins(d.named, first, begins(again, first, begins(d.lost_psns, first, min(last, g.last))))
    if set_has(again, first) or set_has(d.lost_psns, first) and not set_has(d.named, first) then
      late_again(s, g, first, part, frame)
    else
      late_of(s, i, first, part)
    end
    first = part + 1
  end
end

-- recall takes first..last out of gaps that are over already and closed like that.
local function recall(s, first, last, closed)
  local done = s.d.done
  for i = #done, max(1, #done - RECALL_REACH + 1), -1 do
    local g = done[i]
    local from, to = max(first, g.first), min(last, g.last)
    if from <= to and g.closed == closed then cut(s, done, i, sides(g, from, to)) end
  end
end

-- recall_copy takes back one of several copies that a gap lost which is over.
local function recall_copy(d, first, last)
  for i = #d.done, max(1, #d.done - RECALL_REACH + 1), -1 do
    local g = d.done[i]
    if g.closed == "retransmitted" and g.again and g.again[1] and set_has(g.again[1], first) then
      take_back(g, first, last)
      return true
    end
  end
  return false
end

-- was_late takes back that copies of first..last were lost.
function was_late(s, first, last)
  local d = s.d
  while first <= last do
    local part, i, inside = last, gap_at(d, first)
    local g = d.gaps[i]
    if not inside then
      if g then part = min(part, g.first - 1) end
      if not recall_copy(d, first, part) then
        set_remove(d.lost_psns, first, part)
        recall(s, first, part, "retransmitted")
      end
    else
      local again = g.again and g.again[1] or {}
      part = begins(again, first, min(part, g.last))
      if set_has(again, first) then
        take_back(g, first, part)
      else
        set_remove(d.lost_psns, first, part)
        late_of(s, i, first, part)
      end
    end
    first = part + 1
  end
end

-- arrived_after_all takes back that the capture missed first..last: it was only
-- late, even behind its acknowledgement.
function arrived_after_all(s, first, last)
  local d = s.d
  for _, part in ipairs(set_within(d.missed, first, last)) do recall(s, part[1], part[2], "not captured") end
  set_remove(d.missed, first, last)
end

-- came_behind takes back that a copy of q was lost, where a later one came before
-- it. It reports whether there is a gap that says so.
function came_behind(s, q)
  local d, others = s.d, 0
  local found, list, index
  local see = function(gaps, i)
    local g = gaps[i]
    if g.first > q or g.last < q then
      return
    elseif g.closed == "retransmitted" and g.kind == "observed" and found == nil then
      found, list, index = g, gaps, i
    else
      others = others + 1
    end
  end
  local i, inside = gap_at(d, q)
  if inside then see(d.gaps, i) end
  for k = #d.done, max(1, #d.done - REPLACED_REACH + 1), -1 do see(d.done, k) end
  if found == nil then return false end
  if found.again and found.again[1] and set_has(found.again[1], q) then
    take_back(found, q, q)
    return true
  end
  if others == 0 then set_remove(d.lost_psns, q, q) end
  if list == d.gaps then late_of(s, index, q, q) else cut(s, list, index, sides(found, q, q)) end
  return true
end

end

-- The last word on a gap.

local retire

do

local MAX_DONE = 8192 -- gaps that are over, and may be taken back

-- delivered says what became of a part of a gap that nothing filled, though the
-- receiver has it: it was named and repeated, or no copy that it can have taken
-- passed here, or one that passed did.
local function delivered(d, g)
  local first, last = g.first, g.last
  local named, damaged = set_overlap(d.named, first, last) > 0, g.kind == "icrc"
  g.closed = "retransmitted"
  if damaged or set_overlap(d.unseen, first, last) > 0 or set_overlap(d.refused, first, last) > 0 then
    g.closed = "not captured"
    if not named or damaged and g.confirmed == nil then
      local n = set_remove(d.named, first, last)
      for _, set in ipairs(g.again or {}) do n = n + set_remove(set, first, last) end
      if n > 0 then set_remove(d.lost_psns, first, last) end
      set_insert(d.missed, first, last)
      return
    end
  end
  lose(d, set_without(d.named, first, last))
end

-- parted is spans, cut where the set begins and ends.
local function parted(set, spans)
  local parts = {}
  for _, span in ipairs(spans) do
    local first = span[1]
    while first <= span[2] do
      local last = begins(set, first, span[2])
      parts[#parts + 1] = { first, last }
      first = last + 1
    end
  end
  return parts
end

-- conclude ends the first gap, in parts where not all of it ended alike.
local function conclude(s)
  local d = s.d
  local g = d.gaps[1]
  local parts = { { g.first, g.last } }
  for _, set in ipairs { d.holes, d.named, d.unseen, d.refused } do
    if set_overlap(d.holes, g.first, g.last) > 0 then parts = parted(set, parts) end
  end
  local pieces = { g }
  if parts[2] then pieces = cut(s, d.gaps, 1, parts) end
  for _, piece in ipairs(pieces) do
    table.remove(d.gaps, 1)
    if set_has(d.holes, piece.first) then
      delivered(d, piece)
    else
      piece.closed = piece.closed or "retransmitted"
    end
    d.done[#d.done + 1] = piece
  end
  for _, set in ipairs { d.holes, d.unseen, d.named } do set_remove(set, g.first, g.last) end
  if #d.done > MAX_DONE then
    local newest = {}
    for k = #d.done - MAX_DONE / 2 + 1, #d.done do newest[#newest + 1] = d.done[k] end
    d.done = newest
  end
end

-- retire takes leave of what lies before q, which was acknowledged.
function retire(s, q)
  local d = s.d
  while d.gaps[1] and d.gaps[1].last < q do
    local g = d.gaps[1]
    if g.suspect and set_overlap(d.holes, g.first, g.last) > 0 and set_overlap(d.unseen, g.first, g.last) == 0 then
      d.selective = true -- nobody missed what the run left out: it was not sent
      cut(s, d.gaps, 1, {})
    else
      conclude(s)
    end
  end
  local below = q - 0x10000000000
  set_remove(d.refused, below, q - 1)
  set_remove(d.tardy, below, q - 1)
  if d.gaps[1] then q = min(q, d.gaps[1].first) end
  set_remove(d.holes, below, q - 1)
  set_remove(d.unseen, below, q - 1)
  set_remove(d.named, below, q - 1)
  set_remove(d.again, below, q - 1)
end

end

-- READs. A request takes as many PSNs as its response has packets, which depends
-- on the path MTU: that of connection management, of First and Middle packets,
-- or one that makes the next request fit. A half keeps the set of those possible.

local MTUS = { 256, 512, 1024, 2048, 4096 }

local function packets_of(size, mtu) return max(1, floor((size + mtu - 1) / mtu)) end

-- read_length is the PSNs that a READ takes where all MTUs left agree.
local function read_length(h, size)
  local n
  for _, mtu in ipairs(h.mtus) do
    local k = packets_of(size, mtu)
    if n and n ~= k then return nil end
    n = k
  end
  return n
end

local function set_mtus(h, list)
  for _, side in ipairs { h, h.partner } do
    side.mtus = list
    side.mtu = list[2] == nil and list[1] or nil -- the one that is left
  end
end

local function fitting(h, size, k)
  local list = {}
  for _, mtu in ipairs(h.mtus) do
    if packets_of(size, mtu) == k then list[#list + 1] = mtu end
  end
  return list
end

local function most_of(tail)
  if tail.size == nil then return FORWARD_REACH end
  return min(packets_of(tail.size, 256), 0x400000)
end

-- end_tail ends the newest READ before q.
local function end_tail(s, q)
  local tail = s.tail
  s.tail = nil
  if q > tail.seq then
    local read = s.reads[#s.reads]
    if read and read[1] == tail.seq then read[2] = q - 1 end
    if s.next == s.top then s.next = max(s.top, q) end
    s.top = max(s.top, q)
  end
  quiet(s)
end

-- settle_tail decides how long the newest READ is from where the next request
-- begins.
local function settle_tail(s, q)
  local tail = s.tail
  if tail == nil then return end
  local k = q - tail.seq
  if tail.size == nil then return end_tail(s, q) end
  local list = fitting(s.half, tail.size, k)
  if list[1] then
    set_mtus(s.half, list)
    return end_tail(s, q)
  end
  local widest = s.half.mtus[#s.half.mtus]
  end_tail(s, tail.seq + min(packets_of(tail.size, widest), k))
end

local function settle_tails(h)
  for _, side in ipairs { h, h.partner } do
    local tail = side.req.tail
    if tail and tail.size then
      local n = read_length(side, tail.size)
      if n then end_tail(side.req, tail.seq + n) end
    end
  end
end

-- learn_mtu takes the path MTU from the payload of a First or Middle packet.
local function learn_mtu(h, p)
  if p.form.ends or h.mtu == p.payload then return end
  for _, mtu in ipairs(MTUS) do
    if mtu == p.payload then
      set_mtus(h, { mtu })
      settle_tails(h)
    end
  end
end

local function read_at(s, seq)
  for i = #s.reads, 1, -1 do
    local read = s.reads[i]
    if read[1] <= seq and seq <= read[2] then return read end
  end
end

local function requests_of(s)
  local partner = s.half.partner
  return partner and partner.req.on and partner.req or nil
end

local function responses_of(s)
  local partner = s.half.partner
  return partner and partner.resp or nil
end

-- sent is the parts below the top that packets begin in: all, but for the inside
-- of READs. Responses follow from each other within one READ only.
local function sent(s, first, last)
  local parts = {}
  if first > last then return parts end
  if s.response then
    local req = requests_of(s)
    local read = req and read_at(req, unwrap(req.top, (last + 1) % 0x1000000))
    if read then
      first = max(first, unwrap(s.top, read[1] % 0x1000000))
      if first <= last then parts[1] = { first, last } end
    end
    return parts
  end
  for _, read in ipairs(s.reads) do
    local from, to = max(read[1] + 1, first), min(read[2], last)
    if from <= to then
      if first < from then parts[#parts + 1] = { first, from - 1 } end
      first = to + 1
    end
  end
  if first <= last then parts[#parts + 1] = { first, last } end
  return parts
end

-- expected is the parts above the top that packets must come in: all of it for
-- requests, for responses what READs asked for.
local function expected(s, first, last)
  if first > last then return {} end
  if not s.response or s.half.transport == "irn" then return { { first, last } } end
  local req = requests_of(s)
  if req == nil then return s.open and { { first, last } } or {} end
  local parts = {}
  for _, read in ipairs(req.reads) do
    local from = unwrap(first, read[1] % 0x1000000)
    local a, b = max(first, from), min(last, from + read[2] - read[1])
    if a <= b then parts[#parts + 1] = { a, b } end
  end
  return parts
end

-- What a run passes over, and what the receiver refuses behind it.

-- pass_over marks what a run should have carried and did not. suspect says that
-- it may not have been sent at all.
local function pass_over(s, first, last, frame, suspect)
  if first > last then return end
  local d = trouble(s)
  for _, part in ipairs(sent(s, first, min(last, s.top - 1))) do
    local from, to = part[1], part[2]
    if from < s.acked then
      local known = min(to, s.acked - 1)
      if not suspect and not selects(s) then set_insert(d.skipped, from, known) end
      from = known + 1
    end
    if not selects(s) then
      miss(s, from, to, "observed", frame, suspect)
    else
      for _, hole in ipairs(set_within(d.holes, from, to)) do miss(s, hole[1], hole[2], "observed", frame, suspect) end
    end
  end
  for _, part in ipairs(expected(s, max(first, s.top), last)) do
    set_insert(d.unseen, part[1], part[2])
    for _, bad in ipairs(set_within(d.spoilt, part[1], part[2])) do
      set_remove(d.unseen, bad[1], bad[2])
      miss(s, bad[1], bad[2], "icrc", frame)
      name_lost(d, bad[1], bad[2])
    end
    for _, clean in ipairs(set_without(d.spoilt, part[1], part[2])) do miss(s, clean[1], clean[2], "observed", frame) end
  end
  set_remove(d.spoilt, first, last + 1)
  if s.heard and s.acked > first then retire(s, s.acked) end
end

local accept

do

-- floor_of is the PSN that the receiver waits for, as far as a hole shows it.
local function floor_of(s)
  local d, low, acked = s.d, math.huge, s.acked
  local span = d.holes[1] and d.holes[span_from(d.holes, acked)]
  if span then low = max(span[1], acked) end
  span = d.refused[1] and d.refused[span_from(d.refused, acked)]
  if span then low = min(low, max(span[1], acked)) end
  if d.rnr and d.rnr < low then low = d.rnr end
  return low
end

-- accept notes whether the receiver can have taken the copy that just passed:
-- under go-back-N it refuses what comes behind a hole.
function accept(s, first, last)
  local d = s.d
  if d == nil or selects(s) or s.response then return end
  if floor_of(s) < first then set_insert(d.refused, first, last) else set_remove(d.refused, first, last) end
end

end

-- The IP identification tells the order of sending where the sender counts its
-- packets with it: it is believed once it counted on while the PSN went back.

local number, ordered, sent_rest, sent_less, sent_up_to

do

local MAX_ID_STEP = 4096 -- packets sent to others in between, or lost
local STEPS_OF_JUMP = 8  -- times that it must count on for each jump

-- take_number notes the identification of the packet that passes, and returns its
-- place in the order of sending, and whether it came in order or was overtaken.
local function take_number(n, id)
  if n.newest == nil then
    n.newest, n.at = id, 65536
    return
  end
  local step = (id - n.newest) % 65536
  if step >= 32768 then step = step - 65536 end
  local at = n.at + step
  if step > 0 and step <= MAX_ID_STEP then
    set_insert(n.skipped, n.at + 1, at - 1)
    n.at, n.newest, n.steps = at, id, n.steps + 1
    return at, "in order"
  elseif step < 0 and step >= -MAX_ID_STEP then
    if set_remove(n.skipped, at, at) > 0 then return at, "overtaken" end
  elseif step ~= 0 then
    n.at, n.newest, n.skipped, n.jumps = n.at + 65536, id, {}, n.jumps + 1
  end
end

-- number gives a packet its place, from the first trouble of its stream on. New
-- data that passed since without a look counts too.
function number(s, p)
  p.place, p.order = nil, nil
  local d = s.d
  if d == nil then return end
  local n = d.numbers
  if n == nil then
    n = { skipped = {}, steps = 0, jumps = 0, taken = max(0, s.n - 2) }
    d.numbers, d.sent_last = n, 0
  end
  for k = n.taken + 1, s.n do
    local place, order = take_number(n, s.ids[k])
    if order == "in order" then d.sent_last = place end
  end
  n.taken = s.n
  p.place, p.order = take_number(n, p.id)
end

function ordered(s, p)
  local n = s.d and s.d.numbers
  if n == nil or not n.counts or n.steps <= STEPS_OF_JUMP * n.jumps or s.response or
    s.half.transport ~= "go-back-n" or s.half.service == "UC" then return nil end
  return p.order
end

-- sent_rest reports whether all that the run had yet to carry before seq was sent,
-- and nothing else had the sender begin there.
function sent_rest(s, p, seq, idle)
  if ordered(s, p) ~= "in order" or p.place - s.d.sent_last - 1 ~= seq - s.next then return false end
  for _, k in ipairs(s.d.asks) do
    if k.seq == seq then return false end
  end
  return not idle
end

-- sent_less reports whether the run broke off before it had carried all of that.
function sent_less(s, p, seq)
  if ordered(s, p) ~= "in order" then return false end
  local n, partner = p.place - s.d.sent_last - 1, s.half.partner
  local reads = s.reads[1] ~= nil or partner == nil or partner.resp ~= nil
  return n < seq - s.next and (n == 0 or not reads)
end

function sent_up_to(s, p)
  if p.order == "in order" and s.d then s.d.sent_last = p.place end
end

end

-- Runs: which packets are sent again, and why.

local function last_activity(s)
  local partner = s.half.partner
  return partner and max(s.last_time, partner.feedback_time) or s.last_time
end

local function timer_of(s) return s.half.timer > 0 and s.half.timer or s.d and s.d.timer or 0 end

-- too_late reports whether a resend comes too late to answer a NAK.
local function too_late(s, silence)
  local timer = timer_of(s)
  return timer > 0 and silence >= timer * 3 / 4 or s.rtt > 0 and silence > SLOWEST_ANSWER * s.rtt
end

-- waited is how long before now the last copy of seq passed, as far as known.
local function waited(s, seq, now, silence)
  local wait = silence
  for _, m in ipairs(s.asks_ack) do
    if m[1] <= seq then wait = max(silence, now - m[2]) end
  end
  return wait
end

local function timed_out(s, seq, now, silence)
  local d, wait = s.d, waited(s, seq, now, silence)
  if wait <= 0 then return false end
  if s.half.timer > 0 then return wait >= s.half.timer * 3 / 4 end
  local idle = silence * 2 >= wait and silence > max(4 * s.rtt, SHORTEST_TIMER)
  if idle and (d.timer == 0 or silence < d.timer) then d.timer = silence end
  return idle or d.timer > 0 and wait >= d.timer * 3 / 4
end

-- What the receiver asks for: to resend from seq on.

local function ask(d, seq, time, cause, frame)
  local asks = d.asks
  if asks[#asks] and asks[#asks].seq == seq then table.remove(asks) end
  if #asks == 4 then table.remove(asks, 1) end
  asks[#asks + 1] = { seq = seq, time = time, cause = cause, frame = frame }
end

-- answering is the index of what a run from seq on answers: the highest below it.
local function answering(d, seq)
  local best
  for i, k in ipairs(d.asks) do
    if k.seq <= seq and (best == nil or k.seq >= d.asks[best].seq) then best = i end
  end
  return best
end

local function tell_resend(s, frame, seq, cause, again)
  local m = mark(frame)
  if m.cause == nil then s.resent = s.resent + 1 end
  if m.late then
    m.late = nil
    s.late = s.late - 1
  end
  m.cause = cause or "early"
  local first, i = carried(s, seq)
  if first ~= frame then m.of = first end
  local d = s.d
  if d.run.asked then
    m.nak_frame, m.nak_time = d.run.asked.frame, d.run.asked.time
    m.reaction = d.run.reaction
    d.run.asked = nil -- the first packet of the run alone
  end
  if i and again then s.frames[i] = frame end -- what an acknowledgement is for from now on
end

local function tell_late(s, frame)
  local m = mark(frame)
  if m.late then return end
  if m.cause then
    m.cause, m.of, m.reaction, m.nak_frame = nil, nil, nil, nil
    s.resent = s.resent - 1
  end
  m.late = true
  s.late = s.late + 1
end

-- repeats marks a late packet as one that was sent again, too.
local function repeats(s, frame, seq, cause)
  local m = mark(frame)
  m.cause, m.of = cause or "early", carried(s, seq)
  s.resent = s.resent + 1
end

local follow, pair_by_resend

-- Requests that no acknowledgement answers in place of their own answer.
local AWAITS = { read = true, atomic = true, flush = true, ["atomic write"] = true }

-- new_run begins a resend whose first packet seen is seq, after a silence.
local function new_run(s, seq, frame, time, silence)
  local d = trouble(s)
  pair_by_resend(s, seq)
  local resume, cause, k = seq, "early", answering(d, seq)
  if k and not too_late(s, silence) then
    local from = d.asks[k]
    for _ = 1, k do table.remove(d.asks, 1) end
    k = from
  else
    if k then for _ = 1, k do table.remove(d.asks, 1) end end
    k = nil
  end
  if d.rnr and seq >= d.rnr and (k == nil or k.seq <= d.rnr) then
    cause, resume, k = "rnr", d.rnr, nil
    d.rnr = nil
  elseif k then
    cause, resume = k.cause, k.seq
  elseif s.implied then
    cause = "implied-nak"
  else
    if timed_out(s, seq, time, silence) then cause = "timeout" end
    if s.heard and not s.response and not selects(s) then resume = min(seq, s.acked) end
  end
  for _, old in ipairs(d.answers) do
    if resume <= old.first and cause ~= "timeout" or old.order == "overtaken" and d.numbers.counts then
      -- This run carries it again: it was late and no answer.
      for _, packet in ipairs(old.packets) do
        tell_late(s, packet.frame)
        was_late(s, packet.first, packet.last)
        set_insert(d.tardy, packet.first, packet.last)
      end
    elseif old.named then
      set_remove(d.refused, old.named, old.named)
      miss(s, old.named, old.named, "observed", old.named_frame)
    end
  end
  d.answers, d.skipped, d.refused_before = {}, {}, {}
  for _, span in ipairs(d.refused) do set_insert(d.refused_before, span[1], span[2]) end
  d.prior = d.run
  d.run = { id = d.run.id + 1, cause = cause, began = time, first = resume, before = s.next, start = seq, after = d.sent_last or 0,
    asked = k, reaction = k and time - k.time }
  s.next = seq
  for _, m in ipairs(s.asks_ack) do
    if m[1] >= seq then m[3] = false end
    if m[1] == seq then m[2] = time end
  end
end

-- A trial is packets that filled holes behind the current run, while it is open
-- whether they were late or are the first of a resend run.

local function trial_add(s, p, first, last)
  local t = s.d.trial
  set_insert(t.set, first, last)
  t.next = max(t.next, last + 1)
  if t.packets[1] == nil then t.order = p.order elseif t.order ~= p.order then t.order = nil end
  t.packets[#t.packets + 1] = { first = first, last = last, frame = p.frame, read = p.form.verb == "read" }
  s.again = s.again + 1
  s.last_time = p.time
  if t.named then tell_resend(s, p.frame, first, "nak") else tell_late(s, p.frame) end
end

-- confirm turns the trial into a run.
local function confirm(s, frame)
  local d, t = s.d, s.d.trial
  d.trial = nil
  new_run(s, t.set[1][1], t.frame, t.time, t.silence)
  local at = d.run.first
  if not t.early then
    for _, span in ipairs(t.set) do
      if at < span[1] then pass_over(s, at, span[1] - 1, frame) end
      at = span[2] + 1
    end
  end
  for _, packet in ipairs(t.packets) do
    if not t.early then
      fill(s, packet.first, packet.last, packet, packet.read)
      accept(s, packet.first, packet.last)
    end
    tell_resend(s, packet.frame, packet.first, d.run.cause, true)
  end
  s.next = t.next
end

-- straggle takes the packets of a trial for late ones. Those that a resend run
-- passed over are copies of that run, and so retransmissions too.
local function straggle(s, t)
  local d = s.d
  for _, packet in ipairs(t.packets) do
    local first, last = packet.first, packet.last
    local repeated = set_overlap(d.unseen, first, last) == 0 or set_has(d.again, first)
    late(s, first, last, packet.frame)
    tell_late(s, packet.frame)
    if repeated then repeats(s, packet.frame, first, d.run.cause) end
    accept(s, first, last)
    set_insert(d.tardy, first, last)
  end
end

-- skip_ahead decides that a packet ahead of the run belongs to it.
local function skip_ahead(s)
  local d, t = s.d, s.d.trial
  d.trial = nil
  local packet = t.packets[1]
  pass_over(s, s.next, packet.first - 1, packet.frame)
  fill(s, packet.first, packet.last, packet)
  accept(s, packet.first, packet.last)
  s.next = packet.last + 1
  tell_resend(s, packet.frame, packet.first, d.run.cause, true)
end

-- refute ends a trial without a run: what came was late, or answers a NAK alone.
local function refute(s)
  local d = s.d
  local t = d and d.trial
  if not t then return end
  if t.ahead then return skip_ahead(s) end
  d.trial = nil
  if t.early then
    s.first = t.set[1][1]
    if not s.heard then s.acked = s.first end
    return
  end
  if not t.named or s.half.service == "UC" then return straggle(s, t) end
  for _, packet in ipairs(t.packets) do
    fill(s, packet.first, packet.last, packet, packet.read)
    accept(s, packet.first, packet.last)
    tell_resend(s, packet.frame, packet.first, "nak", true)
  end
  d.answers[#d.answers + 1] = { first = t.set[1][1], last = t.set[#t.set][2], packets = t.packets, order = t.order }
  if #d.answers > 64 then table.remove(d.answers, 1) end
end

-- keep copies a packet that must outlive its frame.
local function keep(p)
  local c = {}
  for k, v in pairs(p) do c[k] = v end
  return c
end

local part, end_epoch, near, move, arrive, repeated

do

local function asked_within(d, q)
  local i, inside = gap_at(d, q)
  local k = answering(d, q)
  return inside and k ~= nil and d.asks[k].seq >= d.gaps[i].first
end

local function try_out(s, p, first, last, what)
  local d = trouble(s)
  local t = { set = {}, packets = {}, next = first, frame = p.frame, time = p.time, silence = p.time - last_activity(s),
    named = asked_within(d, first), ahead = what == "ahead", early = what == "early" }
  d.trial = t
  local after_timer = not t.named and first < s.next and s.half.service ~= "UC" and too_late(s, t.silence)
  trial_add(s, p, first, last)
  if after_timer then confirm(s, p.frame) end
end

local function may_be_late(s, p, seq)
  local d = s.d
  if p.retx or not set_has(d.holes, seq) then return false end
  local i, inside = gap_at(d, seq)
  return inside and d.gaps[i].kind == "observed"
end

-- precedes reports whether the packet lies below the first PSN seen: overtaken
-- when the capture began.
local function precedes(s, p, seq)
  local d = s.d
  if p.retx or seq >= s.first or seq < s.first - BACKWARD_REACH or s.heard or s.implied or d.rnr then return false end
  if d.trial and (set_has(d.trial.set, seq) or #d.trial.set == 16) then return false end
  return answering(d, seq) == nil
end

local function break_off(s, first, last, frame, suspect)
  s.d.broken = { first = first, last = last, frame = frame, suspect = suspect, packets = 0 }
end

function part(s)
  local b = s.d and s.d.broken
  if b then
    s.d.broken = nil
    pass_over(s, b.first, b.last, b.frame, b.suspect)
  end
end

-- mend decides on a resend run that broke off when a packet comes after it.
local function mend(s, seq)
  local d = s.d
  local b = d and d.broken
  if not b then return end
  b.packets = b.packets + 1
  if seq == b.first then
    d.broken, s.next, d.overtaken = nil, seq, true
  elseif seq ~= s.next or b.packets >= MAX_STRAGGLERS then
    part(s)
  end
end

-- resend takes a packet below the top that the current run carries.
local function resend(s, p, first, last)
  local d = s.d
  s.again = s.again + 1
  d.run.begins = d.run.begins or p.place
  if set_overlap(d.holes, first, last) > 0 then fill(s, first, last, p, p.form.verb == "read") end
  accept(s, first, last)
  if d.overtaken then
    set_insert(d.tardy, first, last)
    d.overtaken = false
  else
    set_remove(d.tardy, first, last)
  end
  s.next, s.last_time = last + 1, p.time
  tell_resend(s, p.frame, first, d.run.cause, true)
end

-- of_run reports whether a packet that was overtaken is one of the current run.
local function of_run(d, at, seq)
  local r = d.run
  if r.id == 0 then return true end
  if r.begins == nil then return at > r.after end
  return at >= r.begins or at > r.after and seq < r.start
end

-- trail takes a packet that others of its sender overtook: its copy was not lost.
local function trail(s, p, first, last, n)
  local d = s.d
  local current = of_run(d, p.place, first)
  local b = d.broken
  if b and b.first <= first and first <= b.last then part(s) end
  if not current and first > s.next then d.overtaken = true end -- it draws a NAK for what the run carries next
  if first >= s.top then
    local after = s.next
    if first > s.top then
      pass_over(s, s.top, first - 1, p.frame)
      s.top, s.open = first, false
    end
    accept(s, first, last)
    advance(s, p, n)
    if not current then s.next = after end
    return
  end
  s.again, s.last_time = s.again + 1, p.time
  if current and set_has(d.skipped, first) then
    set_remove(d.skipped, first, last)
    tell_late(s, p.frame)
    repeats(s, p.frame, first, d.run.cause)
    return
  end
  local i, inside = gap_at(d, first)
  if set_has(d.missed, first) then
    tell_late(s, p.frame)
    arrived_after_all(s, first, last)
  elseif set_has(d.holes, first) and inside and d.gaps[i].kind ~= "observed" then
    fill(s, first, last, p)
    tell_resend(s, p.frame, first, d.run.cause)
  elseif set_has(d.holes, first) then
    straggle(s, { packets = { { first = first, last = last, frame = p.frame } } })
    return
  elseif set_has(d.lost_psns, first) and came_behind(s, first) then
    tell_late(s, p.frame)
    repeats(s, p.frame, first, "early")
  else
    tell_resend(s, p.frame, first)
  end
  accept(s, first, last)
  set_insert(d.tardy, first, last)
end

-- learn_order believes the identification, and decides what is on trial thereby.
local function learn_order(s, p, seq)
  local d = s.d
  local n = d and d.numbers
  if n == nil or p.order == nil or s.response or n.counts or seq >= s.top or seq < s.first then return end
  if p.order == "overtaken" then
    n.late = true
  else
    n.back = true
    n.counts = not set_has(d.holes, seq)
  end
  n.counts = n.counts or n.late and n.back
  local t = d.trial
  if not n.counts or ordered(s, p) == nil or t == nil or t.ahead or t.early then return end
  if t.order == "overtaken" then
    d.trial = nil
    straggle(s, t)
  elseif t.order == "in order" then
    confirm(s, p.frame)
  end
end

-- behind follows a packet below the top.
local function behind(s, p, first, last)
  local d = trouble(s)
  local turn = ordered(s, p) == "in order"
  local t = d.trial
  if t and t.ahead then
    if first == s.next then
      d.trial = nil
      straggle(s, t)
      d.overtaken = true
    else
      skip_ahead(s)
    end
  end
  t = d.trial
  if t then
    local twice = set_has(t.set, first) and s.half.service ~= "UC" -- a run carries again what was late
    local apart = t.order == "overtaken" and p.order == "in order" -- what came late, and a resend
    if not twice and not apart and first < s.next and t.early == (first < s.first) and (may_be_late(s, p, first) or precedes(s, p, first)) then
      trial_add(s, p, first, last)
      return
    end
    if not twice and not apart and first < s.next and first >= t.set[1][1] and s.half.service ~= "UC" then confirm(s, p.frame) else refute(s) end
  end
  if first < s.next and set_has(d.skipped, first) then
    set_remove(d.skipped, first, last)
    s.again, s.last_time = s.again + 1, p.time
    tell_late(s, p.frame)
    repeats(s, p.frame, first, d.run.cause)
    return
  elseif first == s.next then
  elseif first > s.next and sent_rest(s, p, first, too_late(s, p.time - last_activity(s))) then
    pass_over(s, s.next, first - 1, p.frame)
  elseif first > s.next and sent_less(s, p, first) then
    new_run(s, first, p.frame, p.time, p.time - last_activity(s))
  elseif first > s.next and (d.points[first] or first <= s.acked and AWAITS[p.form.verb]) then
    new_run(s, first, p.frame, p.time, p.time - last_activity(s)) -- all before it arrived
  elseif first > s.next and d.run.lone and first == d.run.before then
    d.run = d.prior -- the run before goes on
  elseif first > s.next and first >= d.run.before and first < d.run.before + MAX_STRAGGLERS and not turn then
    break_off(s, s.next, first - 1, p.frame, false)
  elseif first > s.next and not turn and may_be_late(s, p, first) then
    return try_out(s, p, first, last, "ahead")
  elseif first > s.next then
    pass_over(s, s.next, first - 1, p.frame)
  elseif not turn and may_be_late(s, p, first) then
    return try_out(s, p, first, last, "behind")
  elseif not turn and precedes(s, p, first) then
    return try_out(s, p, first, last, "early")
  elseif s.half.service == "UC" then
    refute(s)
    s.moved = { p = keep(p), n = last - first + 1 }
    return
  else
    new_run(s, first, p.frame, p.time, p.time - last_activity(s))
    pass_over(s, d.run.first, first - 1, p.frame)
  end
  resend(s, p, first, last)
end

-- Epochs: a queue pair that is used again begins anywhere in the PSN space.

function end_epoch(s)
  refute(s)
  part(s)
  local d = s.d
  if d then
    local run = d.run.id + 1
    s.d = nil
    d = trouble(s)
    d.run.id = run
  end
end

function near(s, psn)
  local seq = unwrap(s.top, psn)
  if seq >= s.top then
    local step = max(FORWARD_STEP, 4 * s.peak)
    if s.tail then step = max(step, most_of(s.tail) + FORWARD_STEP) end
    return seq - s.top <= step
  end
  if s.heard then return seq >= s.acked - max(BACKWARD_REACH, 4 * s.peak) or seq >= s.top - BACKWARD_REACH end
  return s.top - seq <= FORWARD_REACH
end

-- move believes the packet that was set aside: a wide gap, or an epoch.
function move(s)
  local c = s.moved
  s.moved = nil
  local ahead = less(c.p.psn, s.top % 0x1000000)
  if ahead < 0 or ahead > FORWARD_REACH then
    end_epoch(s)
    begin(s, c.p, c.p.psn)
  end
  follow(s, c.p, c.n)
end

function arrive(s, p, n)
  if not s.on then
    begin(s, p, p.psn)
    advance(s, p, n)
    quiet(s)
    return
  end
  local c = s.moved
  if near(s, p.psn) then
    if c and s.half.service == "UC" and less(c.p.psn, s.top % 0x1000000) < 0 and
      p.psn ~= s.top % 0x1000000 and less(p.psn, c.p.psn) == c.n then
      move(s)
      return arrive(s, p, n)
    end
    s.moved = nil -- a stray
    return follow(s, p, n)
  end
  if c == nil then
    s.moved, s.expect = { p = keep(p), n = n }, -1
    return
  end
  local far = less(p.psn, c.p.psn)
  if far <= -COHERENT or far > COHERENT + c.n then
    s.moved = { p = keep(p), n = n }
    return
  end
  move(s)
  arrive(s, p, n)
end

-- enter takes a packet at the top. One of MP-RDMA that says it is sent again was
-- lost before, where no copy passed.
local function enter(s, p, n, seq, last)
  local lost = p.retx and s.half.transport == "mp-rdma" and seq >= s.acked
  if lost then miss(s, seq, last, "retx", p.frame) end
  advance(s, p, n)
  if lost then repeated(s, p, seq, last) end
end

-- follow takes a packet whose PSN is believed.
follow = function(s, p, n)
  local seq = unwrap(s.top, p.psn)
  if seq >= s.top then
    settle_tail(s, seq)
    seq = max(seq, s.top)
  end
  local last = seq + n - 1
  if p.synchronised then
    local d = trouble(s)
    d.synchronised = d.synchronised or {}
    set_insert(d.synchronised, seq, seq)
  end
  learn_order(s, p, seq)
  if ordered(s, p) == "overtaken" then
    trail(s, p, seq, last, n)
    return quiet(s)
  end
  mend(s, seq)
  if seq == s.top and s.next == seq then
    refute(s)
    accept(s, seq, last)
    enter(s, p, n, seq, last)
  elseif seq >= s.top then
    refute(s)
    if s.next == s.top or s.d.run.lone or selects(s) or seq == s.top and sent_less(s, p, seq) then
    elseif sent_rest(s, p, seq, too_late(s, p.time - last_activity(s))) then
      pass_over(s, s.next, s.top - 1, p.frame)
    else
      break_off(s, s.next, s.top - 1, p.frame, seq == s.top)
    end
    if seq > s.top then
      pass_over(s, s.top, seq - 1, p.frame)
      s.top, s.open = seq, false
    end
    accept(s, seq, last)
    enter(s, p, n, seq, last)
  elseif selects(s) and s.half.transport ~= "go-back-n" then
    if s.paths then travelled(s, p, seq) end
    repeated(s, p, seq, last)
  else
    behind(s, p, seq, last)
  end
  sent_up_to(s, p)
  quiet(s)
end

end

-- MP-RDMA acknowledges each packet that arrives, and says whether it was one sent
-- again. What is taken for lost on the word of a NACK of a full ring is taken back
-- when an acknowledgement tells of a copy that can be no other.

local heard_of, open_book

do

local MAX_BOOKS = 1024

-- open_book is the book of a packet that was sent again or refused: how many
-- copies were sent, how many of these had arrived, as acknowledgements or
-- refusals tell, and how many were taken for lost on the word of a NACK. The
-- lowest give way.
function open_book(d, seq)
  local books = d.books
  if books[seq] == nil then
    if d.n_books >= MAX_BOOKS then
      local seqs = {}
      for q in pairs(books) do seqs[#seqs + 1] = q end
      table.sort(seqs)
      for k = 1, MAX_BOOKS / 2 do books[seqs[k]] = nil end
      d.n_books = MAX_BOOKS / 2
    end
    books[seq], d.n_books = { sent = 1, back = 0, lost = 0 }, d.n_books + 1
  end
  return books[seq]
end

-- tell_overtaken marks the frame of the first copy of a packet: it was late
-- further on, as the acknowledgement tells. A copy that passes for a resend stays
-- one.
local function tell_overtaken(s, seq, p)
  local late_frame, frame = p.frame, carried(s, seq)
  while frame do
    local m = marks[frame]
    if m == nil or not m.late then late_frame = frame end
    frame = m and m.of
  end
  mark(late_frame).late = true
  s.late = s.late + 1
end

-- heard_of follows the acknowledgement of one packet, before anything else that
-- the acknowledgement says.
function heard_of(s, seq, p)
  local d = s.d
  if not set_has(d.lost_psns, seq) or set_has(d.unseen, seq) then return end
  if p.echoes_retx then
    local b = d.books[seq]
    if b and b.lost > b.sent - b.back then
      b.lost = b.lost - 1
      was_late(s, seq, seq)
    end
  elseif set_has(d.holes, seq) then
    late(s, seq, seq, p.frame)
    tell_overtaken(s, seq, p)
  else
    was_late(s, seq, seq)
    if not set_has(d.lost_psns, seq) then tell_overtaken(s, seq, p) end -- no other copy was lost
  end
end

end

-- A NACK of MP-RDMA names what the head of the ring waits for, not what it
-- refuses; but that is the first unanswered packet of its path which lies so far
-- beyond the head that the ring, as large as acknowledgements have shown it to be,
-- has no slot for it.

-- accepted follows the acknowledgement of a packet, which had a slot.
local function accepted(s, seq, cumulative, sport)
  local d = s.d
  d.slots = max(d.slots, seq - cumulative)
  set_remove(d.turned, seq, seq)
  local b = d.books[seq]
  if b then b.back = b.back + 1 end
  answer(s, sport, seq, seq)
end

-- turned_away follows the NACK of a full ring.
local function turned_away(s, cumulative, sport)
  local d = s.d
  local seq = answer(s, sport, cumulative + 1 + max(d.slots, 1), s.top)
  if seq then
    set_insert(d.turned, seq, seq)
    local b = open_book(d, seq)
    b.back = b.back + 1
  end
end

-- IRN, the windowless cumulative ACK and MP-RDMA repeat just what the receiver
-- misses, and their receivers keep what comes out of order.

local reported

do

local MAX_REPAIRS = 1024 -- resends remembered while feedback may not know of them

-- asks_for reports whether the receiver's reports show seq missing.
local function asks_for(s, seq)
  local has = s.d.has
  return #has > 0 and seq >= s.acked and seq < has[#has][2] and not set_has(has, seq)
end

local function repair_cause(s, p, seq)
  local d, transport, cause = s.d, s.half.transport, nil
  if transport == "irn" then
    if set_has(d.named, seq) or asks_for(s, seq) then cause = "irn-nack" end
  elseif transport == "windowless" then
    if set_has(d.named, seq) or set_overlap(d.has, seq, s.top) > 0 or seq >= d.tail_from and seq < d.tail_to then
      cause = "tc-aeth"
    end
  elseif d.nacked then
    cause = "mp-nack"
  elseif p.retx then
    cause = "early"
  end
  if cause == nil then
    cause = timed_out(s, seq, p.time, p.time - last_activity(s)) and "timeout" or "early"
  end
  if cause == "timeout" or cause == "early" or cause ~= d.run.cause then
    d.run = { id = d.run.id + 1, cause = cause, began = p.time, first = seq, before = 0 }
  end
  for _, m in ipairs(s.asks_ack) do
    if m[1] == seq then m[2], m[3] = p.time, false end
  end
end

-- began_before takes a packet below the first one seen that is not sent again: it
-- was overtaken on a shorter path when the capture began.
local function began_before(s, p, seq, last)
  local first, behind = last + 1, s.first - 1
  if s.acked == s.first then s.acked = seq end
  s.first = seq
  tell_late(s, p.frame)
  if first <= behind then
    set_insert(s.d.unseen, first, behind)
    miss(s, first, behind, "observed", p.frame)
  end
  s.last_time = p.time
end

-- repeated follows a packet below the top where the sender repeats selectively.
repeated = function(s, p, seq, last)
  local d = trouble(s)
  local hole = set_has(d.holes, seq)
  local named = (set_has(d.named, seq) or asks_for(s, seq)) and s.half.transport ~= "mp-rdma"
  local silent = d.timer > 0 and p.time - last_activity(s) >= d.timer * 3 / 4
  s.again = s.again + 1
  if seq < s.first and seq >= s.first - BACKWARD_REACH and not p.retx and s.half.transport == "mp-rdma" then
    began_before(s, p, seq, last)
    return
  end
  if not p.retx and (hole and not named and set_has(d.unseen, seq) and not silent or set_has(d.missed, seq) and not silent or
    not hole and s.half.transport == "mp-rdma" and set_has(d.lost_psns, seq)) then
    if hole and set_has(d.unseen, seq) then
      late(s, seq, last, p.frame)
    elseif set_has(d.missed, seq) then
      arrived_after_all(s, seq, last)
    else
      was_late(s, seq, last) -- over a slow path, behind the copy that was sent in its place
    end
    tell_late(s, p.frame)
    s.last_time = p.time
    return
  end
  if not hole then
    for i, old in ipairs(d.answers) do
      if old.first == seq then -- it came late, and now comes again
        for _, packet in ipairs(old.packets) do
          tell_late(s, packet.frame)
          was_late(s, packet.first, packet.last)
        end
        table.remove(d.answers, i)
        break
      end
    end
  end
  repair_cause(s, p, seq)
  if hole then
    local again = set_has(d.unseen, seq) and named and not p.retx
    fill(s, seq, last, p, p.form.verb == "read")
    if again then
      d.answers[#d.answers + 1] = { first = seq, last = last, packets = { { first = seq, last = last, frame = p.frame } } }
      if #d.answers > MAX_REPAIRS then table.remove(d.answers, 1) end
    end
  elseif s.half.transport == "irn" and d.run.cause == "irn-nack" and seq >= s.acked and not set_has(d.has, seq) and asks_for(s, seq) then
    -- The sender sees the hole in the bitmap that the NACKs drew.
    miss(s, seq, last, "irn-nack", p.frame)
    name_lost(d, seq, last)
    fill(s, seq, last, p)
  end
  set_remove(d.turned, seq, last)
  if s.half.transport == "mp-rdma" then
    local b = open_book(d, seq)
    b.sent = b.sent + 1
  end
  d.repairs[#d.repairs + 1] = { seq, s.top, p.time }
  if #d.repairs > MAX_REPAIRS then table.remove(d.repairs, 1) end
  tell_resend(s, p.frame, seq, d.run.cause, true)
  s.last_time = p.time
end

-- under_way is the PSNs of first..last whose last copy was sent after newest was,
-- or, where the order of sending proves nothing, after the given time.
local function under_way(s, first, last, newest, time)
  local set, by_time = {}, s.half.transport == "mp-rdma"
  for _, r in ipairs(s.d.repairs) do
    if r[1] >= first and r[1] <= last then
      if by_time and r[3] > time or not by_time and newest < r[2] then
        set_insert(set, r[1], r[1])
      else
        set_remove(set, r[1], r[1])
      end
    end
  end
  return set
end

-- packets_in is the parts of a span that packets begin in: a READ request that is
-- missing is one, however many PSNs it takes.
local function packets_in(s, span)
  return (s.response or s.reads[1] == nil) and { span } or sent(s, span[1], span[2])
end

-- reported takes PSNs that the receiver misses, though it has others up to newest.
function reported(s, first, last, newest, p, kind)
  local d = s.d
  first, last = max(first, s.first, s.acked), min(last, s.top - 1)
  if first > last then return end
  for _, piece in ipairs(set_without(d.has, first, last)) do
    for _, hole in ipairs(set_within(d.holes, piece[1], piece[2])) do
      for _, g in ipairs(d.gaps) do
        if g.first <= hole[2] and g.last >= hole[1] and g.kind ~= kind then g.confirmed = kind end
      end
      name_lost(d, hole[1], hole[2])
    end
    for _, seen in ipairs(set_without(d.holes, piece[1], piece[2])) do
      local set = under_way(s, seen[1], seen[2], newest, p.time - max(s.rtt, slowest_path(s)))
      for _, fresh in ipairs(set_without(set, seen[1], seen[2])) do
        for _, span in ipairs(packets_in(s, fresh)) do
          miss(s, span[1], span[2], kind, p.frame)
          name_lost(d, span[1], span[2])
        end
        if kind == "mp-nack" then
          local b = open_book(d, fresh[1])
          b.lost = b.lost + 1
        end
      end
    end
  end
end

end

-- What the receiver says of a stream.

local acknowledged, name, vouches, starts_before

do

-- ack moves the cumulative acknowledgement up to before q.
local function ack(s, q, p)
  if q <= s.acked and s.heard then return end
  s.heard = true
  s.peak = max(s.peak, s.top - s.acked)
  s.acked = max(s.acked, q)
  if s.d then reached(s.d, s.acked) end
  local seqs, frames, i, n = s.seqs, s.frames, s.head, s.n
  while i <= n and seqs[i] < q do
    acked_by[frames[i]] = p.frame
    i = i + 1
  end
  s.head = i
  local d = s.d
  if d == nil then return end
  if d.broken and d.broken.last < s.acked then
    d.broken, d.selective = nil, true -- nobody missed the rest
  end
  local t = d.trial
  if t and not t.ahead and t.set[1][1] < s.acked then
    if t.named and t.order ~= "overtaken" and t.set[2] == nil then
      local packets = t.packets
      local first, last = t.set[1][1], t.set[#t.set][2]
      confirm(s, p.frame) -- the receiver takes it for the answer
      d.run.lone = true
      d.answers[#d.answers + 1] = { first = first, last = last, packets = packets }
    else
      refute(s)
    end
  end
  if p.form.verb ~= "ack" or p.syndrome == nil or floor(p.syndrome / 32) % 4 == 0 then
    for k = #d.asks, 1, -1 do
      if d.asks[k].seq < s.acked then table.remove(d.asks, k) end
    end
  end
  if d.rnr and d.rnr < s.acked then d.rnr = nil end
  if d.gaps[1] or d.holes[1] or d.refused[1] or d.tardy[1] or d.named[1] or d.unseen[1] or d.again[1] then retire(s, s.acked) end
  set_remove(d.has, q - 0x10000000000, s.acked - 1)
  set_remove(d.turned, q - 0x10000000000, s.acked - 1)
  for k = #d.repairs, 1, -1 do
    if d.repairs[k][1] < s.acked then table.remove(d.repairs, k) end
  end
end

-- round_trip takes a round trip from a packet that was sent once and asked for
-- the acknowledgement that carries its own PSN.
local function round_trip(s, seq, p)
  for _, m in ipairs(s.asks_ack) do
    if m[1] == seq and m[3] then
      m[3] = false
      local span = p.time - m[2]
      if span <= 0 then return end
      if s.rtt == 0 or span < s.rtt then s.rtt = span end
      rtts[p.frame] = span
      return
    end
  end
end

-- named judges a PSN that the receiver misses.
function name(s, seq, p, kind)
  local d = s.d
  local t = d.trial
  if t and set_has(t.set, seq) then return end -- on its way
  if t and t.ahead then skip_ahead(s) end
  local i, inside = gap_at(d, seq)
  if inside and set_has(d.holes, seq) then
    local g = d.gaps[i]
    g.confirmed, g.suspect = kind, nil
    name_lost(d, seq, seq)
    return
  end
  if seq >= s.top or set_has(d.tardy, seq) then return end
  if set_has(d.refused, seq) then
    local old = d.answers[#d.answers]
    if old and old.last == seq - 1 then old.named, old.named_frame = seq, p.frame end
    return
  end
  if p.time - d.run.began < s.rtt / 2 and d.run.first <= seq and set_has(d.refused_before, seq) then
    return -- too soon to be about the copy of this run
  end
  miss(s, seq, seq, kind, p.frame)
  name_lost(d, seq, seq)
  if not s.response then set_insert(d.refused, seq + 1, s.top - 1) end
end

local function sequence_error(s, seq, p)
  local d = trouble(s)
  local b = d.broken
  if b and b.first <= seq and seq <= b.last and (b.packets > 0 or seq == b.first) then part(s) end
  if seq < s.acked or seq > s.top then return end
  ask(d, seq, p.time, "nak", p.frame)
  if d.rnr == seq then return end
  name(s, seq, p, "nak")
end

local function not_ready(s, seq)
  local d = trouble(s)
  if seq < s.acked or seq >= s.top then return end
  d.rnr = seq
  set_insert(d.refused, seq, s.top - 1)
end

-- starts_before reports whether a NAK shows that the flow began before the first
-- packet seen: the receiver has completed nothing yet.
function starts_before(s, seq, p)
  return seq < s.first and s.first - seq <= BACKWARD_REACH and p.msn == 0 and not s.heard and
    p.syndrome ~= nil and p.syndrome % 128 == 0x60
end

local function extend(s, seq, p)
  local d = trouble(s)
  local last = s.first - 1
  s.first, s.acked = seq, seq
  set_insert(d.unseen, seq, last)
  miss(s, seq, last, "observed", p.frame)
  set_insert(d.refused, last + 1, s.top - 1)
end

-- Feedback in the forms of the extensions.

local function irn_nack(s, seq, p)
  local d = trouble(s)
  if seq < s.first or seq >= s.top then return end
  ack(s, seq, p)
  local newest = seq
  if p.sack then
    newest = unwrap(s.top, p.sack)
    if newest >= s.acked and newest < s.top then set_insert(d.has, newest, newest) end
  end
  reported(s, seq, seq, newest, p, "irn-nack")
end

local function windowless_report(s, p)
  local d = trouble(s)
  if p.fault then return end
  local block = unwrap(s.top, p.finished)
  if block < s.first - 1 or block > s.top + FORWARD_REACH then return end
  d.tail_from, d.tail_to = 0, 0
  local newest = block
  for _, segment in ipairs(p.segments) do newest = unwrap(newest, segment[2]) end
  -- What is missing below the first block and was never named fell between two
  -- reports: nobody will fill it.
  for _, hole in ipairs(set_within(d.holes, s.acked, block)) do
    for _, silent in ipairs(set_without(d.named, hole[1], hole[2])) do
      if set_overlap(d.unseen, silent[1], silent[2]) == silent[2] - silent[1] + 1 then
        set_remove(d.holes, silent[1], silent[2])
        set_remove(d.unseen, silent[1], silent[2])
      end
    end
  end
  ack(s, block + 1, p)
  round_trip(s, block, p)
  local last = block
  for _, segment in ipairs(p.segments) do
    local first = unwrap(last, segment[1])
    reported(s, last + 1, first - 1, newest, p, "tc-aeth")
    last = unwrap(first, segment[2])
    set_insert(d.has, max(first, s.acked), min(last, s.top - 1))
  end
  if #p.segments == 0 then d.tail_from, d.tail_to = block + 1, s.top end
end

local function mp_feedback(s, seq, p)
  local d = trouble(s)
  if s.paths == nil then first_path(s, s.top - 1) end
  if p.aack then
    local cumulative = unwrap(s.top, p.aack)
    if cumulative < s.top and p.op == 0xfa then
      accepted(s, seq, cumulative, p.sport)
      heard_of(s, seq, p)
    elseif cumulative < s.top and seq == cumulative + 1 then
      turned_away(s, cumulative, p.sport)
    end
    if cumulative >= s.acked and cumulative < s.top then ack(s, cumulative + 1, p) end
  end
  if p.op == 0xfb then
    if seq < s.first or seq >= s.top then return end
    d.nacked = true
    if d.synchronised and set_has(d.synchronised, seq) and not set_has(d.holes, seq) then -- it came early
      set_insert(d.turned, seq, seq)
      answer(s, p.sport, seq, seq)
    elseif not set_has(d.turned, seq) then -- else it was refused, and neither lost nor late
      reported(s, seq, seq, seq, p, "mp-nack")
    end
    return
  end
  if seq >= s.acked and seq < s.top then set_insert(d.has, seq, seq) end
  path_trip(s, seq, p)
end

-- speaks settles which transport a connection uses.
local function speaks(h, transport)
  for _, side in ipairs { h, h.partner } do
    if side.transport ~= transport then
      side.transport = transport
      for _, s in ipairs { side.req, side.resp } do
        if s.d then
          s.d.refused, s.d.tardy = {}, {}
          refute(s)
        end
        quiet(s)
      end
    end
  end
end

function vouches(s, p)
  if s.moved == nil then return false end
  local psn, top = s.moved.p.psn, s.top % 0x1000000
  return p.psn == psn or less(p.psn, top) >= 0 and less(p.psn, psn) < 0 and less(psn, top) > 0
end

-- acknowledged takes what an acknowledgement says of the stream.
function acknowledged(s, p)
  if not s.on then return end
  if vouches(s, p) then move(s) end
  local kind = 0
  if p.form.verb == "ack" then
    if p.syndrome == nil then return end
    kind = floor(p.syndrome / 32) % 4
  end
  local seq = unwrap(s.top, p.psn)
  if kind == 3 and starts_before(s, seq, p) then extend(s, seq, p) end
  if seq < s.first - 1 or seq > s.top + FORWARD_REACH then return end
  local frame = carried(s, seq)
  if frame and p.form.verb ~= "read response" then
    if kind == 0 then acks_of[p.frame] = frame end
    if kind ~= 0 or p.op == 0xf1 or p.op == 0xf9 or p.op == 0xfb then mark(p.frame).names = frame end
  end
  if p.finished then
    speaks(s.half, "windowless")
    windowless_report(s, p)
  elseif p.op == 0xf1 or p.op == 0xf9 then
    speaks(s.half, "irn")
    irn_nack(s, seq, p)
  elseif p.op == 0xfa or p.op == 0xfb then
    speaks(s.half, "mp-rdma")
    mp_feedback(s, seq, p)
  elseif kind == 0 then
    -- The short way: nothing is wrong, and it acknowledges what asked for it.
    if frame and seq + 1 == s.acked and p.form.verb == "ack" and s.acked > s.first then mark(p.frame).duplicate = true end
    ack(s, seq + 1, p)
    round_trip(s, seq, p)
  elseif kind == 1 then
    ack(s, seq, p)
    not_ready(s, seq)
  elseif kind == 3 and p.syndrome % 128 == 0x60 then
    ack(s, seq, p)
    sequence_error(s, seq, p)
  end
  quiet(s)
end

end

-- A half is everything that one end sends to one queue pair of another. Two
-- halves that answer each other are a connection. The BTH names no source queue
-- pair, so that PSNs must tell who answers whom, or connection management.

local halves = {}  -- by addresses, then by queue pair number
local between = {} -- by addresses, all halves in a list
local all = {}     -- in order of appearance
local agreed = {}  -- by addresses and queue pair number, what connection management set
local requests = {} -- REQs that wait for their REP
local remembered = 0

local new_half, mirrored, take, manage

do

local MAX_HALVES = 65536
local MAX_SUITORS = 256
local MAX_WAITING = 64 -- acknowledgements whose stream is not known yet

local meet, take_feedback


function new_half(src, dst, qp, form)
  if #all >= MAX_HALVES then return nil end
  local service = form.service
  local h = {
    src = src, dst = dst, qp = qp, service = service == "IRN" and "RC" or service,
    transport = "go-back-n", timer = 0, feedback_time = 0, mtus = MTUS,
    ids = {}, times = {}, ops = {}, steps = 0, stays = 0, id = -1, -- to tell copies of a mirror
    naks = 0, acks = 0, rnr = 0, good = 0, bad = 0, courted_by = {}
  }
  if service == "IRN" then h.transport = form.len == 20 and form.mp and "mp-rdma" or "irn" end
  h.req = new_stream(h, false)
  all[#all + 1] = h
  local key = src .. dst
  local by_qp = halves[key]
  if by_qp == nil then
    by_qp = {}
    halves[key], between[key] = by_qp, {}
  end
  by_qp[qp] = h
  local near = between[key]
  near[#near + 1] = h
  meet(h)
  return h
end

local NO_RTT_WINDOW, DISTINCT_WINDOW = 1e4, 1e9 -- ns

-- distinct reports whether the sender gives every packet an IP identification of
-- its own, as its last packets show.
local function distinct(s)
  local ids, stays, n = s.ids, 0, s.n
  local from = max(2, n - 31)
  for i = from, n do
    if ids[i] == ids[i - 1] then stays = stays + 1 end
  end
  return n - from + 1 - stays + (from == 2 and 1 or 0) > 16 * stays
end

-- mirrored reports whether the packet is a second sight of a frame: equal PSN
-- and IP identification within less than half a round trip.
function mirrored(h, p)
  local q = h.req
  local known = q.on and not p.form.response
  local seq = known and unwrap(q.top, p.psn)
  if known and seq >= q.top then return false end -- new data; it is noted where it is followed
  local id, time, place
  local what = p.op + p.psn * 256 + (p.syndrome or 0) * 0x100000000
  if known then
    local _, k = carried(q, seq)
    place = k
    if place then id, time = q.ids[place], q.times[place] end
  end
  local slot = p.psn % 256 + (p.form.response and 256 or 0)
  if h.ops[slot] == what then id, time = h.ids[slot], h.times[slot] end
  if id == p.id then
    local rtt, other = q.rtt, h.partner and h.partner.req.rtt or 0
    if other > 0 and (rtt == 0 or other < rtt) then rtt = other end
    local window = rtt == 0 and NO_RTT_WINDOW or rtt / 2
    if known and distinct(q) or not known and h.steps > 16 * h.stays then window = DISTINCT_WINDOW end
    local age = p.time - time
    if age < window and age > -window then return true end
  end
  h.ops[slot], h.ids[slot], h.times[slot] = what, p.id, p.time
  if not known then
    if p.id ~= h.id then h.steps = h.steps + 1 else h.stays = h.stays + 1 end
    h.id = p.id
  end
  return false
end

-- Pairing.

local function pair(h, c)
  h.partner, c.partner = c, h
  for _, side in ipairs { h, c } do
    if side.mtus[2] == nil then set_mtus(h, side.mtus) end
  end
  if h.transport == "go-back-n" then h.transport = c.transport end
  c.transport = h.transport
  for _, side in ipairs { h, c } do
    local waiting = side.waiting
    side.waiting, side.suitors = nil, nil
    for _, p in ipairs(waiting or {}) do take_feedback(side, p) end
  end
  for _, side in ipairs { h, c } do
    local rivals = side.courted_by
    side.courted_by = {}
    for _, rival in ipairs(rivals) do
      if rival.partner == nil and rival.waiting and rival.suitors then
        local kept = {}
        for _, suitor in ipairs(rival.suitors) do
          if suitor[1].partner == nil then kept[#kept + 1] = suitor end
        end
        rival.suitors = kept
        if #kept == 1 then pair(rival, kept[1][1]) end
      end
    end
    quiet(side.req)
  end
end

-- suits reports whether the packet can be feedback on these requests.
local function suits(s, p)
  if not s.on then return false end
  if vouches(s, p) then return true end
  local seq = unwrap(s.top, p.psn)
  if s.tail and seq >= s.tail.seq and seq - s.tail.seq < most_of(s.tail) then return true end
  local response = p.form.verb == "read response"
  if response and p.form.service == "IRN" then return true end
  if response then return read_at(s, seq) ~= nil end
  if p.syndrome and floor(p.syndrome / 32) % 4 ~= 0 then
    return seq < s.top and (seq >= s.first or starts_before(s, seq, p))
  end
  if p.finished and p.finished ~= p.psn then seq = unwrap(s.top, p.finished) end
  return seq >= s.first - 1 and seq < s.top
end

local function wait(h, p)
  h.waiting = h.waiting or {}
  if #h.waiting == MAX_WAITING then table.remove(h.waiting, 1) end
  h.waiting[#h.waiting + 1] = keep(p)
end

local function best_suitor(h)
  local best, tie
  for _, suitor in ipairs(h.suitors or {}) do
    if suitor[1].partner == nil then
      if best == nil or suitor[2] > best[2] then
        best, tie = suitor, false
      elseif suitor[2] == best[2] then
        tie = true
      end
    end
  end
  return best and not tie and best[1] or nil
end

-- find_partner reports whether the half has a partner now that the packet, its
-- feedback, was seen. If it has not, the packet waits.
local function find_partner(h, p)
  if h.service == "UC" or h.service == "RD" then return false end
  if h.suitors == nil or #h.suitors == 0 then
    local near = between[h.dst .. h.src]
    local n = h.waiting and #h.waiting or 0
    h.tries = (h.tries or 0) + 1
    if near == nil or h.tries > 16 and h.tries % 64 ~= 0 then
      wait(h, p)
      return false
    end
    h.suitors = {}
    for i = 1, #near do
      local c = near[i]
      if c.partner == nil and c ~= h and c.service == h.service and suits(c.req, p) then
        h.suitors[#h.suitors + 1] = { c, 0 }
        c.courted_by[#c.courted_by + 1] = h
        if #h.suitors > MAX_SUITORS then break end
      end
    end
    if #h.suitors > MAX_SUITORS then
      h.suitors = nil
      wait(h, p)
      return false
    end
  end
  local kept = {}
  for _, suitor in ipairs(h.suitors) do
    local c = suitor[1]
    if c.partner == nil and suits(c.req, p) then
      for _, m in ipairs(c.req.asks_ack) do
        if m[1] % 0x1000000 == p.psn then
          suitor[2] = suitor[2] + 1
          break
        end
      end
      kept[#kept + 1] = suitor
    end
  end
  h.suitors = kept
  if #kept == 1 then
    pair(h, kept[1][1])
    return true
  elseif #kept == 0 then
    h.waiting = nil
    return false
  end
  if h.waiting and #h.waiting == MAX_WAITING then
    local best = best_suitor(h)
    if best then
      pair(h, best)
      return true
    end
  end
  wait(h, p)
  return false
end

-- pair_by_resend finds the partner of a half whose resend answers a NAK that
-- waits for its stream.
pair_by_resend = function(s, seq)
  local h = s.half
  if s.response or h.partner then return end
  local found
  for _, c in ipairs(h.courted_by) do
    if c.partner == nil and c.waiting then
      local courts = false
      for _, suitor in ipairs(c.suitors or {}) do courts = courts or suitor[1] == h end
      for _, p in ipairs(courts and c.waiting or {}) do
        if p.psn == seq % 0x1000000 and p.syndrome and floor(p.syndrome / 32) % 4 ~= 0 then
          if found and found ~= c then return end
          found = c
        end
      end
    end
  end
  if found then pair(found, h) end
end

-- READ responses and requests.

local function begin_among(s, req, p)
  local seq = unwrap(req.top, p.psn)
  if seq < req.first then return end
  for _, read in ipairs(req.reads) do
    if read[1] <= seq then return begin(s, p, read[1] % 0x1000000) end
  end
end

local function grow_tail(req, p)
  local tail = req.tail
  local seq = unwrap(req.top, p.psn)
  if seq < tail.seq or seq - tail.seq >= most_of(tail) or not p.form.ends then return end
  if tail.size then
    local list = fitting(req.half, tail.size, seq - tail.seq + 1)
    if list[1] then set_mtus(req.half, list) end
  end
  end_tail(req, seq + 1)
end

local function response(h, p)
  learn_mtu(h, p)
  local s = h.resp
  if s == nil then
    s = new_stream(h, true)
    h.resp = s
  end
  if h.transport == "irn" then return arrive(s, p, 1) end
  local req = requests_of(s)
  if req and not s.on then begin_among(s, req, p) end
  arrive(s, p, 1)
  if h.partner == nil then return end
  req = h.partner.req
  if req.tail then grow_tail(req, p) end
  acknowledged(req, p)
end

local function answered_past(s, read)
  local resp = responses_of(s)
  if not resp.on or s.half.transport == "irn" then return false end
  local stop = unwrap(resp.top, read[2] % 0x1000000) + 1
  return resp.next > stop or resp.next == stop and s.acked > read[2] + 1 and s.half.partner.feedback_time >= resp.last_time
end

local function timer_may_ask(s, seq, p)
  local silence = p.time - max(last_activity(s), responses_of(s).last_time)
  local timer = timer_of(s)
  return timer == 0 and s.rtt == 0 or too_late(s, silence) or timer > 0 and waited(s, seq, p.time, silence) >= timer * 3 / 4
end

-- read_again follows a READ request below the top. One inside an outstanding
-- READ names the first response that is missing; one at its start names nothing.
local function read_again(s, p, seq, n)
  local old, resp = read_at(s, seq), responses_of(s)
  local begun = trouble(s).run.id
  local named = old ~= nil and seq > old[1]
  s.implied = named
  if old then n = old[2] - seq + 1 end
  if old and not named and resp then
    s.implied = resp.d ~= nil and set_has(resp.d.holes, unwrap(resp.top, seq % 0x1000000))
      or answered_past(s, old) and not timer_may_ask(s, seq, p)
  end
  arrive(s, p, n)
  s.implied = false
  local d = s.d
  if resp and resp.on and d.run.id ~= begun then
    local rd, cause = trouble(resp), d.run.cause
    local at = unwrap(resp.top, p.psn)
    ask(rd, at, p.time, cause, p.frame)
    if named and at >= resp.first then name(resp, at, p, "implied-nak") end
    quiet(resp)
  end
end

-- answer_missed reports whether an atomic is sent again since its answer went
-- missing: something behind it was acknowledged meanwhile.
local function answer_missed(s, p)
  if not s.on or s.acked == 0 or not near(s, p.psn) then return false end
  local seq = unwrap(s.top, p.psn)
  if seq + 1 >= s.acked or seq < s.first then return false end
  trouble(s)
  return not too_late(s, p.time - last_activity(s))
end

local function read_request(h, p)
  local s = h.req
  local n = p.dmalen and read_length(h, p.dmalen)
  if h.transport == "irn" or p.form.verb ~= "read" then n = 1 end
  local known = n ~= nil
  n = n or 1
  if s.on and near(s, p.psn) then
    local seq = unwrap(s.top, p.psn)
    if seq < s.top then return read_again(s, p, seq, n) end
  end
  arrive(s, p, n)
  if s.moved then return end
  local last = s.top - 1
  if (last - n + 1) % 0x1000000 ~= p.psn then return end
  if #s.reads >= 256 then table.remove(s.reads, 1) end
  s.reads[#s.reads + 1] = { last - n + 1, last }
  if not known then
    s.tail = { seq = last, size = p.dmalen }
    s.expect = -1
  end
end

-- damage follows a packet with a bad ICRC: its receiver throws it away.
local function damage(h, p)
  local s = h.req
  if p.form.response then
    if p.form.verb ~= "read response" or h.resp == nil then return end
    s = h.resp
  end
  if not s.on or s.moved or not near(s, p.psn) then return end
  local d = trouble(s)
  local silence = p.time - last_activity(s)
  s.again, s.last_time = s.again + 1, p.time
  local seq = unwrap(s.top, p.psn)
  sent_up_to(s, p)
  if seq >= s.top then
    if seq > s.top or s.next < s.top then
      set_insert(d.spoilt, seq, seq)
      s.expect = -1
      return
    end
    refute(s)
    miss(s, seq, seq, "icrc", p.frame)
    name_lost(d, seq, seq)
    s.top, s.next = seq + 1, seq + 1
    return quiet(s)
  end
  refute(s)
  if seq < s.next and not set_has(d.holes, seq) then new_run(s, seq, p.frame, p.time, silence) end
  if seq > s.next then pass_over(s, s.next, seq - 1, p.frame) end
  tell_resend(s, p.frame, seq, d.run.cause)
  if seq >= s.acked and not set_has(d.holes, seq) then
    miss(s, seq, seq, "icrc", p.frame)
    name_lost(d, seq, seq)
  end
  s.next = max(s.next, seq + 1)
  quiet(s)
end

local function renew(h, p)
  local s, start = h.req, p.psn
  if s.on then
    s.moved = nil
    end_epoch(s)
  end
  local ahead = less(p.psn, h.start)
  if ahead >= 0 and ahead < 1024 then start = h.start end
  begin(s, p, start)
  h.renew, h.agreed = false, false
end

local function request(h, p)
  if h.agreed and (h.renew or not h.req.on) then renew(h, p) end
  local verb = p.form.verb
  if verb == "read" or verb == "flush" or verb == "atomic write" then return read_request(h, p) end
  h.req.implied = verb == "atomic" and answer_missed(h.req, p)
  arrive(h.req, p, 1)
  h.req.implied = false
  learn_mtu(h, p)
end

-- take_feedback brings feedback, or a READ response, to the stream it is about.
take_feedback = function(h, p)
  if p.form.verb == "read response" then response(h, p) else acknowledged(h.partner.req, p) end
end

-- take follows one packet of a half.
function take(h, p)
  local verb = p.form.verb
  if h.service == "RD" then
    return
  elseif p.damaged then
    damage(h, p)
  elseif not p.form.response then
    request(h, p)
  elseif verb == "read response" then
    if h.partner or find_partner(h, p) then response(h, p) end
  elseif p.op == 0xf8 or p.op == 0xf9 then
    if h.partner and h.partner.resp then acknowledged(h.partner.resp, p) end
  else
    h.feedback_time = p.time
    if p.syndrome and verb == "ack" then
      local kind = floor(p.syndrome / 32) % 4
      if kind == 0 then h.acks = h.acks + 1 elseif kind == 1 then h.rnr = h.rnr + 1 elseif kind == 3 then h.naks = h.naks + 1 end
    end
    if h.partner or find_partner(h, p) then acknowledged(h.partner.req, p) end
  end
end

-- Connection management: who talks to whom, and where their PSNs begin.

meet = function(h)
  local g = agreed[h.src .. h.dst .. h.qp]
  if g == nil then return end
  h.timer, h.agreed, h.start = g.timer, true, g.start
  if g.mtu then set_mtus(h, { g.mtu }) end
  local by_qp = halves[g.src .. g.dst]
  local other = by_qp and by_qp[g.qp]
  if other == nil or other == h.partner then return end
  for _, side in ipairs { h, other } do
    if side.partner then side.partner.partner, side.partner = nil, nil end
  end
  pair(h, other)
end

-- manage reads a message of connection management in a UD packet to QP 1. o is
-- where the message begins.
function manage(s, o, stop)
  if stop - o < 24 or byte(s, o + 2) ~= 7 then return end
  local kind = u16(s, o + 16)
  o = o + 24
  if remembered > 16384 then
    agreed, requests, remembered = {}, {}, 0
  end
  if kind == 0x10 and stop - o >= 140 then
    remembered = remembered + 1
    local timeout = floor(byte(s, o + 96) / 8)
    requests[at.src .. u32(s, o)] = {
      dst = at.dst, id = u32(s, o), qp = u24(s, o + 32), start = u24(s, o + 44),
      mtu = MTUS[floor(byte(s, o + 51) / 16)], timer = timeout > 0 and 4096 * 2 ^ timeout or 0
    }
  elseif kind == 0x13 and stop - o >= 36 then
    local r = requests[at.dst .. u32(s, o + 4)]
    if r == nil or r.dst ~= at.src then return end
    local qp, start, id = u24(s, o + 12), u24(s, o + 20), u32(s, o)
    local active, passive = at.dst .. at.src .. qp, at.src .. at.dst .. r.qp
    local old = agreed[active]
    if old and old.ids == r.id .. "/" .. id and old.qp == r.qp then return end -- the REP came again
    remembered = remembered + 2
    local ids = r.id .. "/" .. id
    agreed[active] = { src = at.src, dst = at.dst, qp = r.qp, start = r.start, mtu = r.mtu, timer = r.timer, ids = ids }
    agreed[passive] = { src = at.dst, dst = at.src, qp = qp, start = start, mtu = r.mtu, timer = r.timer, ids = ids }
    for _, way in ipairs { { at.dst .. at.src, qp }, { at.src .. at.dst, r.qp } } do
      local h = halves[way[1]] and halves[way[1]][way[2]]
      if h then
        h.renew = true
        h.req.expect = -1
        meet(h)
      end
    end
  end
end

end

-- forget drops everything: another capture begins, or the same one anew.
local function forget()
  halves, between, all, agreed, requests, remembered = {}, {}, {}, {}, {}, 0
  marks, acked_by, acks_of, rtts = {}, {}, {}, {}
end

-- Wireshark's fields, made from the field table.

local rdma = Proto("rdma", "RDMA (rdmadump " .. VERSION .. ")")

-- F holds the fields that are not rows of the table.
local F = {
  opcode_name = ProtoField.string("rdma.opcode_name", "Operation"),
  carrier = ProtoField.string("rdma.carrier", "Carrier"),
  payload = ProtoField.bytes("rdma.payload", "Payload"),
  payload_len = ProtoField.uint32("rdma.payload_len", "Payload length"),
  pad = ProtoField.bytes("rdma.pad", "Pad"),
  icrc = ProtoField.uint32("rdma.icrc", "ICRC", base.HEX),
  icrc_status = ProtoField.string("rdma.icrc.status", "ICRC status"),
  error = ProtoField.string("rdma.error", "Error"),
  cnp = ProtoField.none("rdma.cnp.congestion", "Congestion notification"),
  kind = ProtoField.string("rdma.aeth.kind", "Says"),
  credits = ProtoField.uint32("rdma.aeth.credits", "Credits"),
  rnr_timer = ProtoField.double("rdma.aeth.rnr_timer", "RNR timer in ms"),
  nak_code = ProtoField.uint8("rdma.aeth.nak_code", "NAK code", base.DEC, NAK_CODES),
  report_gap = ProtoField.string("rdma.tcaeth.gap", "Missing"),
  report_count = ProtoField.uint32("rdma.tcaeth.gap_count", "Missing PSNs"),
  report_length = ProtoField.uint32("rdma.tcaeth.length", "Length"),
  report_error = ProtoField.string("rdma.tcaeth.error", "Error"),
  analysis = ProtoField.none("rdma.analysis", "Sequence analysis"),
  gap = ProtoField.string("rdma.analysis.gap", "Missing before this packet, or named by it"),
  gap_first = ProtoField.uint24("rdma.analysis.gap_first", "First missing PSN"),
  gap_last = ProtoField.uint24("rdma.analysis.gap_last", "Last missing PSN"),
  gap_count = ProtoField.uint32("rdma.analysis.gap_count", "Missing PSNs"),
  gap_evidence = ProtoField.string("rdma.analysis.gap_evidence", "Evidence"),
  gap_closed = ProtoField.string("rdma.analysis.gap_closed", "Closed"),
  gap_closed_by = ProtoField.framenum("rdma.analysis.gap_closed_by", "Closed by frame"),
  lost_again = ProtoField.string("rdma.analysis.lost_again", "Lost again"),
  retransmission = ProtoField.none("rdma.analysis.retransmission", "Retransmission"),
  retransmission_cause = ProtoField.string("rdma.analysis.retransmission_cause", "Retransmission cause"),
  retransmission_of = ProtoField.framenum("rdma.analysis.retransmission_of", "Retransmission of frame"),
  nak_frame = ProtoField.framenum("rdma.analysis.nak_frame", "Asked for by frame"),
  nak_to_retransmission = ProtoField.relative_time("rdma.analysis.nak_to_retransmission", "Time from the NAK to the retransmission"),
  out_of_order = ProtoField.none("rdma.analysis.out_of_order", "Out of order"),
  duplicate_ack = ProtoField.none("rdma.analysis.duplicate_ack", "Duplicate ACK"),
  duplicate_capture = ProtoField.none("rdma.analysis.duplicate_capture", "Captured twice"),
  nak = ProtoField.none("rdma.analysis.nak", "NAK"),
  nak_psn = ProtoField.uint24("rdma.analysis.nak_psn", "PSN that the NAK names"),
  rnr_nak = ProtoField.none("rdma.analysis.rnr_nak", "RNR NAK"),
  rtt = ProtoField.relative_time("rdma.analysis.rtt", "Round trip"),
  frame_acked_by = ProtoField.framenum("rdma.analysis.frame_acked_by", "Acknowledged by frame", base.NONE, frametype and frametype.ACK),
  acks_frame = ProtoField.framenum("rdma.analysis.acks_frame", "Acknowledges frame", base.NONE, frametype and frametype.ACK),
  names_frame = ProtoField.framenum("rdma.analysis.names_frame", "Names the packet of frame"),
}

local X = {
  gap = ProtoExpert.new("rdma.expert.gap", "Packets are missing", expert.group.SEQUENCE, expert.severity.WARN),
  lost_again = ProtoExpert.new("rdma.expert.lost_again", "What was sent again is missing once more", expert.group.SEQUENCE, expert.severity.WARN),
  retransmission = ProtoExpert.new("rdma.expert.retransmission", "Retransmission", expert.group.SEQUENCE, expert.severity.NOTE),
  out_of_order = ProtoExpert.new("rdma.expert.out_of_order", "Out of order", expert.group.SEQUENCE, expert.severity.NOTE),
  nak = ProtoExpert.new("rdma.expert.nak", "NAK", expert.group.SEQUENCE, expert.severity.WARN),
  rnr_nak = ProtoExpert.new("rdma.expert.rnr_nak", "RNR NAK: the receiver has no buffer ready", expert.group.SEQUENCE, expert.severity.NOTE),
  duplicate = ProtoExpert.new("rdma.expert.duplicate_ack", "Duplicate ACK", expert.group.SEQUENCE, expert.severity.CHAT),
  cnp = ProtoExpert.new("rdma.expert.cnp", "Congestion notification", expert.group.SEQUENCE, expert.severity.NOTE),
  icrc = ProtoExpert.new("rdma.expert.icrc", "Bad ICRC: the receiver drops this packet", expert.group.CHECKSUM, expert.severity.ERROR),
  error = ProtoExpert.new("rdma.expert.error", "The packet does not fit its headers", expert.group.MALFORMED, expert.severity.ERROR),
  report = ProtoExpert.new("rdma.expert.report", "The segments of a T/C AETH make no sense", expert.group.PROTOCOL, expert.severity.WARN),
}

do
  local BASES = { dec = base.DEC, hex = base.HEX }
  local WIDTHS = { [1] = "uint8", [2] = "uint16", [3] = "uint24", [4] = "uint32", [8] = "uint64" }
  local list = {}
  for _, f in pairs(F) do list[#list + 1] = f end
  for _, h in ipairs(HEADER_ROWS) do
    if not h.single then
      h.item = ProtoField.none("rdma." .. h.key, h.name)
      list[#list + 1] = h.item
    end
    for _, f in ipairs(h.fields) do
      local abbr = h.single and "rdma." .. h.key or "rdma." .. h.key .. "." .. f.key
      local values = VALUES[abbr]
      if f.base == "flag" then
        f.item = ProtoField.bool(abbr, f.name, 8, nil, f.mask, f.doc)
      elseif f.base == "gid" then
        f.item = ProtoField.ipv6(abbr, f.name, f.doc)
      elseif f.base == "data" then
        f.item = ProtoField.bytes(abbr, f.name, base.NONE, f.doc)
      else
        local make = ProtoField[WIDTHS[f.size]]
        f.item = f.mask and make(abbr, f.name, BASES[f.base], values, f.mask, f.doc) or make(abbr, f.name, BASES[f.base], values, nil, f.doc)
      end
      list[#list + 1] = f.item
    end
  end
  rdma.fields = list
  local experts = {}
  for _, x in pairs(X) do experts[#experts + 1] = x end
  rdma.experts = experts
end

-- The tree of a packet.

local function psns(first, last)
  first, last = first % 0x1000000, last % 0x1000000
  return first == last and tostring(first) or string.format("%d-%d", first, last)
end

local function whole(x) return string.format("%.0f", x) end

local function syndrome_text(v)
  local kind, code = floor(v / 32) % 4, v % 32
  if kind == 0 then return CREDITS[code] and "ACK, " .. CREDITS[code] .. " credits" or "ACK" end
  if kind == 1 then return string.format("RNR NAK, %s ms", RNR_TIMERS[code]) end
  if kind == 3 then return "NAK " .. (NAK_CODES[code] or "code " .. code) end
  return string.format("reserved syndrome 0x%02x", v)
end

local draw, draw_expert, draw_marks

do

local KINDS = { [0] = "ACK", "RNR NAK", "reserved", "NAK" }

local function draw_header(root, tvb, o, n, h)
  if h.single then
    root:add(h.fields[1].item, tvb:range(o, n))
    return root
  end
  local item = root:add(h.item, tvb:range(o, n))
  for _, f in ipairs(h.fields) do
    if f.off + f.size <= n then item:add(f.item, tvb:range(o + f.off, f.size)) end
  end
  return item
end

-- draw_report adds a T/C AETH: only the segments that count.
local function draw_report(root, tvb, s, o, n)
  local h = HEADERS.tcaeth
  local item = root:add(h.item, tvb:range(o, n))
  local last, segments, fault = report(s, o)
  for i, f in ipairs(h.fields) do
    local counts = i <= 2 + 2 * #segments or i > 8
    if counts and f.off + f.size <= n then item:add(f.item, tvb:range(o + f.off, f.size)) end
  end
  item:add(F.report_length, n):set_generated()
  if fault then
    item:add(F.report_error, fault):set_generated()
    item:add_proto_expert_info(X.report, fault)
    return
  end
  local texts = {}
  for _, gap in ipairs(missing(last, segments)) do
    local text = psns(gap[1], gap[2])
    texts[#texts + 1] = text
    item:add(F.report_gap, text):set_generated()
    item:add(F.report_count, (gap[2] - gap[1]) % 0x1000000 + 1):set_generated()
  end
  if texts[1] then item:append_text(", missing " .. table.concat(texts, ", ")) end
end

-- draw_management adds what stands in a management datagram.
local function draw_management(root, tvb, s, o, stop)
  local h = HEADERS.mad
  stop = min(stop, o + 256)
  if stop - o < h.len then return end
  local item = draw_header(root, tvb, o, h.len, h)
  if byte(s, o + 2) ~= CM_CLASS then return end
  local message = HEADERS[CM_MESSAGES[u16(s, o + 16)] or ""]
  o = o + h.len
  if message == nil or stop - o < message.len then return end
  item:append_text(", connection management " .. message.name)
  draw_header(item, tvb, o, message.len, message)
  local service = message == HEADERS.req and o + 8
  o = o + message.len
  if service and u32(s, service) == 0 and byte(s, service + 5) == 1 and stop - o >= HEADERS.ip_cm.len then
    draw_header(item, tvb, o, HEADERS.ip_cm.len, HEADERS.ip_cm)
    o = o + HEADERS.ip_cm.len
  end
  local rate = HEADERS.rate
  if (service or message == HEADERS.rep) and stop - o >= rate.len and u32(s, o) == RATE_MAGIC and byte(s, o + 5) == RATE_VERSION then
    draw_header(item, tvb, o, rate.len, rate)
  end
end

-- draw adds the packet whose BTH is at o of the tvb and of s, its bytes. captured
-- and wire count from the BTH on. It returns the item.
function draw(tree, tvb, s, o, captured, wire, carrier, status, sum)
  captured = min(captured, wire)
  local root = tree:add(rdma, tvb:range(o, captured))
  if captured < 12 then
    local _, _, fault = parts(0, 0, captured, wire)
    root:add(F.error, fault):set_generated()
    root:add(F.icrc_status, "absent"):set_generated()
    return root
  end
  local op, flags = byte(s, o + 1, o + 2)
  local form = FORMS[op]
  local title = form and form.name or string.format("Opcode(0x%02x)", op)
  root:append_text(string.format(", %s, QP 0x%06x, PSN %d", title, u24(s, o + 5), u24(s, o + 9)))
  root:add(F.opcode_name, tvb:range(o, 1), title)
  root:add(F.carrier, carrier):set_generated()
  local item = draw_header(root, tvb, o, 12, HEADERS.bth)
  if op == CNP then item:add_proto_expert_info(X.cnp) end
  local list, n, fault = parts(op, floor(flags / 16) % 4, captured, wire)
  local behind = 12
  for _, part in ipairs(list) do
    local h, at, len = part[1], part[2], part[3]
    behind = at + len
    if h == HEADERS.tcaeth then
      draw_report(root, tvb, s, o + at, len)
    else
      item = draw_header(root, tvb, o + at, len, h)
      if h == HEADERS.aeth then
        local v = byte(s, o + at + 1)
        local kind, code = floor(v / 32) % 4, v % 32
        item:append_text(": " .. syndrome_text(v))
        item:add(F.kind, tvb:range(o + at, 1), KINDS[kind]):set_generated()
        if kind == 0 and CREDITS[code] then item:add(F.credits, tvb:range(o + at, 1), CREDITS[code]):set_generated() end
        if kind == 1 then item:add(F.rnr_timer, tvb:range(o + at, 1), RNR_TIMERS[code]):set_generated() end
        if kind == 3 then item:add(F.nak_code, tvb:range(o + at, 1), code):set_generated() end
      end
    end
  end
  if fault then
    root:add(F.error, fault):set_generated()
    root:add_proto_expert_info(X.error, fault)
  else
    root:add(F.payload_len, n):set_generated()
    local here = min(n, captured - behind)
    if here > 0 then
      root:add(F.payload, tvb:range(o + behind, here))
      if form.service == "UD" and u24(s, o + 5) == 1 then draw_management(root, tvb, s, o + behind, o + behind + here) end
    end
    local pad = min(wire - 4, captured) - behind - n
    if pad > 0 then root:add(F.pad, tvb:range(o + behind + n, pad)) end
  end
  if captured == wire and wire >= 16 then
    item = root:add_le(F.icrc, tvb:range(o + wire - 4, 4))
    if status == "bad" then
      item:append_text(string.format(", should be 0x%s", sum))
      item:add_proto_expert_info(X.icrc)
    end
  else
    status = "absent"
  end
  root:add(F.icrc_status, status):set_generated()
  return root
end

local function span_of(ns)
  ns = max(ns, 0)
  local seconds = floor(ns / 1e9)
  return NSTime.new(seconds, floor(ns - seconds * 1e9))
end

-- draw_expert adds the expert information of a frame.
function draw_expert(item, m)
  for _, g in ipairs(m.gaps or {}) do
    item:add_proto_expert_info(X.gap, "PSN " .. psns(g.first, g.last) .. " is missing (" .. g.kind .. ")")
  end
  for _, again in ipairs(m.again or {}) do
    item:add_proto_expert_info(X.lost_again, "PSN " .. psns(again[1], again[2]) .. " was sent again and is missing once more")
  end
  if m.cause then item:add_proto_expert_info(X.retransmission, "Retransmission (" .. m.cause .. ")") end
  if m.late then item:add_proto_expert_info(X.out_of_order) end
  if m.nak then item:add_proto_expert_info(X.nak, m.nak_psn and "NAK: PSN " .. m.nak_psn .. " is missing" or "NAK: " .. m.nak) end
  if m.rnr then item:add_proto_expert_info(X.rnr_nak) end
  if m.duplicate then item:add_proto_expert_info(X.duplicate) end
end

-- draw_marks adds what the analysis has to say of a frame.
function draw_marks(root, m, frame)
  local by, acks, rtt = acked_by[frame], acks_of[frame], rtts[frame]
  if m == nil and by == nil and acks == nil and rtt == nil then return end
  local item = root:add(F.analysis)
  item:set_generated()
  local add = function(field, ...) return item:add(field, ...):set_generated() end
  if by then add(F.frame_acked_by, by) end
  if acks then add(F.acks_frame, acks) end
  if rtt then add(F.rtt, span_of(rtt)) end
  if m == nil then return end
  for _, g in ipairs(m.gaps or {}) do
    add(F.gap, psns(g.first, g.last))
    add(F.gap_first, g.first % 0x1000000)
    add(F.gap_last, g.last % 0x1000000)
    add(F.gap_count, g.last - g.first + 1)
    add(F.gap_evidence, g.confirmed and g.kind .. ", " .. g.confirmed or g.kind)
    if g.closed then add(F.gap_closed, g.closed) end
    if g.closed_frame then add(F.gap_closed_by, g.closed_frame) end
  end
  for _, again in ipairs(m.again or {}) do
    add(F.lost_again, psns(again[1], again[2]))
  end
  if m.cause then
    add(F.retransmission)
    add(F.retransmission_cause, m.cause)
    if m.of then add(F.retransmission_of, m.of) end
    if m.nak_frame then add(F.nak_frame, m.nak_frame) end
    if m.reaction and m.reaction >= 0 then add(F.nak_to_retransmission, span_of(m.reaction)) end
  end
  if m.late then add(F.out_of_order) end
  if m.nak then
    add(F.nak)
    if m.nak_psn then add(F.nak_psn, m.nak_psn) end
  end
  if m.rnr then add(F.rnr_nak) end
  if m.duplicate then add(F.duplicate_ack) end
  if m.copy then add(F.duplicate_capture) end
  if m.names then add(F.names_frame, m.names) end
  draw_expert(item, m)
end

end

-- note_of is what the Info column says of a frame.
local function note_of(m)
  local words = {}
  for _, g in ipairs(m.gaps or {}) do words[#words + 1] = "[Gap " .. psns(g.first, g.last) .. "]" end
  for _, again in ipairs(m.again or {}) do words[#words + 1] = "[Lost again " .. psns(again[1], again[2]) .. "]" end
  if m.cause then words[#words + 1] = "[Retransmission: " .. m.cause .. "]" end
  if m.late then words[#words + 1] = "[Out of order]" end
  if m.duplicate then words[#words + 1] = "[Duplicate ACK]" end
  if m.copy then words[#words + 1] = "[Captured twice]" end
  return table.concat(words, " ")
end

-- Where Wireshark comes in.

rdma.prefs.full = Pref.bool("Dissect RDMA in full, in place of the built-in dissectors", false, "RoCEv2, RoCEv1 and InfiniBand in ERF are dissected here and by nobody else")
rdma.prefs.analysis = Pref.bool("Analyse sequence numbers", true, "Find gaps, retransmissions and round trips on the first pass")
rdma.prefs.info = Pref.bool("Add to the Info column", true, "Say there what was lost or sent again, and name operations that the built-in dissector does not know")
rdma.prefs.icrc = Pref.bool("Check the ICRC", false, "In Lua this takes its time: some 150 microseconds for 1,024 bytes")
rdma.prefs.ports = Pref.string("UDP ports", "4791", "Destination ports of RoCEv2, with commas between them")
rdma.prefs.summary = Pref.bool("Print a summary for each queue pair (tshark)", false, "When tshark has read the capture: what was lost and sent again")

local settings = { full = false, analysis = true, info = true, icrc = false }

local MAX_DOUBTS = 0x400000 -- bytes of frames whose ICRC alone can tell what they are

local statuses = {} -- of the ICRC, by frame; "good" goes without saying where all are checked
local sums = {}     -- what a bad ICRC should be
local proven = {}   -- frames of which only the ICRC tells that they are RDMA
local doubts = 0
local newest = -1   -- the highest frame number seen
local checking = false -- the ICRC, of packets that have one
local drawn = -1    -- the frame that the full dissector has drawn already
local claimed = {}  -- UDP ports that the user decodes as RDMA
local self          -- our own Dissector, to ask whether anybody wants our fields

local p = {} -- the packet at hand

-- check computes the ICRC of the packet that at describes.
local function check(s, frame)
  local crc, found = icrc(s)
  if crc == nil then return "absent" end
  if crc == found then return "good" end
  sums[frame] = string.format("%08x", crc)
  return "bad"
end

-- read takes from the packet what the analysis needs.
local function read(s, form, frame, time, op, flags, b8, psn)
  local o, wire = at.bth, at.wire
  local have = min(at.stop - o, wire)
  p.frame, p.time, p.op, p.form, p.psn = frame, time, op, form, psn
  p.ackreq, p.retx, p.synchronised = b8 >= 128, floor(b8 / 32) % 2 == 1, floor(b8 / 16) % 2 == 1
  p.payload = max(0, wire - 4 - floor(flags / 16) % 4 - form.len)
  p.syndrome, p.msn, p.dmalen, p.sack, p.aack, p.echoes_retx, p.finished, p.segments, p.fault, p.damaged = nil
  local limit = min(have, wire - 4)
  if form.reth and form.reth + 16 <= limit then p.dmalen = u32(s, o + form.reth + 12) end
  if form.aeth and form.aeth + 4 <= limit then
    p.syndrome, p.msn = byte(s, o + form.aeth + 1), u24(s, o + form.aeth + 1)
  end
  if form.sack and form.sack + 4 <= limit then p.sack = u24(s, o + form.sack + 1) end
  if form.mp and form.mp + 4 <= limit then
    p.echoes_retx, p.aack = floor(byte(s, o + form.mp + 1) / 64) % 2 == 1, u24(s, o + form.mp + 1)
  end
  if form.reports and (p.payload == TCAETH or p.payload == TCAETH_SHORT) then
    local n = p.payload
    p.payload = 0
    if form.aeth + 4 + n <= have then p.finished, p.segments, p.fault = report(s, o + form.aeth + 4) end
  end
end

-- analyse follows a packet on the first pass. It returns false where the frame
-- turns out to be something else.
local function analyse(s, pinfo, frame)
  local o = at.bth
  local op, flags, k1, k2, b4, q1, q2, q3, b8, s1, s2, s3 = byte(s, o + 1, o + 12)
  local qp, pkey = (q1 * 256 + q2) * 256 + q3, k1 * 256 + k2
  local form = FORMS[op]
  local grade = judge(op, flags, pkey, b4, qp, b8, at.wire)
  local status = "unchecked"
  if settings.icrc then
    status = check(s, frame)
  elseif grade == IMPLAUSIBLE and doubts < MAX_DOUBTS then
    doubts = doubts + at.wire
    status = check(s, frame)
    if status ~= "good" then status = "unchecked" end
  end
  if status == "good" then
    if grade == IMPLAUSIBLE then proven[frame] = true end
    grade = PROVEN
  end
  if grade == IMPLAUSIBLE then return false end
  if status ~= "unchecked" then statuses[frame] = status end
  if op == CNP then mark(frame).cnp = true end
  if not settings.analysis or form == nil or op == CNP then return true end
  if form.service == "UD" then
    if qp == 1 and form.payload then manage(s, o + form.len, at.stop) end
    return true
  end
  local by_qp = halves[at.src .. at.dst]
  local h = by_qp and by_qp[qp]
  if h == nil then
    if grade == MISFIT then return true end
    h = new_half(at.src, at.dst, qp, form)
    if h == nil then return true end
  end
  local time = floor(pinfo.rel_ts * 1e9 + 0.5)
  read(s, form, frame, time, op, flags, b8, (s1 * 256 + s2) * 256 + s3)
  p.id, p.sport = at.id, at.sport
  if mirrored(h, p) then
    mark(frame).copy = true
    return true
  end
  number(h.req, p)
  if status == "good" then
    h.good = h.good + 1
  elseif status == "bad" then
    h.bad = h.bad + 1
    local n = h.good + h.bad
    p.damaged = not (n >= 8 and h.bad * 2 > n or h.good == 0)
  end
  if p.syndrome and form.verb == "ack" then
    local kind = floor(p.syndrome / 32) % 4
    if kind == 3 then
      local m = mark(frame)
      m.nak = NAK_CODES[p.syndrome % 32] or "code " .. p.syndrome % 32
      if p.syndrome % 128 == 0x60 then m.nak_psn = p.psn end
    elseif kind == 1 then
      mark(frame).rnr = true
    end
  end
  take(h, p)
  return true
end

local function none(address)
  local text = tostring(address)
  return text == "" or text == "NONE"
end

-- dissect begins with the short way: that of a request which is new data and in
-- order, nearly every packet there is, in the framing that nearly all have. It
-- does what analyse would do, and no more. Every step of it counts.
local function dissect(tvb, pinfo, tree)
  local n = tvb:captured_len()
  local s = tvb:raw(0, n < 128 and n or 128)
  local frame, first = pinfo.number, not pinfo.visited
  if first then
    -- Frames that a read filter drops have no number of their own.
    if frame == newest then marks[frame], acks_of[frame], rtts[frame], proven[frame], statuses[frame] = nil end
    newest = frame
  end
  local located = false
  if n >= 54 then
    local e1, e2, v, tos, l1, l2, i1, i2, f1, f2, _, protocol, _, _, _, _, _, _, _, _, _, _, p1, p2, d1, d2, u1, u2, _, _,
      op, flags, k1, k2, _, q1, q2, q3, b8, s1, s2, s3 = byte(s, 13, 54)
    if e1 == 8 and e2 == 0 and v == 0x45 and protocol == 17 and f1 % 64 == 0 and f2 == 0 and ports[d1 * 256 + d2] then
      local ulen = u1 * 256 + u2
      if ulen >= 20 and ulen + 20 <= l1 * 256 + l2 then
        local form, by_qp = FORMS[op], halves[sub(s, 27, 34)]
        local h = by_qp and by_qp[(q1 * 256 + q2) * 256 + q3]
        if h and first and form and form.plain and flags % 16 == 0 and k1 + k2 > 0 and b8 % 32 < 16 and
          (not checking or n < 34 + ulen) then
          local q, psn, left, pad = h.req, (s1 * 256 + s2) * 256 + s3, ulen - 12 - form.len, flags % 64 / 16
          if q.expect == psn and q.sport == p1 * 256 + p2 and left >= pad and left % 4 == 0 and (form.ends or left - pad == h.mtu) then
            local seq, k, now = q.top, q.n + 1, floor(pinfo.rel_ts * 1e9 + 0.5)
            q.top, q.next, q.n, q.last_time = seq + 1, seq + 1, k, now
            q.seqs[k], q.frames[k], q.times[k], q.ids[k] = seq, frame, now, i1 * 256 + i2
            q.expect = (psn + 1) % 0x1000000
            q.open = not form.ends
            if b8 >= 128 then
              q.asks_ack[q.asked % 8 + 1] = { seq, now, true, frame }
              q.asked = q.asked + 1
            end
            if not tree:referenced(self) then return end
            first = false -- followed already
          end
        end
        if h or pinfo.dst_port ~= 0 then -- of a link type that Wireshark cannot follow nothing is known
          at.carrier, at.start, at.bth, at.wire, at.stop = IPV4, 14, 42, ulen - 8, min(n, 34 + ulen)
          at.id, at.sport, at.marked = i1 * 256 + i2, p1 * 256 + p2, tos % 4 == 3
          if first then at.src, at.dst = sub(s, 27, 30), sub(s, 31, 34) end
          located = true
        end
      end
    end
  end
  local m = marks[frame]
  local wanted = tree:referenced(self)
  if not located then
    if n > 128 then s = tvb:raw(0, n) end
    located = locate(s, tvb:reported_len(), claimed[pinfo.dst_port] and pinfo.dst_port)
    if not located then return end
    if at.carrier == IPV4 or at.carrier == IPV6 then
      if pinfo.dst_port == 0 and none(pinfo.net_src) then return end
    elseif none(pinfo.dl_src) and none(pinfo.src) then
      return
    end
  elseif n > 128 and (wanted or settings.icrc or at.stop > 128 and first) then
    s = tvb:raw(0, n)
  end
  if at.stop - at.bth < 12 then -- cut within the BTH
    if wanted and drawn ~= frame then
      draw(tree, tvb, s, at.bth, at.stop - at.bth, at.wire, CARRIER_NAMES[at.carrier], "absent")
    end
    return
  end
  if first then
    if not analyse(s, pinfo, frame) then return end
    m = marks[frame]
  elseif not proven[frame] then
    local op, flags, k1, k2, b4, q1, q2, q3, b8 = byte(s, at.bth + 1, at.bth + 9)
    if judge(op, flags, k1 * 256 + k2, b4, (q1 * 256 + q2) * 256 + q3, b8, at.wire) == IMPLAUSIBLE then return end
  end
  local loud = m and (m.gaps or m.again or m.cause or m.late or m.nak or m.rnr or m.duplicate or m.copy)
  if loud and settings.info then
    local note = note_of(m)
    if note ~= "" then pinfo.cols.info:append(" " .. note) end
  end
  local op = byte(s, at.bth + 1)
  if settings.info and FORMS[op] and FORMS[op].unknown_to_wireshark and drawn ~= frame then
    pinfo.cols.info:append(" [" .. FORMS[op].name .. "]")
  end
  if not wanted then
    -- Nobody looks at the tree, but somebody may count expert information.
    if loud then draw_expert(tree, m) end
    return
  end
  local root
  if drawn == frame then
    root = tree:add(rdma, tvb:range(at.bth, min(at.stop - at.bth, at.wire)))
  else
    root = draw(tree, tvb, s, at.bth, at.stop - at.bth, at.wire, CARRIER_NAMES[at.carrier],
      statuses[frame] or "unchecked", sums[frame])
  end
  draw_marks(root, m, frame)
end

function rdma.dissector(tvb, pinfo, tree)
  self = self or Dissector.get("rdma")
  dissect(tvb, pinfo, tree)
end

register_postdissector(rdma)

-- The full dissector, for who wants it: one for each carrier, to be put where
-- the built-in ones are.

local places = {} -- the dissector tables where the full dissectors go

do

local function full(name, text, find)
  local proto = Proto(name, text .. " (rdmadump " .. VERSION .. ")")
  function proto.dissector(tvb, pinfo, tree)
    local n = tvb:captured_len()
    local s = tvb:raw(0, n)
    local o, wire, carrier = find(s, tvb:reported_len())
    if o == nil or n - o < 12 then return 0 end
    local op, flags, k1, k2, b4, q1, q2, q3, b8, s1, s2, s3 = byte(s, o + 1, o + 12)
    local qp = (q1 * 256 + q2) * 256 + q3
    if not proven[pinfo.number] and judge(op, flags, k1 * 256 + k2, b4, qp, b8, wire) == IMPLAUSIBLE then return 0 end
    if carrier == "rocev2" and not ports[pinfo.dst_port] then claimed[pinfo.dst_port] = true end
    pinfo.cols.protocol = text
    local form = FORMS[op]
    pinfo.cols.info = string.format("%s QP=0x%06x PSN=%d", form and form.name or string.format("Opcode(0x%02x)", op), qp,
      (s1 * 256 + s2) * 256 + s3)
    if form and form.aeth and o + form.aeth + 4 <= n then
      pinfo.cols.info:append(" " .. syndrome_text(byte(s, o + form.aeth + 1)))
    end
    self = self or Dissector.get("rdma")
    if tree:referenced(self) then
      draw(tree, tvb, s, o, n - o, wire, carrier, statuses[pinfo.number] or "unchecked", sums[pinfo.number])
    end
    drawn = pinfo.number
    return n
  end
  return proto
end

local roce2 = full("rdma_roce2", "RoCEv2", function(_, wire) return 0, wire, "rocev2" end)

local roce1 = full("rdma_roce1", "RoCEv1", function(s)
  if #s < 40 then return nil end
  return 40, u16(s, 4), "rocev1"
end)

local infiniband = full("rdma_ib", "InfiniBand", function(s)
  if #s < 8 then return nil end
  local after, wire = byte(s, 2) % 4, u16(s, 4) % 2048 * 4
  if after == 2 then return 8, wire - 8, "ib" end
  if after == 3 and #s >= 48 then return 48, wire - 48, "ib" end
end)

local function add(name, key, proto)
  local ok, t = pcall(DissectorTable.get, name)
  if ok and t then places[#places + 1] = { table = t, key = key, proto = proto, old = t:get_dissector(key) } end
  return ok and t
end

local udp_ports = add("udp.port", 4791, roce2)
add("ethertype", 0x8915, roce1)
add("erf.types.type", 21, infiniband)
if udp_ports then udp_ports:add_for_decode_as(roce2) end
roce2:register_heuristic("udp", function(tvb, pinfo, tree)
  if not settings.full or not ports[pinfo.dst_port] then return false end
  return roce2.dissector(tvb, pinfo, tree) > 0
end)

end

local function settle()
  local prefs = rdma.prefs
  for _, name in ipairs { "analysis", "info", "icrc" } do settings[name] = prefs[name] end
  ports = {}
  for number in string.gmatch(prefs.ports or "", "%d+") do ports[tonumber(number)] = true end
  if prefs.full ~= settings.full then
    settings.full = prefs.full
    for _, place in ipairs(places) do
      local dissector = settings.full and place.proto or place.old
      if dissector then place.table:set(place.key, dissector) end
    end
  end
end

local listen -- see the summary

function rdma.prefs_changed()
  settle()
  listen()
end

function rdma.init()
  settle()
  forget()
  statuses, sums, proven, doubts, drawn, newest = {}, {}, {}, 0, -1, -1
  checking = settings.icrc
end

-- A summary for each half: of tshark when it has read the capture, of Wireshark
-- in the Tools menu.

do

local function address_text(a)
  if #a == 4 then return string.format("%d.%d.%d.%d", byte(a, 1, 4)) end
  if #a == 2 then return "lid:" .. u16(a, 0) end
  local groups = {}
  for i = 0, 14, 2 do groups[#groups + 1] = string.format("%x", u16(a, i)) end
  return table.concat(groups, ":")
end

local function summary_text()
  local lines = {
    "RDMA sequence analysis by queue pair",
    "",
    string.format("%-42s %-8s %-11s %9s %6s %8s %8s %6s %6s %6s %10s", "sent to", "QP", "transport", "packets", "gaps",
      "missing", "resent", "late", "NAKs", "RNR", "min RTT")
  }
  local rows = 0
  for _, h in ipairs(all) do
    for _, s in ipairs { h.req, h.resp } do
      if s.on then
        local back = h.partner
        rows = rows + 1
        lines[#lines + 1] = string.format("%-42s %-8s %-11s %9d %6d %8s %8d %6d %6s %6s %10s",
          address_text(h.src) .. " > " .. address_text(h.dst), string.format("0x%06x", h.qp),
          s.response and "responses" or h.service == "UC" and "UC" or h.transport, s.n + s.again, s.gaps, whole(s.missing), s.resent, s.late,
          s.response and "" or back and back.naks or "?", s.response and "" or back and back.rnr or "?",
          s.rtt > 0 and string.format("%.1f us", s.rtt / 1000) or "")
      end
    end
  end
  if rows == 0 then lines[#lines + 1] = "no packets of connected services" end
  return table.concat(lines, "\n") .. "\n"
end

local listener

-- listen prints the summary at the end, where tshark is asked for it. tshark -z
-- cannot name a tap of Lua's, but a listener draws when the capture was read.
listen = function()
  if rdma.prefs.summary and listener == nil and not gui_enabled() then
    listener = Listener.new("frame")
    function listener.draw() print(summary_text()) end
  end
end

if gui_enabled() then
  register_menu("RDMA/Loss by queue pair", function()
    local window = TextWindow.new("RDMA loss by queue pair")
    window:set(summary_text())
  end, MENU_TOOLS_UNSORTED)
end

end
