package conform

// order is in which order two packets were sent, as far as that is known.
type order uint8

const (
	unknownOrder order = iota
	sentBefore
	sentAfter
	after // by the identification alone, which may yet turn out to count
)

// idOrder watches the IPv4 identifications of a sender, which many count up: they
// tell a packet that was overtaken from one that was sent late.
type idOrder struct {
	newest   uint16
	begun    bool
	next     bool // the last step was to the very next one
	ups      int
	downs    int
	repeated int
	large    int // ups by more than smallStep
	skips    int // steps that are not to the very next one
}

// smallStep is more than a sender is taken to send elsewhere between two packets.
// Identifications at random would hardly take two steps that small.
const smallStep = 64

// older takes the identification of the next packet and says whether it was sent
// before the newest one so far.
func (o *idOrder) older(id uint16) order {
	if !o.begun {
		o.newest, o.begun = id, true
		return unknownOrder
	}
	step := int16(id - o.newest)
	if o.next = step == 1; !o.next {
		o.skips++
	}
	trusted := o.counts()
	switch {
	case step == 0:
		o.repeated++
		return unknownOrder
	case step > 0:
		o.newest = id
		o.ups++
		if step > smallStep {
			o.large++
		}
		if trusted {
			return sentAfter
		}
		return after
	default:
		o.downs++
		if trusted {
			return sentBefore
		}
		o.newest = id
	}
	return unknownOrder
}

// counts reports whether the sender counts its identifications up.
func (o *idOrder) counts() bool {
	bad := o.downs + o.repeated
	return o.ups >= 4 && o.ups > 8*bad || o.ups >= 2 && o.large+bad == 0
}

// gapless reports whether the identifications of at least so many packets are
// those of all that their sender has sent.
func (o *idOrder) gapless(packets int) bool { return o.skips == 0 && o.ups+1 >= packets }
