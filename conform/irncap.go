package conform

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// inFlight judges a new packet of IRN by the cap on what is in flight (BDP-FC).
// What its sender knows of acknowledgements has passed here before, so that it
// takes no less for being in flight than is seen here. Where the capture begins
// nobody knows what was acknowledged.
func (c *Checker) inFlight(w *flow, s psn.Seq) {
	i, limit := w.irn, c.config.Cap
	if limit <= 0 || i == nil || !i.heard || i.cum < w.first || !w.heardAll(i.heardAt) {
		return
	}
	if n := int(s - i.cum + 1); n > limit {
		c.found(w, irnInFlightCap, Violates, say("%s makes %d packets in flight, the cap is %d", s.PSN(), n, limit), i.heardAt)
	}
}

// asks notes a READ.
func (c *Checker) asks(w *flow, s psn.Seq) {
	if c.f.BTH.Opcode.Verb() != codec.VerbRead {
		return
	}
	if w.irn == nil {
		w.irn = &irn{}
	}
	w.irn.read = max(w.irn.read, s+1)
}

// takes notes up to where the sender may know that all has come.
func (i *irn) takes(s psn.Seq, frame int) {
	if !i.heard || s > i.cum {
		i.cum = s
	}
	i.heard, i.heardAt = true, frame
}
