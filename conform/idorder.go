package conform

// order is in which order two packets were sent, as far as that is known.
type order uint8

const (
	unknownOrder order = iota
	sentBefore
	sentAfter
)

// idOrder watches the IPv4 identifications of a sender, which many count up: they
// tell a packet that was overtaken from one that was sent late.
type idOrder struct {
	newest   uint16
	ups      int
	downs    int
	repeated int
}

// older takes the identification of the next packet and says whether it was sent
// before the newest one so far.
func (o *idOrder) older(id uint16) order {
	if o.ups+o.downs+o.repeated == 0 {
		o.newest, o.ups = id, 1
		return unknownOrder
	}
	step := int16(id - o.newest)
	trusted := o.ups >= 3 && o.ups > 8*(o.downs+o.repeated)
	switch {
	case step == 0:
		o.repeated++
		return unknownOrder
	case step > 0:
		o.newest = id
		o.ups++
		if trusted {
			return sentAfter
		}
	default:
		o.downs++
		if trusted {
			return sentBefore
		}
		o.newest = id
	}
	return unknownOrder
}
