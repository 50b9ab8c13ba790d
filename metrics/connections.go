package metrics

import "github.com/rdmadump/rdmadump/dissect"

// Listing is what /connections gives: the connections in the most trouble,
// the worst first, as they stand while packets still come.
type Listing struct {
	Schema      int               `json:"schema"` // 1
	Up          bool              `json:"up"`     // frames may still come
	Captures    []dissect.Capture `json:"captures"`
	Connections []Connection      `json:"connections"`
	Omitted     int               `json:"omitted"` // connections that are followed and not listed
	Totals      Totals            `json:"totals"`  // of all so far, those followed no longer included
}

// Totals are counts, and how many connections are followed now.
type Totals struct {
	Connections int   `json:"connections"`
	Datagrams   int64 `json:"datagrams"`
	Counts
}

// Connection is one connection. Its fields mean what they mean in the report of
// rdmadump loss.
type Connection struct {
	ID         int          `json:"id"`
	Service    string       `json:"service"`
	Transport  string       `json:"transport"`
	A          *dissect.End `json:"a,omitempty"`
	B          *dissect.End `json:"b,omitempty"`
	FirstTime  dissect.Time `json:"first_time,omitzero"`
	LastTime   dissect.Time `json:"last_time,omitzero"`
	Directions []Direction  `json:"directions"`
}

// Direction is what one end sends to the other.
type Direction struct {
	Src    dissect.Address `json:"src"`
	Dst    dissect.Address `json:"dst"`
	DestQP string          `json:"destqp,omitempty"`
	Counts
	RTT  *dissect.Span `json:"rtt_ns,omitempty"`
	Gaps []dissect.Gap `json:"gaps,omitempty"` // the newest, the newest first
}

// Counts are dissect.Counts by the names that the report has.
type Counts struct {
	Packets       int64 `json:"packets"`
	PayloadBytes  int64 `json:"payload_bytes"`
	Lost          int64 `json:"lost"`
	Undecided     int64 `json:"undecided"`
	NotCaptured   int64 `json:"not_captured"`
	Retransmitted int64 `json:"retransmitted"`
	Reordered     int64 `json:"reordered"`
	Damaged       int64 `json:"damaged"`
	Acks          int64 `json:"acks"`
	Naks          int64 `json:"naks"`
	RNRNaks       int64 `json:"rnr_naks"`
	Timeouts      int64 `json:"timeouts"`
	CEMarked      int64 `json:"ce_marked"`
	CNPs          int64 `json:"cnps"`
}

func countsOf(c *dissect.Counts) Counts {
	return Counts{c.Packets, c.PayloadBytes, c.Lost, c.Undecided, c.NotCaptured, c.Retransmitted, c.Reordered, c.Damaged,
		c.Acks, c.Naks, c.RNRNaks, c.Timeouts, c.CEMarked, c.CNPs}
}

// Listing looks at the board.
func (b *Board) Listing() *Listing {
	s := b.sample()
	out := &Listing{Schema: 1, Up: s.up, Captures: s.captures, Connections: make([]Connection, 0, len(s.connections)), Omitted: s.omitted,
		Totals: Totals{s.followed, s.totals.Datagrams, countsOf(&s.all)}}
	for i := range s.connections {
		out.Connections = append(out.Connections, s.connections[i].json())
	}
	return out
}

func (c *connection) json() Connection {
	out := Connection{ID: c.ID, Service: c.Service, Transport: c.Transport, A: end(&c.A), B: end(&c.B), FirstTime: c.First, LastTime: c.Last}
	for k := range c.Directions {
		d := &c.Directions[k]
		if d.Counts == (dissect.Counts{}) {
			continue
		}
		out.Directions = append(out.Directions, Direction{Src: d.Src, Dst: d.Dst, DestQP: qpn([]*dissect.SnapshotEnd{&c.B, &c.A}[k]),
			Counts: countsOf(&d.Counts), RTT: c.rtts[k], Gaps: c.gaps[k]})
	}
	return out
}

// end is an end of a connection, nil if its queue pair is not known.
func end(e *dissect.SnapshotEnd) *dissect.End {
	if !e.Known {
		return nil
	}
	return &dissect.End{Address: e.Address, QPN: e.QPN}
}
