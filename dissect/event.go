package dissect

import (
	"slices"

	"github.com/rdmadump/rdmadump/psn"
)

// EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	GapOpened        EventKind = "gap-opened"
	GapClosed        EventKind = "gap-closed"
	Retransmission   EventKind = "retransmission"
	NakSeen          EventKind = "nak"
	RNRNakSeen       EventKind = "rnr-nak"
	TimeoutSeen      EventKind = "timeout"
	ConnectionOpened EventKind = "connection-opened"
	ConnectionClosed EventKind = "connection-closed"
	FindingMade      EventKind = "finding"
)

// Ending is why a connection is over.
type Ending string

// The endings.
const (
	Disconnected Ending = "disconnect"     // connection management said so (DREQ)
	Renewed      Ending = "new-epoch"      // the queue pair began anew
	Dropped      Ending = "evicted"        // dropped to keep memory bounded
	Silent       Ending = "idle"           // nothing came for long, see Analyzer.RetireIdle
	Joined       Ending = "joined"         // it proved to be a direction of an older connection
	EndOfCapture Ending = "end-of-capture" // nothing ended it before the capture did
)

// Event is something that happened, told as soon as it is known. Its JSON form
// is a contract (docs/output.md); fields that say nothing about an event are
// left out.
type Event struct {
	Kind        EventKind `json:"event"`
	Time        Time      `json:"time"`
	Frame       int       `json:"frame"`
	File        *int      `json:"file,omitempty"` // only where several captures are read
	Connection  int       `json:"connection"`
	Src         Address   `json:"src"`
	DestQP      QPN       `json:"destqp"`
	Stream      string    `json:"stream,omitempty"` // "read-response"; "" is the requests
	First       *psn.PSN  `json:"first,omitempty"`
	Last        *psn.PSN  `json:"last,omitempty"`
	Count       int64     `json:"count,omitempty"`
	Evidence    Evidence  `json:"evidence,omitempty"`
	ConfirmedBy Evidence  `json:"confirmed_by,omitempty"`
	Where       Where     `json:"where,omitempty"`
	Closed      Closed    `json:"closed,omitempty"`
	Copies      int       `json:"copies,omitempty"`
	Message     *Message  `json:"message,omitempty"`
	Cause       Cause     `json:"cause,omitempty"`
	Verdict     Verdict   `json:"verdict,omitempty"`
	Ending      Ending    `json:"ending,omitempty"` // of a connection
	Finding     string    `json:"kind,omitempty"`   // kind of a finding
	Text        string    `json:"text,omitempty"`
	Counter     string    `json:"counter,omitempty"`
	Frames      []int     `json:"frames,omitempty"`
	Host        Address   `json:"host,omitzero"` // whose NIC has the counter
}

// End says that no more frames come, and tells the events of what is still
// open: gaps, the findings that silence makes, and the connections. Without
// Config.Events it does nothing. Report may follow.
func (a *Analyzer) End() {
	if a.config.Events == nil {
		return
	}
	a.here = sight{time: a.last}
	if n := len(a.captures); n > 0 {
		a.here.file, a.here.number = n-1, int(a.captures[n-1].Frames)
	}
	a.pairAtLast()
	halves := slices.Clone(a.halves)
	slices.SortFunc(halves, func(x, y *half) int { return int(int64(x.id) - int64(y.id)) })
	for _, h := range halves {
		h.tellOpen()
	}
	for _, h := range halves {
		a.closeConnection(h, EndOfCapture, a.here)
	}
}

// tellOpen tells of what is open at the end.
func (h *half) tellOpen() {
	for _, s := range [2]*stream{&h.req, h.resp} {
		if s == nil || !s.on {
			continue
		}
		s.refute()
		told := 0
		if d := s.d; d != nil {
			for i := range d.gaps {
				g := d.gaps[i]
				if g.unheard(s) {
					g.closed = Open
				}
				if g.closed == Open && !(g.suspect && g.left == g.count) {
					s.tellGapEnd(&g, s.a.here)
				}
			}
			told = len(d.findings)
		}
		for _, f := range s.a.stream(s, trust{}).Findings[told:] {
			if !f.Counted() {
				s.tellFinding(f, s.a.here)
			}
		}
	}
}

// open numbers a connection.
func (a *Analyzer) open(h *half, in *arrival) {
	if h.partner != nil && h.partner.number != 0 {
		h.number = h.partner.number
		return
	}
	a.numbers++
	h.number = a.numbers
	a.tellConnection(ConnectionOpened, "", h, in.sight())
}

// reopen tells that the requests of a half begin anew, unless the other
// direction has told so already.
func (a *Analyzer) reopen(h *half, in *arrival) {
	if p := h.partner; p != nil && p.req.epochs > h.req.epochs || h.number == 0 {
		return
	}
	a.closeConnection(h, Renewed, in.sight())
	for _, side := range [2]*half{h, h.partner} {
		if side != nil {
			side.over = false
		}
	}
	a.tellConnection(ConnectionOpened, "", h, in.sight())
}

// closeConnection tells that the connection of a half is over, once.
func (a *Analyzer) closeConnection(h *half, why Ending, at sight) {
	p := h.partner
	if h.number == 0 || h.over || p != nil && p.over {
		return
	}
	h.over = true
	if p != nil {
		p.over = true
	}
	a.tellConnection(ConnectionClosed, why, h, at)
}

// join gives two halves the number of the older one.
func (a *Analyzer) join(h, c *half) {
	older, younger := h, c
	if h.number == 0 || c.number != 0 && c.number < h.number {
		older, younger = c, h
	}
	if younger.number != 0 && younger.number != older.number && !younger.over {
		a.tellConnection(ConnectionClosed, Joined, younger, a.here)
	}
	younger.number, younger.over = older.number, older.over
}

func (a *Analyzer) tellConnection(kind EventKind, why Ending, h *half, at sight) {
	if a.config.Events != nil {
		a.tell(&Event{Kind: kind, Ending: why}, h, at)
	}
}

// tell completes an event and gives it away.
func (a *Analyzer) tell(e *Event, h *half, at sight) {
	if a.leftOut(h) {
		return
	}
	e.Time, e.Frame = Time(at.time), at.number
	if len(a.captures) > 1 {
		e.File = &at.file
	}
	e.Connection, e.Src, e.DestQP = int(h.number), h.key.src, QPN(h.key.qpn)
	a.config.Events(e)
}

// chosen reports whether the connection of a half is one of those selected, as
// far as its ends are known.
func (a *Analyzer) chosen(h *half) bool {
	s := a.config.Selection
	if !s.matches(h) {
		return false
	}
	return len(s.QPNs) == 0 || s.end(h.key.src, h.key.dst, h.key.qpn) || h.partner != nil && s.qpn(h.partner.key.qpn)
}

// tell completes an event of a stream and gives it away.
func (s *stream) tell(e *Event, at sight) {
	if s.response {
		e.Stream = "read-response"
	}
	s.a.tell(e, s.half, at)
}

func (s *stream) tellGap(kind EventKind, g *gap) {
	switch {
	case s.a.config.Events == nil:
	case kind == GapClosed:
		s.tellGapEnd(g, g.filled)
	default:
		e := eventOf(g)
		e.Kind = kind
		s.tell(e, g.opened)
	}
}

// tellGapEnd tells that a gap is over.
func (s *stream) tellGapEnd(g *gap, at sight) {
	if s.a.config.Events == nil {
		return
	}
	e := eventOf(g)
	e.Kind, e.Closed, e.Copies, e.Message = GapClosed, g.closed, g.copies, g.message.report()
	s.tell(e, at)
}

func eventOf(g *gap) *Event {
	first, last := g.First.PSN(), g.Last.PSN()
	return &Event{First: &first, Last: &last, Count: g.count, Evidence: g.evidence, ConfirmedBy: g.confirmed, Where: g.where}
}

func (s *stream) tellResend(span psn.Span, at sight, why reason, verdict judgement) {
	if s.a.config.Events == nil {
		return
	}
	if why == noReason {
		why = byEarly
	}
	first, last := span.First.PSN(), span.Last.PSN()
	s.tell(&Event{Kind: Retransmission, First: &first, Last: &last, Cause: causes[why], Verdict: verdicts[verdict]}, at)
}

func (s *stream) tellAt(kind EventKind, q psn.Seq, at sight) {
	if s.a.config.Events == nil {
		return
	}
	p := q.PSN()
	s.tell(&Event{Kind: kind, First: &p, Last: &p}, at)
}

func (s *stream) tellFinding(f Finding, at sight) {
	if s.a.config.Events != nil {
		s.at(&f)
		s.tell(&Event{Kind: FindingMade, Finding: f.Kind, Text: f.Text, Counter: f.Counter, Host: f.Host, Frames: f.Frames}, at)
	}
}
