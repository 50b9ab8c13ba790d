package conform

import "github.com/rdmadump/rdmadump/psn"

// mpNACK judges why an MP-RDMA responder refuses a packet: for want of a slot, and
// then it names the PSN that its head waits for; or a synchronise packet that came
// early, which it names itself.
func (c *Checker) mpNACK(w *flow) {
	if w.mp == nil || !w.on {
		return
	}
	s := c.f.Seq
	head := psn.Unwrap(s, c.packet.MPETH.AACK) + 1
	switch {
	case s < head:
		c.found(w, mpNACKReason, Violates, say("NACK of %s, and AACK says that all up to %s has come", s.PSN(), (head-1).PSN()))
	case s > head:
		e := &w.mp.packets[uint64(s)%uint64(len(w.mp.packets))]
		if e.known && e.seq == s && !e.partial && e.began > w.mp.blind && !e.ordered {
			c.found(w, mpNACKReason, Violates, say("NACK of %s, which is no synchronise packet: %s is the first missing PSN", s.PSN(), head.PSN()), e.frame)
		}
	default:
		slots := max(psn.Seq(c.config.Slots), 1)
		if c.config.Slots == 0 {
			slots = max(slots, w.mp.slots)
		}
		if w.top <= head+slots {
			c.doubtFeedback(w, mpNACKReason, head+slots, true,
				say("NACK of %s for want of a slot, there are %d or more and the last PSN sent is %s", s.PSN(), slots, (w.top-1).PSN()), w.previous.frame)
		}
	}
}
