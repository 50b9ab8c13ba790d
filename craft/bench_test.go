package craft

import (
	"fmt"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
)

// A complete line of a packet of 1 KiB.
func BenchmarkLine(b *testing.B) {
	line := fmt.Appendf(nil, `{"frame":1,"time":"1700000000.000000000","carrier":"rocev2","src":"10.0.0.1","dst":"10.0.0.2","sport":49152,"link":1,"caplen":1082,"wirelen":1082,`+
		`"eth":{"dst":"02:00:00:00:00:02","src":"02:00:00:00:00:01","type":2048},"ip":{"version":4,"hdr_len":20,"dsfield":2,"len":1068,"id":1,"flags":2,"frag_offset":0,"ttl":64,"proto":17,"checksum":1,"src":"10.0.0.1","dst":"10.0.0.2"},`+
		`"udp":{"srcport":49152,"dstport":4791,"length":1048,"checksum":0},"opcode_name":"RC RDMA WRITE Middle","bth":{"opcode":7,"se":0,"m":0,"padcnt":0,"tver":0,"p_key":65535,"fecn":0,"becn":0,"rsv6":0,"destqp":17,"a":0,"rsv1":0,"retx":0,"synchronise":0,"rsv4":0,"psn":1000},`+
		`"payload_len":1024,"icrc":"good","payload":"%02048x","pad":"","icrc_bytes":"01020304"}`, 0)
	var builder Builder
	var f dissect.Frame
	b.SetBytes(1082)
	for b.Loop() {
		o, err := Parse(line)
		if err == nil {
			err = builder.Frame(o, &f)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
