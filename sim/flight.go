package sim

import "github.com/rdmadump/rdmadump/transport"

// flight is a packet under way. Flights are used again.
type flight struct {
	packet transport.Packet
	frame  []byte // as the capture points see it, up to the longest snap length; empty without any
	wire   int    // bytes of the whole frame

	kind kind
	copy int   // which transmission of its PSN it is
	pair *pair // nil for connection management
	from *host // that sent it
	mad  *mad  // of connection management
	fate *fate // of the copy, which a twin shares
	sent transport.Time

	lanes   []*lane // that it passes
	hop     int     // which of them it is on
	damaged bool
}

// kind is which stream of PSNs a packet belongs to.
type kind uint8

const (
	request  kind = iota
	response      // of a READ
	ack
	other // congestion notifications
	kinds // of queue pairs

	management kind = kinds
)

// fate is what becomes of one transmitted copy, and of its twin if the network
// made one.
type fate struct {
	under     int // how many of them are under way
	intact    int // how many arrived, and were good
	damaged   int // or not
	link      string
	arrived   transport.Time // the first of them
	reordered bool
	ordinal   int64 // of the copy in its stream
}

// take gives a flight to be filled.
func (r *run) take() *flight {
	if n := len(r.flights); n > 0 {
		f := r.flights[n-1]
		r.flights = r.flights[:n-1]
		return f
	}
	return &flight{}
}

// launch gives a copy its fate.
func (r *run) launch(f *flight) {
	if n := len(r.fates); n > 0 {
		f.fate = r.fates[n-1]
		r.fates = r.fates[:n-1]
	} else {
		f.fate = &fate{}
	}
	*f.fate = fate{under: 1}
	f.hop, f.damaged, f.sent = 0, false, r.now
}

// twin doubles a packet.
func (r *run) twin(f *flight) *flight {
	t := r.take()
	bytes := append(t.frame[:0], f.frame...)
	*t = *f
	t.frame = bytes
	f.fate.under++
	return t
}

// lose ends a packet on its way.
func (r *run) lose(f *flight, link string) {
	if f.fate.link == "" {
		f.fate.link = link
	}
	r.land(f)
}

// land ends a packet, and tells the truth behind the last one of a copy.
func (r *run) land(f *flight) {
	f.fate.under--
	if f.fate.under == 0 {
		r.tell(f)
		r.fates = append(r.fates, f.fate)
	}
	f.fate = nil
	r.flights = append(r.flights, f)
}

// damage has one bit of a packet go wrong, behind the headers if there is
// something.
func (r *run) damage(f *flight) {
	f.damaged = true
	if n := len(f.frame); n == f.wire && n > 0 {
		f.frame[n-r.framers[f.from.end].Tail()-1] ^= 0x10
	}
}

// congested marks a packet as a switch does.
func (r *run) congested(f *flight) {
	if !r.s.ECN {
		return
	}
	f.packet.CE = true
	if len(f.frame) > 0 {
		r.framers[f.from.end].MarkCE(f.frame)
	}
}
