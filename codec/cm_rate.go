package codec

// Rate is how a windowless sender advertises its packet rate, in the private
// data of REQ and REP: behind the IPCM header where there is one, else at their
// start. The draft says that the rate is advertised, not where; the place and
// these 12 bytes are this toolkit's own.
//
//	+---------------------------------------------------------------+
//	|                  Magic, "TCAE" (0x54434145)                   |
//	+---------------+-----------------------------------------------+
//	|  Version, 1   |                    rsv 24                     |
//	+---------------+-----------------------------------------------+
//	|                       PacketsPerSecond                        |
//	+---------------------------------------------------------------+
type Rate struct {
	Magic            uint32 // RateMagic
	Version          uint8  // RateVersion
	Rsv24            uint32
	PacketsPerSecond uint32
}

// What a Rate begins with.
const (
	RateMagic   = 0x54434145
	RateVersion = 1
)

// isRate reports whether b begins with a whole Rate of the version that this
// package knows.
func isRate(b []byte) bool {
	return len(b) >= 12 && be.Uint32(b) == RateMagic && b[4] == RateVersion
}

// Decode reads the advertisement from the start of b. It does not look at Magic
// and Version.
func (h *Rate) Decode(b []byte) error {
	if len(b) < 12 {
		return truncated(HeaderRate, len(b))
	}
	h.Magic, h.Version, h.Rsv24, h.PacketsPerSecond = be.Uint32(b), b[4], uint24(b[5:]), be.Uint32(b[8:])
	return nil
}

// AppendBinary appends the advertisement's 12 bytes to b, or returns ErrRange.
func (h *Rate) AppendBinary(b []byte) ([]byte, error) {
	if h.Rsv24 > 0xffffff {
		return b, outOfRange(HeaderRate, "Rsv24", uint64(h.Rsv24), 24)
	}
	b = be.AppendUint32(b, h.Magic)
	b = append24(append(b, h.Version), h.Rsv24)
	return be.AppendUint32(b, h.PacketsPerSecond), nil
}
