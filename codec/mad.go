package codec

import "fmt"

// MAD is the header that all management datagrams begin with (IBA 13.4.3). They
// travel as UD packets; those of connection management go to QP 1.
//
//	+---------------+---------------+---------------+---------------+
//	|  BaseVersion  |     Class     | ClassVersion  |    Method     |
//	+---------------+---------------+---------------+---------------+
//	|            Status             |         ClassSpecific         |
//	+-------------------------------+-------------------------------+
//	|                    TransactionID, 64 bits                     |
//	+-------------------------------+-------------------------------+
//	|           Attribute           |              rsv              |
//	+-------------------------------+-------------------------------+
//	|                       AttributeModifier                       |
//	+---------------------------------------------------------------+
type MAD struct {
	BaseVersion       uint8 // 1
	Class             uint8 // management class, ClassCM for connection management
	ClassVersion      uint8 // 2 for connection management
	Method            uint8 // 3, Send, for connection management
	Status            uint16
	ClassSpecific     uint16
	TransactionID     uint64
	Attribute         Attribute // which message follows
	Rsv16             uint16
	AttributeModifier uint32
}

const (
	// MADLen is the length of every MAD in bytes, the header included.
	MADLen = 256

	// ClassCM is the management class of connection management.
	ClassCM = 0x07
)

// Decode reads the header from the start of b.
func (h *MAD) Decode(b []byte) error {
	if len(b) < 24 {
		return truncated(HeaderMAD, len(b))
	}
	h.BaseVersion, h.Class, h.ClassVersion, h.Method = b[0], b[1], b[2], b[3]
	h.Status, h.ClassSpecific = be.Uint16(b[4:]), be.Uint16(b[6:])
	h.TransactionID = be.Uint64(b[8:])
	h.Attribute, h.Rsv16 = Attribute(be.Uint16(b[16:])), be.Uint16(b[18:])
	h.AttributeModifier = be.Uint32(b[20:])
	return nil
}

// AppendBinary appends the header's 24 bytes to b. The error is always nil.
func (h *MAD) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, h.BaseVersion, h.Class, h.ClassVersion, h.Method)
	b = be.AppendUint16(b, h.Status)
	b = be.AppendUint16(b, h.ClassSpecific)
	b = be.AppendUint64(b, h.TransactionID)
	b = be.AppendUint16(b, uint16(h.Attribute))
	b = be.AppendUint16(b, h.Rsv16)
	return be.AppendUint32(b, h.AttributeModifier), nil
}

// Attribute is the kind of a connection management message (IBA 12.6).
type Attribute uint16

// The messages of connection management.
const (
	AttributeREQ     Attribute = 0x10 // request for a connection
	AttributeMRA     Attribute = 0x11 // message receipt acknowledged: be patient
	AttributeREJ     Attribute = 0x12 // reject
	AttributeREP     Attribute = 0x13 // reply to a request
	AttributeRTU     Attribute = 0x14 // ready to use
	AttributeDREQ    Attribute = 0x15 // request for disconnection
	AttributeDREP    Attribute = 0x16 // reply to a request for disconnection
	AttributeSIDRREQ Attribute = 0x17 // service ID resolution request
	AttributeSIDRREP Attribute = 0x18 // service ID resolution response
)

var attributeNames = [...]string{"REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP"}

// String is the message's name, "REQ", or "Attribute(0x0001)".
func (a Attribute) String() string {
	if i := int(a) - int(AttributeREQ); i >= 0 && i < len(attributeNames) {
		return attributeNames[i]
	}
	return fmt.Sprintf("Attribute(%#04x)", uint16(a))
}
