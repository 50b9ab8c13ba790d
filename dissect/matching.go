package dissect

// A filter of packets chooses connections: to leave out single packets would look
// like loss. All packets are followed, and what no packet of a connection meets is
// left out of what is told. Live, a connection is told of from its first such packet
// on; who reads captures twice can learn before which these are.

// match notes that a packet of a half is one that is wanted, if it is.
func (a *Analyzer) match(h *half, p *Packet) {
	if !h.matched && a.wants(p) {
		h.matched = true
	}
}

// wants reports whether there is a filter of packets, and it takes one.
func (a *Analyzer) wants(p *Packet) bool {
	s := a.config.Selection
	return s != nil && s.Packets != nil && s.Packets(p)
}

// matches reports whether a connection has a packet that is wanted.
func (s *Selection) matches(h *half) bool {
	return s.Packets == nil || h.matched || h.partner != nil && h.partner.matched || s.matching[h.key]
}

// LearnMatches adds the connections that have a packet which Packets wants, from an
// analyzer of the same captures and the same Config that has followed them.
func (s *Selection) LearnMatches(a *Analyzer) {
	if s.matching == nil {
		s.matching = map[halfKey]bool{}
	}
	for _, h := range a.halves {
		if !h.matched {
			continue
		}
		s.matching[h.key] = true
		if h.partner != nil {
			s.matching[h.partner.key] = true
		}
	}
}

// leftOut reports whether the connection of a half is not selected, as far as its
// ends are known.
func (a *Analyzer) leftOut(h *half) bool { return a.narrows() && !a.chosen(h) }

// narrows reports whether connections are left out.
func (a *Analyzer) narrows() bool {
	s := a.config.Selection
	return s != nil && (len(s.QPNs) > 0 || s.Packets != nil)
}
