package dissect

import (
	"fmt"

	"github.com/rdmadump/rdmadump/psn"
)

// Schema is the number of the report's form. A field may be added under the
// same number; none changes meaning or disappears.
const Schema = 1

// Report is what an analysis found. Its JSON form is a contract (docs/output.md).
// A count that is zero is written; an empty list may be left out.
type Report struct {
	Schema      int          `json:"schema"`
	Selection   *Selection   `json:"selection,omitempty"` // what was analysed, nil for everything
	Captures    []Capture    `json:"captures"`
	Connections []Connection `json:"connections"`
	Totals      Totals       `json:"totals"`

	// UnmatchedPairs is those of Config.Pairs of which the capture has not both
	// directions.
	UnmatchedPairs []UnmatchedPair `json:"unmatched_pairs,omitempty"`

	Evicted *Evicted `json:"evicted,omitempty"` // nil while no bound was hit
}

// Capture sums up one input.
type Capture struct {
	File            string `json:"file"`
	Format          string `json:"format"` // "pcap" or "pcapng"
	Frames          int64  `json:"frames"`
	RDMAFrames      int64  `json:"rdma_frames"`
	CutFrames       int64  `json:"cut_frames"` // RDMA frames captured only in part
	BadICRC         int64  `json:"bad_icrc"`
	DuplicateFrames int64  `json:"duplicate_frames"`    // seen twice, otherwise ignored
	Fragments       int64  `json:"fragments"`           // IP fragments, counted and not decoded
	CaptureDrops    uint64 `json:"capture_drops"`       // frames that the capture itself lost
	Backwards       int64  `json:"backwards"`           // frames with an earlier time than the frame before
	FirstTime       Time   `json:"first_time,omitzero"` // the earliest; 0 where no frame has a time
	LastTime        Time   `json:"last_time,omitzero"`  // the latest
	Error           string `json:"error"`
}

// Connection is two halves that answer each other, or one half alone.
type Connection struct {
	ID        int      `json:"id"`        // from 1, in order of appearance
	Service   string   `json:"service"`   // "RC", "UC", "RD" or "XRC"
	Transport string   `json:"transport"` // "go-back-n", "irn", "windowless", "mp-rdma", or "none" for UC
	PairedBy  string   `json:"paired_by"` // "cm", "feedback", "user" or "none"
	A         *End     `json:"a,omitempty"`
	B         *End     `json:"b,omitempty"`
	Streams   []Stream `json:"streams"`

	IRN        *IRN        `json:"irn,omitempty"`
	Windowless *Windowless `json:"windowless,omitempty"`
	MPRDMA     *MPRDMA     `json:"mp_rdma,omitempty"`
}

// IRN is what an IRN sender did.
type IRN struct {
	Recoveries   int64 `json:"recoveries"`
	RTOLow       int64 `json:"rto_low"`  // timeouts with 3 or fewer packets in flight
	RTOHigh      int64 `json:"rto_high"` // timeouts with more
	InFlightPeak int64 `json:"inflight_peak"`
	BDPCap       int64 `json:"bdp_cap"` // packets that the sender keeps in flight at most; 0 unknown
}

// Windowless is what the reports of a windowless receiver tell of it. The
// triggers are estimated from the batches seen here.
type Windowless struct {
	Reports        int64 `json:"reports"`
	Invalid        int64 `json:"invalid"` // of the reports, those that make no sense
	ByCount        int64 `json:"by_count"`
	ByTime         int64 `json:"by_time"`
	ByRanges       int64 `json:"by_ranges"`
	CThresh        int64 `json:"c_thresh"`        // packets; 0 unknown
	TThresh        int64 `json:"t_thresh_ns"`     // nanoseconds; 0 unknown
	BoundaryLosses int64 `json:"boundary_losses"` // PSNs that no report can show
	TailResends    int64 `json:"tail_resends"`    // packets
}

// MPRDMA is what MP-RDMA shows of its paths and its receiver.
type MPRDMA struct {
	Paths            []Path `json:"paths"`
	OutOfOrderMax    int64  `json:"out_of_order_max"` // largest PSN - lowest missing PSN at an arrival
	BitmapPeak       int64  `json:"bitmap_peak"`      // that + 1
	SynchroniseEarly int64  `json:"synchronise_early"`
}

// Path is a virtual path of MP-RDMA.
type Path struct {
	SrcPort uint16 `json:"sport"`
	Packets int64  `json:"packets"`
	Acks    int64  `json:"acks"` // 0xFA
	CE      int64  `json:"ce"`   // ACKs that echo a CE mark
	RTT     int64  `json:"rtt_ns"`
	Slow    int64  `json:"slow"` // ACKs further behind than the tolerance
}

// End is one end of a connection.
type End struct {
	Address Address `json:"address"`
	QPN     QPN     `json:"qpn"`
}

// Stream is a sequence of packets in one PSN space and the feedback on it.
type Stream struct {
	Src           Address       `json:"src"`
	Dst           Address       `json:"dst"`
	DestQP        QPN           `json:"destqp"`
	Kind          string        `json:"kind"` // "request" or "read-response"
	Epochs        int           `json:"epochs"`
	FirstPSN      psn.PSN       `json:"first_psn"`
	LastPSN       psn.PSN       `json:"last_psn"` // the last PSN consumed: a trailing READ takes n
	Packets       int64         `json:"packets"`
	PayloadBytes  int64         `json:"payload_bytes"`
	Lost          int64         `json:"lost"`          // copies that the network lost, as far as proved
	LostHarmless  int64         `json:"lost_harmless"` // those of them that the receiver did not need
	Damaged       int64         `json:"damaged"`       // packets with a bad ICRC
	Discarded     int64         `json:"discarded"`     // arrived here and refused by the receiver
	LostRanges    []psn.Range   `json:"lost_ranges"`   // each distinct lost PSN once
	Undecided     int64         `json:"undecided"`     // PSNs of which the capture cannot tell
	NotCaptured   int64         `json:"not_captured"`  // PSNs that the capture lost, not the network
	Reordered     int64         `json:"reordered"`
	GapsTotal     int64         `json:"gaps_total"`
	GapsReordered int64         `json:"gaps_reordered,omitempty"` // of them those that were late packets
	Gaps          []Gap         `json:"gaps"`                     // the worst first, at most Config.MaxGaps
	Retransmitted Retransmitted `json:"retransmitted"`
	Efficiency    *float64      `json:"efficiency,omitempty"` // unique payload bytes acknowledged per byte sent
	Feedback      Feedback      `json:"feedback"`
	Times         Times         `json:"times"`
	Findings      []Finding     `json:"findings"`
}

// Gap is a maximal run of consecutive PSNs that were missing at one moment.
type Gap struct {
	First       psn.PSN  `json:"first"`
	Last        psn.PSN  `json:"last"`
	Count       int64    `json:"count"`
	Evidence    Evidence `json:"evidence"`
	ConfirmedBy Evidence `json:"confirmed_by,omitempty"` // feedback that named what was observed
	Where       Where    `json:"where"`
	OpenedFrame int      `json:"opened_frame"`
	OpenedNS    int64    `json:"opened_ns"` // from the first packet of the input
	Closed      Closed   `json:"closed"`
	ClosedFrame int      `json:"closed_frame,omitempty"`
	ClosedNS    int64    `json:"closed_ns,omitempty"`
	Copies      int      `json:"copies"` // the largest number of lost copies of any of its PSNs
	File        *int     `json:"file,omitempty"`
	Message     *Message `json:"message,omitempty"`
}

// Message is what a gap hit, as far as the capture saw it.
type Message struct {
	Number     int64   `json:"number"`                // in the stream, from 1
	OpcodeName string  `json:"opcode_name,omitempty"` // empty when its first packet was not seen
	VA         Hex64   `json:"va,omitempty"`
	RKey       *uint32 `json:"r_key,omitempty"`
}

// Retransmitted counts packets whose PSN had been sent before.
type Retransmitted struct {
	Packets      int64             `json:"packets"`
	PayloadBytes int64             `json:"payload_bytes"`
	ByCause      map[Cause]int64   `json:"by_cause"`
	ByVerdict    map[Verdict]int64 `json:"by_verdict"`
}

// Feedback counts what the receiver said about a stream.
type Feedback struct {
	Packets    int64     `json:"packets"` // acknowledgements, not READ responses or ATOMIC acknowledges
	Bytes      int64     `json:"bytes"`   // on the wire, from the BTH to the ICRC
	Acks       int64     `json:"acks"`
	Naks       int64     `json:"naks"`               // all NAK codes; RNR NAKs are not among them
	NakPSNs    []psn.PSN `json:"nak_psns,omitempty"` // distinct PSNs of sequence errors in order of appearance
	RNRNaks    int64     `json:"rnr_naks"`
	AtomicAcks int64     `json:"atomic_acks"`
	Cut        int64     `json:"cut"`       // acknowledgements of which the AETH was cut off
	NoCredit   int64     `json:"no_credit"` // ACKs that grant no receive request
}

// Times are spans that this capture point can be trusted with.
type Times struct {
	NakGeneration *Span `json:"nak_generation_ns,omitempty"`
	NakReaction   *Span `json:"nak_reaction_ns,omitempty"`
	Recovery      *Span `json:"recovery_ns,omitempty"`
	Timeout       *Span `json:"timeout_ns,omitempty"`
	RTT           *Span `json:"rtt_ns,omitempty"`
	Message       *Span `json:"message_ns,omitempty"`
}

// Span sums up samples of a duration in nanoseconds.
type Span struct {
	Count  int64 `json:"count"`
	Min    int64 `json:"min"`
	Median int64 `json:"median"`
	P99    int64 `json:"p99"`
	Max    int64 `json:"max"`
}

// Finding is something that an operator should know, in words.
type Finding struct {
	Kind    string  `json:"kind"` // "retry-exhausted", "stale-psn", "rnr-storm", ...
	Text    string  `json:"text"`
	Counter string  `json:"counter,omitempty"` // the NIC counter that counts the same
	Frames  []int   `json:"frames,omitempty"`
	Host    Address `json:"host,omitzero"` // whose NIC has it
}

// Totals add up all streams.
type Totals struct {
	Connections   int   `json:"connections"`
	Datagrams     int64 `json:"datagrams"` // packets of UD, connection management included
	Packets       int64 `json:"packets"`   // all RDMA packets but duplicates
	Lost          int64 `json:"lost"`
	Retransmitted int64 `json:"retransmitted"`
	NotCaptured   int64 `json:"not_captured"`
	CNPs          int64 `json:"cnps"`
	CEMarked      int64 `json:"ce_marked"`

	PauseFrames int64    `json:"pause_frames"` // 802.3x frames that pause a link
	PFC         [8]int64 `json:"pfc"`          // frames that pause a priority, for each
}

// Evicted says what was dropped because a bound of Config was hit, or nothing came
// any more.
type Evicted struct {
	Halves int64 `json:"halves,omitempty"`
	Gaps   int64 `json:"gaps,omitempty"`
	Ranges int64 `json:"lost_ranges,omitempty"` // of lost PSNs, not listed though counted

	// Unproven is packets that waited for proof that they are RDMA, until too
	// many others did.
	Unproven int64 `json:"unproven,omitempty"`

	// Idle is connections that RetireIdle ended. What they counted is in the
	// totals, wholly.
	Idle int64 `json:"idle,omitempty"`
}

// Evidence is what a gap rests on.
type Evidence string

// The kinds of evidence.
const (
	EvidenceObserved   Evidence = "observed"    // a later PSN passed the capture point first
	EvidenceNAK        Evidence = "nak"         // the receiver named it
	EvidenceIRNNack    Evidence = "irn-nack"    // the receiver named it
	EvidenceTCAETH     Evidence = "tc-aeth"     // the receiver named it
	EvidenceMPNack     Evidence = "mp-nack"     // the receiver named it
	EvidenceReTx       Evidence = "retx"        // it says that it is sent again, and no copy passed before
	EvidenceImpliedNAK Evidence = "implied-nak" // a new READ request names the first missing response
	EvidenceTimeout    Evidence = "timeout"     // the sender resent it without feedback
	EvidenceICRC       Evidence = "icrc"        // it came damaged
)

// Where is the place of a loss, seen from the capture point.
type Where string

// The places.
const (
	Upstream   Where = "upstream"   // lost before the capture point
	Downstream Where = "downstream" // seen here, missing at the receiver
	Unknown    Where = "unknown"    // a timeout alone: the data or its acknowledgement
	Nowhere    Where = "none"       // reordered, not lost
	InCapture  Where = "capture"    // the capture lost it
)

// Closed is how a gap ended.
type Closed string

// The ways to end.
const (
	ClosedRetransmitted Closed = "retransmitted"
	ClosedReordered     Closed = "reordered"    // it was late, not lost
	ClosedNotCaptured   Closed = "not-captured" // acknowledged though nobody resent it
	Open                Closed = "open"         // not by the end of the capture
)

// Cause is why a packet was sent again.
type Cause string

// The causes.
const (
	CauseNAK        Cause = "nak"
	CauseIRNNack    Cause = "irn-nack"
	CauseTCAETH     Cause = "tc-aeth"
	CauseMPNack     Cause = "mp-nack"
	CauseImpliedNAK Cause = "implied-nak"
	CauseRNR        Cause = "rnr"
	CauseTimeout    Cause = "timeout"
	CauseEarly      Cause = "early" // no reason visible here
)

// Verdict is whether sending a packet again was of use.
type Verdict string

// The verdicts.
const (
	Needed         Verdict = "needed"    // the receiver did not have it
	Redundant      Verdict = "redundant" // it provably had it
	Wasted         Verdict = "wasted"    // resent only because go-back-N starts over
	UnknownVerdict Verdict = "unknown"
)

// QPN is a queue pair number, written as people search it in logs: "0x000222".
type QPN uint32

// String is "0x" and 6 hexadecimal digits.
func (q QPN) String() string { return fmt.Sprintf("0x%06x", uint32(q)) }

// MarshalText gives the form of String.
func (q QPN) MarshalText() ([]byte, error) { return []byte(q.String()), nil }

// Time is a point in time in nanoseconds since 1970-01-01 UTC.
type Time int64

// String is seconds and nanoseconds: "1700000000.000001000".
func (t Time) String() string {
	sec, ns := int64(t)/1e9, int64(t)%1e9
	if ns < 0 {
		sec, ns = sec-1, ns+1e9
	}
	return fmt.Sprintf("%d.%09d", sec, ns)
}

// MarshalText gives the form of String.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Hex64 is a 64-bit value written as "0x00007f0000001000", "" when empty.
type Hex64 string

// NewHex64 writes v.
func NewHex64(v uint64) Hex64 { return Hex64(fmt.Sprintf("0x%016x", v)) }
