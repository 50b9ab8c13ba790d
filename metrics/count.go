package metrics

import "github.com/rdmadump/rdmadump/dissect"

// count is something that is counted of each direction of a connection.
type count struct {
	name  string // behind rdmadump_ and rdmadump_connection_, before _total
	help  string
	field func(*dissect.Counts) *int64
}

func (c *count) get(of *dissect.Counts) int64 { return *c.field(of) }

var counts = []count{
	{"packets", "Request and READ response packets, retransmitted ones included.", func(c *dissect.Counts) *int64 { return &c.Packets }},
	{"payload_bytes", "Payload of request and READ response packets, retransmitted ones included.", func(c *dissect.Counts) *int64 { return &c.PayloadBytes }},
	{"lost_packets", "Copies of packets that the network lost, as far as that is proved.", func(c *dissect.Counts) *int64 { return &c.Lost }},
	{"retransmitted_packets", "Packets whose PSN had been sent before.", func(c *dissect.Counts) *int64 { return &c.Retransmitted }},
	{"not_captured_packets", "PSNs that were acknowledged and that this capture missed: no loss of the network.", func(c *dissect.Counts) *int64 { return &c.NotCaptured }},
	{"reordered_packets", "Packets that came late, overtaken by others.", func(c *dissect.Counts) *int64 { return &c.Reordered }},
	{"damaged_packets", "Packets with a bad ICRC.", func(c *dissect.Counts) *int64 { return &c.Damaged }},
	{"acks", "Positive acknowledgements of the packets.", func(c *dissect.Counts) *int64 { return &c.Acks }},
	{"naks", "NAKs of the packets, RNR NAKs apart.", func(c *dissect.Counts) *int64 { return &c.Naks }},
	{"rnr_naks", "RNR NAKs: the receiver had no receive request ready.", func(c *dissect.Counts) *int64 { return &c.RNRNaks }},
	{"timeouts", "ACK timers that ran out at the sender.", func(c *dissect.Counts) *int64 { return &c.Timeouts }},
	{"ce_marked_packets", "Packets with a CE mark, feedback that goes the same way included.", func(c *dissect.Counts) *int64 { return &c.CEMarked }},
	{"cnps", "Congestion notification packets that ask the sender to slow down.", func(c *dissect.Counts) *int64 { return &c.CNPs }},
}
