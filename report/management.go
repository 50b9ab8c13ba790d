package report

import (
	"strconv"

	"github.com/rdmadump/rdmadump/codec"
)

// Queue pairs that take management datagrams (IBA 13.5.1): 0 those of the subnet,
// 1 all others.
const lastManagementQP = 1

// decodeManagement reads the payload of a management datagram. The payload stays
// as it is; this is another view of it.
func (p *Packet) decodeManagement() {
	p.CM.Headers = 0
	if p.Err == nil && p.BTH.Opcode == codec.Op(codec.UD, codec.SendOnly) && p.BTH.DestQP <= lastManagementQP {
		_ = p.CM.Decode(p.Payload) // what is cut off, or of another class, is no header
	}
}

// eachManagementHeader visits the headers of a management datagram and their
// bytes.
func (p *Packet) eachManagementHeader(visit func(h codec.Header, raw []byte)) {
	at := p.Payload
	for h := codec.HeaderMAD; int(h) < len(fieldKeys); h++ {
		if p.CM.Has(h) {
			visit(h, at[:h.Len()])
			at = at[h.Len():]
		}
	}
}

// appendManagement appends a management datagram's headers as objects.
func (j JSON) appendManagement(b []byte, p *Packet) []byte {
	if p.CM.Headers == 0 {
		return b
	}
	p.eachManagementHeader(func(h codec.Header, raw []byte) {
		b = append(appendKey(b, h.Key()), '{')
		from := len(b)
		b = endObject(appendFields(b, h, raw, len(h.Fields()), j.Full), from)
	})
	return b
}

// appendManagementRows appends the same, a row a field.
func appendManagementRows(b []byte, p *Packet, style Style) []byte {
	if p.CM.Headers == 0 {
		return b
	}
	p.eachManagementHeader(func(h codec.Header, raw []byte) { b = appendRows(b, h, raw, p, style) })
	b = append(b, "  "...)
	b = style.bold.append(b, "Data")
	return append(appendBytesCount(append(b, "  "...), len(p.CM.PrivateData)), '\n')
}

// appendMessage appends what a line says of connection management: " CM REQ qp
// 0x000222 psn 100", the queue pair and the first PSN of who sends it.
func appendMessage(b []byte, p *Packet) []byte {
	m := &p.CM
	if !m.Has(codec.HeaderMAD) || m.Class != codec.ClassCM {
		return b
	}
	b = append(append(b, " CM "...), m.Attribute.String()...)
	switch {
	case m.Has(codec.HeaderREQ):
		b = appendStart(b, m.REQ.LocalQPN, uint64(m.REQ.StartingPSN))
	case m.Has(codec.HeaderREP):
		b = appendStart(b, m.REP.LocalQPN, uint64(m.REP.StartingPSN))
	case m.Has(codec.HeaderDREQ):
		b = appendQPN(append(b, " of qp "...), m.DREQ.RemoteQPN)
	case m.Has(codec.HeaderREJ):
		b = strconv.AppendUint(append(b, " reason "...), uint64(m.REJ.Reason), 10)
	}
	return b
}

func appendStart(b []byte, qpn uint32, psn uint64) []byte {
	b = appendQPN(append(b, " qp "...), qpn)
	return strconv.AppendUint(append(b, " psn "...), psn, 10)
}
