package transport

import "github.com/rdmadump/rdmadump/psn"

// Buffer counts what a sender has to keep so that it can be sent again: the
// request packets from the oldest that is not acknowledged to the newest that was
// sent. A packet that is acknowledged selectively is kept too, since a buffer in
// the order of PSNs is freed from its oldest end. Of a READ that is the request
// alone: the responder makes its responses from memory.
type Buffer struct {
	Packets     int
	Bytes       int64 // of their payload
	MostPackets int   // at any moment until now
	MostBytes   int64
}

// keep adds a packet that is sent for the first time.
func (b *Buffer) keep(payload int64) {
	b.Packets++
	b.Bytes += payload
	b.MostPackets, b.MostBytes = max(b.MostPackets, b.Packets), max(b.MostBytes, b.Bytes)
}

// span is how many packets and bytes of payload the PSNs of a message from one up
// to another are. A READ is one packet, that of its last PSN, for so long its
// request is needed.
func (m *Message) span(from, to psn.Seq, mtu int) (packets int, bytes int64) {
	if !m.Verb.Answered() {
		begin, end := int64(from-m.First)*int64(mtu), int64(to-m.First)*int64(mtu)
		return int(to - from), min(end, int64(m.Length)) - min(begin, int64(m.Length))
	}
	if to == m.End() {
		packets = 1
	}
	return packets, 0
}

// free takes what was sent before upto out of the buffer.
func (q *SendQueue) free(upto psn.Seq) {
	b := q.qp.Buffer
	if b == nil {
		return
	}
	found := q.found
	for s := q.Una; s < min(upto, q.Nxt); {
		m := q.Find(s)
		next := min(m.End(), upto, q.Nxt)
		packets, bytes := m.span(s, next, q.qp.MTU)
		b.Packets -= packets
		b.Bytes -= bytes
		s = next
	}
	q.found = found
}
