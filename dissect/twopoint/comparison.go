package twopoint

import (
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// Schema is the number of the form of a Comparison.
const Schema = 1

// Comparison is what became of copies between capture points. Its JSON form is
// a contract (docs/output.md).
type Comparison struct {
	Schema    int                `json:"schema"`
	Selection *dissect.Selection `json:"selection,omitempty"` // what was counted, nil for everything
	Captures  []dissect.Capture  `json:"captures"`            // in the order they were given
	Clock     Clock              `json:"clock"`               // of the first two captures
	Clocks    []Clock            `json:"clocks,omitempty"`    // of all pairs compared, when there are more than two captures
	Streams   []Stream           `json:"streams"`             // requests and READ responses, by where they appeared first
	Feedback  []Stream           `json:"feedback,omitempty"`  // acknowledgements and CNPs
	Datagrams []Stream           `json:"datagrams,omitempty"` // UD, connection management included
	Once      []Once             `json:"seen_once,omitempty"`
	Totals    Totals             `json:"totals"`
	Evicted   *Evicted           `json:"evicted,omitempty"` // nil while no bound was hit

	between []stretch // how the clocks differ, of all pairs
}

// Clock is how the clocks of two captures differ.
type Clock struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Offset int64  `json:"offset_ns"` // time in To less time in From, when the first packet passed
	Drift  int64  `json:"drift_ppb"` // nanoseconds that To's clock gains on From's in a second
	Basis  Basis  `json:"basis"`
}

// Stream is what became of the packets of one stream between two points. First
// is the point that they pass first.
type Stream struct {
	Src    dissect.Address `json:"src"`
	Dst    dissect.Address `json:"dst"`
	DestQP dissect.QPN     `json:"destqp"`
	SrcQP  *dissect.QPN    `json:"srcqp,omitempty"` // of datagrams
	Kind   Kind            `json:"kind"`

	Upstream   string   `json:"upstream"`   // file of the first point
	Downstream string   `json:"downstream"` // file of the second
	OrderBy    Evidence `json:"order_by"`

	CopiesAtFirst  int64         `json:"copies_at_first"`
	CopiesAtSecond int64         `json:"copies_at_second"` // intact ones
	Vanished       []Copy        `json:"vanished"`         // by frame, at most Config.MaxVanished
	VanishedTotal  int64         `json:"vanished_total"`
	VanishedRanges []psn.Range   `json:"vanished_ranges"`          // each PSN once
	NotCaptured    int64         `json:"not_captured"`             // copies at the second point that the first capture missed
	Outside        int64         `json:"outside"`                  // copies that passed when one of the captures did not run
	Undecided      int64         `json:"undecided"`                // copies let go because memory is bounded
	Damaged        int64         `json:"damaged"`                  // ICRC good at the first point, bad at the second
	DamagedCopies  []DamagedCopy `json:"damaged_copies,omitempty"` // by frame, at most Config.MaxVanished
	Reordered      int64         `json:"reordered"`                // copies that a later sent one overtook
	Duplicated     int64         `json:"duplicated"`               // sights at the second point in excess of those at the first
	CEMarked       int64         `json:"ce_marked"`                // marked on the way
	ECNChanges     []ECNChange   `json:"ecn_changes,omitempty"`    // CE marks too, the most frequent first
	DSCPChanged    int64         `json:"dscp_changed"`
	DSCPChanges    []DSCPChange  `json:"dscp_changes,omitempty"` // the most frequent first, at most 64
	Hops           *Hops         `json:"hops,omitempty"`         // nil without a hop limit that was lowered
	Delay          Delay         `json:"delay_ns"`
}

// Copy is one transmission of one PSN.
type Copy struct {
	PSN   psn.PSN `json:"psn"`
	Copy  int     `json:"copy"`  // n-th transmission of the PSN at the point that saw it
	Frame int     `json:"frame"` // of that point's capture
}

// DamagedCopy is a copy that came damaged. Frame is of the first point, where it
// was good.
type DamagedCopy struct {
	Copy
	FrameAtSecond int `json:"frame_at_second"`
}

// ECN is the codepoint of RFC 3168.
type ECN uint8

// String is "not-ect", "ect1", "ect0" or "ce".
func (e ECN) String() string { return [...]string{"not-ect", "ect1", "ect0", "ce"}[e&3] }

// MarshalText gives the form of String.
func (e ECN) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// ECNChange is how many copies had their ECN codepoint changed on the way.
type ECNChange struct {
	From   ECN   `json:"from"`
	To     ECN   `json:"to"`
	Copies int64 `json:"copies"`
}

// DSCPChange is the same of the DSCP, 0 to 63.
type DSCPChange struct {
	From   int   `json:"from"`
	To     int   `json:"to"`
	Copies int64 `json:"copies"`
}

// Hops is how much the hop limit was lowered between the points.
type Hops struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

// Delay sums up one-way delays. Count is of all copies found at both points;
// median and 99th percentile rest on a random choice of them where there are
// many. Delays that would be negative are left out.
type Delay = dissect.Span

// Once is a stream that one capture alone has: it does not pass the other, or
// all of it vanished.
type Once struct {
	Src     dissect.Address `json:"src"`
	Dst     dissect.Address `json:"dst"`
	DestQP  dissect.QPN     `json:"destqp"`
	Kind    Kind            `json:"kind"`
	File    string          `json:"file"`
	Packets int64           `json:"packets"`
}

// Totals add up requests and READ responses; feedback and datagrams are apart.
type Totals struct {
	Copies            int64 `json:"copies"` // at the first of two points
	Vanished          int64 `json:"vanished"`
	Damaged           int64 `json:"damaged"`
	Reordered         int64 `json:"reordered"`
	Duplicated        int64 `json:"duplicated"`
	NotCaptured       int64 `json:"not_captured"`
	FeedbackVanished  int64 `json:"feedback_vanished"`
	DatagramsVanished int64 `json:"datagrams_vanished"`
}

// Evicted says what a bound of Config cost.
type Evicted struct {
	Streams   int64 `json:"streams,omitempty"`   // never seen at both points, and dropped
	Packets   int64 `json:"packets,omitempty"`   // of streams that found no room
	Early     int64 `json:"early,omitempty"`     // copies that were not waited for as long as Config.Patience
	Undecided int64 `json:"undecided,omitempty"` // copies let go before they could be decided
}
