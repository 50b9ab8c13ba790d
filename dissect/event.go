package dissect

import "github.com/rdmadump/rdmadump/psn"

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

// Event is something that happened, told as soon as it is known. Its JSON form
// is a contract (docs/output.md); fields that say nothing about an event are
// left out.
type Event struct {
	Kind       EventKind `json:"event"`
	Time       Time      `json:"time"`
	Frame      int       `json:"frame"`
	Connection int       `json:"connection"`
	Src        Address   `json:"src"`
	DestQP     QPN       `json:"destqp"`
	First      *psn.PSN  `json:"first,omitempty"`
	Last       *psn.PSN  `json:"last,omitempty"`
	Evidence   Evidence  `json:"evidence,omitempty"`
	Where      Where     `json:"where,omitempty"`
	Closed     Closed    `json:"closed,omitempty"`
	Cause      Cause     `json:"cause,omitempty"`
	Verdict    Verdict   `json:"verdict,omitempty"`
	Text       string    `json:"text,omitempty"`
}
