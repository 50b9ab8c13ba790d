package codec

import "fmt"

// CM is a management datagram of connection management: the MAD header, the
// message that its Attribute names, and what is recognised in the message's
// private data. Reuse one: Decode overwrites it and does not allocate. A header
// counts only if Has says it is there.
type CM struct {
	Headers HeaderSet // what is there, the MAD included

	MAD
	REQ  REQ
	REP  REP
	RTU  RTU
	DREQ DREQ
	DREP DREP
	REJ  REJ

	IPCM IPCM // private data of a REQ for the RDMA IP CM service
	Rate Rate // private data of a REQ or REP of a windowless sender

	// PrivateData is everything behind these headers. It aliases what was
	// decoded. MRA and the SIDR messages are known by name only and stand here
	// in full.
	PrivateData []byte
}

// messages are the headers of the messages, by attribute from AttributeREQ on.
var messages = [...]Header{
	0:                            HeaderREQ,
	AttributeREJ - AttributeREQ:  HeaderREJ,
	AttributeREP - AttributeREQ:  HeaderREP,
	AttributeRTU - AttributeREQ:  HeaderRTU,
	AttributeDREQ - AttributeREQ: HeaderDREQ,
	AttributeDREP - AttributeREQ: HeaderDREP,
	// 0, which no message is, for those that are known by name only
	AttributeSIDRREP - AttributeREQ: 0,
}

// What a MAD can be that is no connection management.
var (
	errNotCM     = fmt.Errorf("MAD: %w: its class is not connection management", ErrOpcode)
	errAttribute = fmt.Errorf("MAD: %w: its attribute is no connection management message", ErrOpcode)
)

// Decode reads the management datagram that b begins with, the payload of a UD
// packet to QP 1. What exceeds MADLen is ignored. A capture may have cut the
// private data short.
//
// Errors wrap ErrTruncated when the header or the message is not whole, or
// ErrOpcode when it is not connection management. Whatever came before the
// fault is decoded all the same, the rest is PrivateData, and AppendBinary gives
// the same bytes back.
func (m *CM) Decode(b []byte) error {
	b = b[:min(len(b), MADLen)]
	m.Headers, m.PrivateData = 0, b
	if err := m.MAD.Decode(b); err != nil {
		return err
	}
	m.Headers = 1 << HeaderMAD
	b = b[HeaderMAD.Len():]
	m.PrivateData = b
	if m.Class != ClassCM {
		return errNotCM
	}
	i := int(m.Attribute) - int(AttributeREQ)
	if i < 0 || i >= len(messages) {
		return errAttribute
	}
	h := messages[i]
	if h == 0 {
		return nil
	}
	if err := m.decode(h, b); err != nil {
		return err
	}
	b = m.PrivateData
	if _, ok := m.REQ.ServiceID.Port(); h == HeaderREQ && ok {
		_ = m.decode(HeaderIPCM, b) // what is cut short stays private data
		b = m.PrivateData
	}
	if (h == HeaderREQ || h == HeaderREP) && isRate(b) {
		_ = m.decode(HeaderRate, b)
	}
	return nil
}

// decode reads one header and moves on behind it.
func (m *CM) decode(h Header, b []byte) error {
	var err error
	switch h {
	case HeaderREQ:
		err = m.REQ.Decode(b)
	case HeaderREP:
		err = m.REP.Decode(b)
	case HeaderRTU:
		err = m.RTU.Decode(b)
	case HeaderDREQ:
		err = m.DREQ.Decode(b)
	case HeaderDREP:
		err = m.DREP.Decode(b)
	case HeaderREJ:
		err = m.REJ.Decode(b)
	case HeaderIPCM:
		err = m.IPCM.Decode(b)
	case HeaderRate:
		err = m.Rate.Decode(b)
	}
	if err != nil {
		return err
	}
	m.Headers |= 1 << h
	m.PrivateData = b[h.Len():]
	return nil
}

// AppendBinary appends to b the headers that Headers names and PrivateData. It
// does not fill up to MADLen. It returns ErrRange, and b unchanged, when a
// value does not fit its field.
func (m *CM) AppendBinary(b []byte) ([]byte, error) {
	start := len(b)
	for left := m.Headers; left != 0; left &= left - 1 {
		var err error
		switch h := left.first(); h {
		case HeaderMAD:
			b, err = m.MAD.AppendBinary(b)
		case HeaderREQ:
			b, err = m.REQ.AppendBinary(b)
		case HeaderREP:
			b, err = m.REP.AppendBinary(b)
		case HeaderRTU:
			b, err = m.RTU.AppendBinary(b)
		case HeaderDREQ:
			b, err = m.DREQ.AppendBinary(b)
		case HeaderDREP:
			b, err = m.DREP.AppendBinary(b)
		case HeaderREJ:
			b, err = m.REJ.AppendBinary(b)
		case HeaderIPCM:
			b, err = m.IPCM.AppendBinary(b)
		case HeaderRate:
			b, err = m.Rate.AppendBinary(b)
		default:
			err = fmt.Errorf("%s: %w: not part of a management datagram", h, ErrRange)
		}
		if err != nil {
			return b[:start], err
		}
	}
	return append(b, m.PrivateData...), nil
}

// Has reports whether the datagram has the header.
func (m *CM) Has(h Header) bool { return m.Headers.Has(h) }
