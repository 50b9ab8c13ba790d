package dissect

// side is where the capture point is, seen from a stream.
type side uint8

const (
	midway side = iota // unknown, or between
	senderSide
	receiverSide
)

// times holds the spans of a stream; which of them can be trusted depends on
// where the capture point is (loss analysis, section 4).
type times struct {
	nakGeneration samples // the packet that reveals a gap -> the NAK
	nakReaction   samples // the NAK -> the first packet resent for it
	recovery      samples // gap opened -> gap closed
	timeout       samples // the last copy -> its resend without feedback
}

// side finds the capture point from the two halves of the round trip, packet to
// acknowledgement and NAK to resend: the shorter one is seen from its own end.
// Where one of them is not known the losses tell: what is missing here was lost
// before this point, what was named though it passed here behind it.
func (s *stream) side() side {
	if here, ok := s.sideStated(); ok {
		return here
	}
	d := s.d
	if d == nil {
		return midway
	}
	if s.rtts.n > 0 && d.times.nakReaction.n > 0 {
		if s.rtts.min > d.times.nakReaction.min {
			return senderSide
		}
		return receiverSide
	}
	switch {
	case d.upstream > 0 && d.downstream == 0:
		return receiverSide
	case d.downstream > 0 && d.upstream == 0:
		return senderSide
	}
	return midway
}

// times is the spans that can be trusted here. Where the side is not known, the
// round trip is given for what it is: at least a part of one.
func (s *stream) timesHere() Times {
	var out Times
	here := s.side()
	if here != receiverSide {
		out.RTT = s.rtts.span()
		out.Message = s.took.span()
	}
	d := s.d
	if d == nil {
		return out
	}
	out.Recovery = d.times.recovery.span()
	if here == receiverSide {
		out.NakGeneration = d.times.nakGeneration.span()
	}
	if here == senderSide {
		out.NakReaction = d.times.nakReaction.span()
	}
	if here != receiverSide {
		out.Timeout = d.times.timeout.span()
	}
	return out
}
