package codec

import (
	"errors"
	"fmt"
)

// The four ways in which bytes or structs fail to be a packet.
var (
	ErrTruncated = errors.New("truncated")      // fewer bytes than the header has
	ErrRange     = errors.New("out of range")   // a value does not fit its field
	ErrOpcode    = errors.New("unknown opcode") // no such operation in this service
	ErrLength    = errors.New("wrong length")   // the parts do not add up to the packet's length
)

// truncated says how much of a header there is.
func truncated(h Header, have int) error {
	return &headerError{h, have}
}

// headerError is a truncated header. It is formatted only when somebody reads
// it, so that hostile captures do not pay for text.
type headerError struct {
	header Header
	have   int
}

func (e *headerError) Error() string {
	return fmt.Sprintf("%s: truncated: %d of %d bytes", e.header, e.have, e.header.Len())
}

func (e *headerError) Unwrap() error { return ErrTruncated }

// bytesCount writes a length: "1 byte", "4 bytes".
func bytesCount(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// outOfRange names the field that a value does not fit.
func outOfRange(h Header, field string, value uint64, bits int) error {
	return fmt.Errorf("%s: %s: %w: %#x does not fit %d bits", h, field, ErrRange, value, bits)
}
