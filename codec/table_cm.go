package codec

// The rows of management datagrams. Keys are Wireshark's names below
// infiniband.mad, infiniband.cm.req and so on where it has them.

var madFields = []Field{
	{"BaseVersion", "baseversion", 0, 8, Dec, "version of the MAD format, 1"},
	{"Class", "mgmtclass", 8, 8, Hex, "management class: 0x07 connection management"},
	{"ClassVersion", "classversion", 16, 8, Dec, "version of the class"},
	{"Method", "method", 24, 8, Hex, "0x03 Send"},
	{"Status", "status", 32, 16, Hex, "status"},
	{"ClassSpecific", "classspecific", 48, 16, Hex, "of the class"},
	{"TransactionID", "transactionid", 64, 64, Hex, "pairs request and answer"},
	{"Attribute", "attributeid", 128, 16, Hex, "which message follows"},
	{"Rsv16", "", 144, 16, Dec, "reserved"},
	{"AttributeModifier", "attributemodifier", 160, 32, Hex, "modifier of the attribute"},
}

var reqFields = append(append([]Field{
	{"LocalCommID", "localcommid", 0, 32, Hex, "the sender's name for this connection attempt"},
	{"Rsv32a", "", 32, 32, Dec, "reserved"},
	{"ServiceID", "serviceid", 64, 64, Hex, "what is asked for; 0x0000000001, IP protocol and port in RDMA IP CM"},
	{"LocalCAGUID", "localcaguid", 128, 64, Hex, "the sender's channel adapter"},
	{"Rsv32b", "", 192, 32, Dec, "reserved"},
	{"LocalQKey", "localqkey", 224, 32, Hex, "queue key"},
	{"LocalQPN", "localqpn", 256, 24, Hex, "the sender's queue pair"},
	{"ResponderResources", "responderres", 280, 8, Dec, "READs and atomics that the sender can answer at a time"},
	{"LocalEECN", "localeecn", 288, 24, Hex, "the sender's end-to-end context"},
	{"InitiatorDepth", "initdepth", 312, 8, Dec, "READs and atomics that the sender will have outstanding"},
	{"RemoteEECN", "remoteeecn", 320, 24, Hex, "the receiver's end-to-end context"},
	{"RemoteCMTimeout", "remoteresptout", 344, 5, Dec, "time for the receiver to answer, 4.096 us x 2^n"},
	{"TransportService", "transpsvctype", 349, 2, Dec, "0 RC, 1 UC, 2 RD, 3 extended"},
	{"EndToEndFlow", "e2eflowctrl", 351, 1, Flag, "the sender wants credits"},
	{"StartingPSN", "startpsn", 352, 24, Dec, "first PSN that the sender will send"},
	{"LocalCMTimeout", "localresptout", 376, 5, Dec, "time in which the sender answers, 4.096 us x 2^n"},
	{"RetryCount", "retrcount", 381, 3, Dec, "retries after a timeout or sequence NAK"},
	{"PKey", "pkey", 384, 16, Hex, "partition key"},
	{"PathMTU", "pppmtu", 400, 4, Dec, "1 to 5: 256 to 4096 bytes"},
	{"RDCExists", "rdcexist", 404, 1, Flag, "an RD channel exists"},
	{"RNRRetryCount", "rnrretrcount", 405, 3, Dec, "retries after an RNR NAK, 7 without end"},
	{"MaxCMRetries", "maxcmretr", 408, 4, Dec, "times that a CM message is sent again"},
	{"SRQ", "srq", 412, 1, Flag, "the sender's queue pair uses a shared receive queue"},
	{"ExtTransport", "ext_transport", 413, 3, Dec, "1 XRC where the service is extended"},
}, pathFields("Primary", "prim_", 416)...), pathFields("Alternate", "alt_", 768)...)

// pathFields are the rows of one path of a REQ, from bit off on.
func pathFields(name, key string, off int) []Field {
	rows := []Field{
		{"LocalLID", "locallid", 0, 16, Dec, "the sender's local identifier"},
		{"RemoteLID", "remotelid", 16, 16, Dec, "the receiver's local identifier"},
		{"LocalGID", "localgid", 32, 128, GID, "the sender's address"},
		{"RemoteGID", "remotegid", 160, 128, GID, "the receiver's address"},
		{"FlowLabel", "flowlabel", 288, 20, Hex, "flow label"},
		{"Rsv6", "", 308, 6, Dec, "reserved"},
		{"PacketRate", "pktrate", 314, 6, Dec, "code of the static rate"},
		{"TrafficClass", "tfcclass", 320, 8, Hex, "traffic class"},
		{"HopLimit", "hoplim", 328, 8, Dec, "hop limit"},
		{"SL", "sl", 336, 4, Dec, "service level"},
		{"SubnetLocal", "subnetlocal", 340, 1, Flag, "the path stays in the subnet"},
		{"Rsv3a", "", 341, 3, Dec, "reserved"},
		{"LocalAckTimeout", "localacktout", 344, 5, Dec, "wait for an ACK, 4.096 us x 2^n"},
		{"Rsv3b", "", 349, 3, Dec, "reserved"},
	}
	for i := range rows {
		rows[i].Name = name + "." + rows[i].Name
		rows[i].Off += off
		if !rows[i].Reserved() {
			rows[i].Key = key + rows[i].Key
		}
	}
	return rows
}

var repFields = []Field{
	{"LocalCommID", "localcommid", 0, 32, Hex, "the sender's name for this connection attempt"},
	{"RemoteCommID", "remotecommid", 32, 32, Hex, "the receiver's"},
	{"LocalQKey", "localqkey", 64, 32, Hex, "queue key"},
	{"LocalQPN", "localqpn", 96, 24, Hex, "the sender's queue pair"},
	{"Rsv8a", "", 120, 8, Dec, "reserved"},
	{"LocalEECN", "localeecn", 128, 24, Hex, "the sender's end-to-end context"},
	{"Rsv8b", "", 152, 8, Dec, "reserved"},
	{"StartingPSN", "startpsn", 160, 24, Dec, "first PSN that the sender will send"},
	{"Rsv8c", "", 184, 8, Dec, "reserved"},
	{"ResponderResources", "respres", 192, 8, Dec, "READs and atomics that the sender can answer at a time"},
	{"InitiatorDepth", "initdepth", 200, 8, Dec, "READs and atomics that the sender will have outstanding"},
	{"TargetAckDelay", "tgtackdelay", 208, 5, Dec, "time to answer, 4.096 us x 2^n"},
	{"Failover", "failoveracc", 213, 2, Dec, "0: the alternate path was accepted"},
	{"EndToEndFlow", "e2eflowctrl", 215, 1, Flag, "the sender wants credits"},
	{"RNRRetryCount", "rnrretrcount", 216, 3, Dec, "retries after an RNR NAK, 7 without end"},
	{"SRQ", "srq", 219, 1, Flag, "the sender's queue pair uses a shared receive queue"},
	{"Rsv4", "", 220, 4, Dec, "reserved"},
	{"LocalCAGUID", "localcaguid", 224, 64, Hex, "the sender's channel adapter"},
}

// commIDs are the rows of RTU and DREP.
var commIDs = []Field{
	{"LocalCommID", "localcommid", 0, 32, Hex, "the sender's name for this connection attempt"},
	{"RemoteCommID", "remotecommid", 32, 32, Hex, "the receiver's"},
}

var dreqFields = []Field{
	{"LocalCommID", "localcommid", 0, 32, Hex, "the sender's name for this connection"},
	{"RemoteCommID", "remotecommid", 32, 32, Hex, "the receiver's"},
	{"RemoteQPN", "remoteqpneecn", 64, 24, Hex, "the receiver's queue pair"},
	{"Rsv8", "", 88, 8, Dec, "reserved"},
}

var rejFields = []Field{
	{"LocalCommID", "localcommid", 0, 32, Hex, "the sender's name for this connection attempt"},
	{"RemoteCommID", "remotecommid", 32, 32, Hex, "the receiver's"},
	{"MessageRejected", "msgrej", 64, 2, Dec, "0 REQ, 1 REP, 2 none"},
	{"Rsv6", "", 66, 6, Dec, "reserved"},
	{"InfoLength", "rejinfolen", 72, 7, Dec, "bytes of additional information"},
	{"Rsv1", "", 79, 1, Dec, "reserved"},
	{"Reason", "reason", 80, 16, Dec, "why"},
	{"Info", "ari", 96, 576, Data, "additional information"},
}

var ipcmFields = []Field{
	{"MajorVersion", "majv", 0, 4, Dec, "0"},
	{"MinorVersion", "minv", 4, 4, Dec, "0"},
	{"IPVersion", "ipv", 8, 4, Dec, "4 or 6"},
	{"Rsv4", "", 12, 4, Dec, "reserved"},
	{"SrcPort", "sport", 16, 16, Dec, "source port"},
	{"SrcAddr", "sip", 32, 128, GID, "source address; IPv4 in the last 4 bytes"},
	{"DstAddr", "dip", 160, 128, GID, "destination address; IPv4 in the last 4 bytes"},
}

var rateFields = []Field{
	{"Magic", "magic", 0, 32, Hex, "0x54434145"},
	{"Version", "version", 32, 8, Dec, "1"},
	{"Rsv24", "", 40, 24, Dec, "reserved"},
	{"PacketsPerSecond", "rate", 64, 32, Dec, "packets per second"},
}
