package sim

import (
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// Breach names a rule that endpoints break, once in each direction of a queue
// pair and as soon as they can. The empty one is none.
type Breach string

// The breaches.
const (
	SecondNAK          Breach = "second-nak"           // go-back-n: the same NAK again before what it names has come
	ResendWrongPSN     Breach = "resend-wrong-psn"     // go-back-n: a resend begins one PSN too late
	MiddleWithoutFirst Breach = "middle-without-first" // go-back-n: a message begins with a Middle
	ACKRegression      Breach = "ack-regression"       // an acknowledgement names a PSN below an earlier one
	ReservedBits       Breach = "reserved-bits"        // a reserved bit of the BTH is set
	BadPadCnt          Breach = "bad-padcnt"           // PadCnt does not fit the payload
	BadDMALen          Breach = "bad-dmalen"           // a RETH's length is not that of its message
	MSNJump            Breach = "msn-jump"             // an AETH counts messages that there were not
	TCSegmentOrder     Breach = "tc-segment-order"     // windowless: segments of a report in the wrong order
	TCLateReport       Breach = "tc-late-report"       // windowless: a report long after its threshold
	TCResendConfirmed  Breach = "tc-resend-confirmed"  // windowless: a PSN that was reported as received is resent behind a gap
	IRNMissingNACK     Breach = "irn-missing-nack"     // irn: a packet that arrived out of order draws no NACK
	IRNWrongNACK       Breach = "irn-wrong-nack"       // irn: a NACK expects a PSN that has arrived
	IRNOverCap         Breach = "irn-over-cap"         // irn: one packet more in flight than the cap, all along
	MissingMPACK       Breach = "missing-mp-ack"       // mp-rdma: a packet that arrived is not acknowledged
	MPWrongNACK        Breach = "mp-wrong-nack"        // mp-rdma: a NACK of what arrived, in place of its acknowledgement
	MPOldAACK          Breach = "mp-old-aack"          // mp-rdma: an AACK two PSNs too low
)

var breaches = []Breach{SecondNAK, ResendWrongPSN, MiddleWithoutFirst, ACKRegression, ReservedBits, BadPadCnt, BadDMALen, MSNJump,
	TCSegmentOrder, TCLateReport, TCResendConfirmed, IRNMissingNACK, IRNWrongNACK, IRNOverCap, MissingMPACK, MPWrongNACK, MPOldAACK}

// BreachNames are the names of all breaches.
func BreachNames() (names []string) {
	for _, b := range breaches {
		names = append(names, string(b))
	}
	return names
}

// UnmarshalText takes the name of a breach.
func (b *Breach) UnmarshalText(text []byte) error { return choose(b, text, breaches...) }

// of is the transport that the rule belongs to, empty for all.
func (b Breach) of() TransportName {
	switch b {
	case SecondNAK, ResendWrongPSN, MiddleWithoutFirst:
		return GoBackN
	case TCSegmentOrder, TCLateReport, TCResendConfirmed:
		return Windowless
	case IRNMissingNACK, IRNWrongNACK, IRNOverCap:
		return IRN
	case MissingMPACK, MPWrongNACK, MPOldAACK:
		return MPRDMA
	}
	return ""
}

// lateReport is how long a report is kept back, more than any threshold in use.
const lateReport = time.Millisecond

// breaker stands between a machine and the wire, and breaks a rule there, so that
// machines themselves break none.
type breaker struct {
	transport.Machine
	breach Breach
	done   bool

	ready  transport.Ready   // that which the machine said last
	ahead  *transport.Packet // to be sent in front of what the machine has
	until  transport.Time    // when a late report may go, 0 before one is due
	acks   int               // that were sent
	oldest psn.PSN           // of them
	begun  *transport.Packet // the first packet, to be resent
}

// omits reports whether the breach is to keep an acknowledgement of a kind back.
func (b *breaker) omits(op codec.Opcode) bool {
	return b.breach == MissingMPACK && op == codec.OpcodeMPRDMAAck && b.acks > 0 || b.breach == IRNMissingNACK && op == codec.OpcodeIRNNack
}

// Ready says what the machine has, or what is left of a breach.
func (b *breaker) Ready(now transport.Time) transport.Ready {
	if b.ahead != nil {
		return transport.Reply
	}
	b.ready = b.Machine.Ready(now)
	if b.done || b.ready != transport.Reply {
		return b.ready
	}
	switch b.breach {
	case TCLateReport:
		if b.until == 0 {
			b.until = now + lateReport
		}
		if now < b.until {
			return transport.Idle
		}
		b.done = true
	case MissingMPACK, IRNMissingNACK:
		var p transport.Packet
		b.Machine.Next(now, &p)
		if b.omits(p.BTH.Opcode) {
			b.done = true
			b.ready = b.Machine.Ready(now)
			return b.ready
		}
		b.ahead = &p
	}
	return b.ready
}

// Wake is the machine's, unless a report is kept back.
func (b *breaker) Wake() transport.Time {
	if !b.done && b.until > 0 {
		return b.until
	}
	return b.Machine.Wake()
}

// Next gives the machine's packet, changed if it is one to break the rule with.
func (b *breaker) Next(now transport.Time, p *transport.Packet) {
	if b.ahead != nil {
		*p, b.ahead = *b.ahead, nil
	} else {
		b.Machine.Next(now, p)
	}
	if !b.done {
		b.done = b.change(p)
	}
	if p.BTH.Opcode.Verb() == codec.VerbAck {
		if b.acks == 0 {
			b.oldest = p.BTH.PSN
		}
		b.acks++
	}
}

// change breaks the rule in a packet, and reports whether that could be done.
func (b *breaker) change(p *transport.Packet) bool {
	op := p.BTH.Opcode
	switch b.breach {
	case ReservedBits:
		p.BTH.Rsv6 |= 1
		return true
	case SecondNAK:
		if op.Verb() != codec.VerbAck || p.AETH.Syndrome != codec.SyndromePSNSequenceError {
			return false
		}
		again := *p
		b.ahead = &again
		return true
	case ResendWrongPSN:
		if b.ready != transport.Resend || op.Verb() == codec.VerbRead {
			return false
		}
		p.BTH.PSN = p.BTH.PSN.Add(1)
		return true
	case MiddleWithoutFirst:
		if !op.Starts() || op.Ends() || op.Verb() != codec.VerbWrite && op.Verb() != codec.VerbSend {
			return false
		}
		p.BTH.Opcode++ // the Middle of the same verb
		p.Headers = p.BTH.Opcode.Headers()
		return true
	case ACKRegression:
		if op.Verb() != codec.VerbAck || b.acks < 2 || p.BTH.PSN == b.oldest {
			return false
		}
		p.BTH.PSN = b.oldest
		return true
	case BadPadCnt:
		if op.Response() || p.PayloadLen == 0 {
			return false
		}
		p.BTH.PadCnt ^= 1
		return true
	case BadDMALen:
		if !p.Has(codec.HeaderRETH) || op.Verb() != codec.VerbWrite || p.RETH.DMALen == 0 {
			return false
		}
		p.RETH.DMALen-- // one more would be refused before the message is complete
		return true
	case MSNJump:
		if op.Verb() != codec.VerbAck {
			return false
		}
		p.AETH.MSN = (p.AETH.MSN + 5) & psn.Mask
		return true
	case TCSegmentOrder:
		if !p.Has(codec.HeaderTCAETH) || p.TCAETH.SegmentNum < 3 {
			return false
		}
		h := &p.TCAETH
		h.Seg1Left, h.Seg1Right, h.Seg2Left, h.Seg2Right = h.Seg2Left, h.Seg2Right, h.Seg1Left, h.Seg1Right
		return true
	case TCResendConfirmed:
		if b.ready == transport.Fresh && b.begun == nil {
			first := *p
			b.begun = &first
		}
		if b.ready != transport.Resend || p.BTH.PSN == b.begun.BTH.PSN {
			return false
		}
		b.ahead = b.begun
		return true
	case IRNWrongNACK:
		if op != codec.OpcodeIRNNack || b.acks < 2 {
			return false
		}
		p.BTH.PSN = p.BTH.PSN.Add(-1)
		return true
	case MPWrongNACK:
		if op != codec.OpcodeMPRDMAAck || b.acks == 0 || p.MPETH.AACK.Sub(p.BTH.PSN) < 0 {
			return false
		}
		p.BTH.Opcode, p.AETH.Syndrome = codec.OpcodeMPRDMANack, codec.SyndromePSNSequenceError
		p.Headers = p.BTH.Opcode.Headers()
		return true
	case MPOldAACK:
		if op != codec.OpcodeMPRDMAAck || b.acks < 3 || p.MPETH.AACK != p.BTH.PSN {
			return false
		}
		p.MPETH.AACK = p.MPETH.AACK.Add(-2)
		return true
	}
	return false
}
