package dissect

// A connection ends with a DREQ, which names the queue pair of its receiver, and
// a DREP; an attempt to connect may end with a REJ. DREP and REJ name only the
// communication IDs of the attempt. Any of them may be missing in a capture.

// attempt is a connection attempt as its two ends name it, the one that asked
// first.
type attempt struct {
	active, passive Address
	ids             [2]uint32
	network         uint32
}

// disconnected takes a DREQ of which the receiver's half is key.
func (a *Analyzer) disconnected(key halfKey, at sight) {
	if g, ok := a.cm.agreed[key]; ok {
		a.forsake(g.other, at)
	}
	a.forsake(key, at)
}

// undone takes a DREP, or the REJ of a REP, which name an attempt by the
// sender's ID and the receiver's.
func (a *Analyzer) undone(src, dst Address, network, local, remote uint32, at sight) {
	for _, t := range [2]attempt{
		{src, dst, [2]uint32{local, remote}, network},
		{dst, src, [2]uint32{remote, local}, network},
	} {
		if key, ok := a.cm.attempts[t]; ok {
			delete(a.cm.attempts, t)
			a.disconnected(key, at)
			return
		}
	}
}

// forsake ends what a half and connection management knew of each other.
func (a *Analyzer) forsake(key halfKey, at sight) {
	delete(a.cm.agreed, key)
	h := a.table.find(&key, a.table.hash(&key))
	if h == nil {
		return
	}
	h.release()
	h.agreed, h.renew = false, false
	a.closeConnection(h, Disconnected, at)
	h.req.tornDown(at.time)
	h.end()
}
