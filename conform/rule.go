package conform

import (
	"fmt"
	"slices"
	"strings"
)

// Severity says how much a broken rule means.
type Severity string

// The severities. A Violation is against the specification; a Note is allowed,
// or may have another cause, and is worth a look.
const (
	Violates Severity = "violation"
	Notes    Severity = "note"
)

// Rule is one that a transport promises to keep.
type Rule struct {
	Name     string   // stable, in kebab case
	Severity Severity // the highest with which it is reported
	Source   string   // where it is laid down
	Text     string   // what it says, one line
	About    string   // whom it binds: "any", or a transport
	Judged   string   // the capture points at which it can be judged
}

// ruleID is a rule's place in the table.
type ruleID uint8

const (
	nakNamesFirstMissing ruleID = iota
	oneNAK
	ackRegression
	ackWithinWindow
	msnGrows
	resendStartsAtNAK
	resendInOrder
	retryCount
	earlyTimeout
	readConsumption
	middleLastFollowFirst
	payloadFillsMTU
	dmaLenEqualsPayload
	padCount
	icrcRight
	reservedBits
	irnNACKNamesFirstMissing
	irnResendOnlyHoles
	irnDMALenOfEachPacket
	irnNACKEachArrival
	irnInFlightCap
	tcSegmentNum
	tcSegmentOrder
	tcPSN
	tcReportInTime
	tcResendOnlyGaps
	mpOneACKPerPacket
	mpACKOnOwnPath
	mpEchoes
	mpAACK
	mpNACKReason
	nRules
)

const (
	everyone = "any"
	reliable = "go-back-n"
	anywhere = "anywhere"
	bySender = "next to the requester"
	draft    = "draft Windowless Cumulative ACK"
	irnPaper = "Revisiting Network Support for RDMA"
	mpPaper  = "Multi-Path Transport for RDMA"
)

var rules = [nRules]Rule{
	nakNamesFirstMissing:     {"nak-names-first-missing", Violates, "IBA 9.7.5.2", "a sequence NAK names the first PSN that is missing", reliable, anywhere},
	oneNAK:                   {"one-nak", Violates, "IBA 9.7.5.2", "one NAK, and no second until the PSN that it names has come", reliable, anywhere},
	ackRegression:            {"ack-regression", Violates, "IBA 9.7.5.1.2", "acknowledgements never go back", "go-back-n, irn", "anywhere; a note where it may have been overtaken"},
	ackWithinWindow:          {"ack-within-window", Violates, "IBA 9.7.6", "an acknowledgement names a PSN that was sent", reliable, anywhere},
	msnGrows:                 {"msn-grows-by-completed-messages", Violates, "IBA 9.7.7.1", "the MSN grows by the number of messages completed", everyone, anywhere},
	resendStartsAtNAK:        {"resend-starts-at-nak", Violates, "IBA 9.7.5.2", "a resend begins at the PSN that feedback asks for", reliable, bySender},
	resendInOrder:            {"resend-in-order", Violates, "IBA 9.7.5", "a resend runs in order and leaves nothing out", reliable, bySender},
	retryCount:               {"retry-count", Violates, "IBA 9.7.6.1.3", "no more retries without progress than the retry count", reliable, "anywhere, with the CM exchange"},
	earlyTimeout:             {"early-timeout", Notes, "IBA 9.7.6.1.3", "no resend without feedback before the ACK timeout", reliable, "anywhere, with the CM exchange"},
	readConsumption:          {"read-psn-consumption", Violates, "IBA 9.7.3", "a READ takes as many PSNs as its response has packets", everyone, anywhere},
	middleLastFollowFirst:    {"middle-last-follow-first", Violates, "IBA 9.7.4.1", "Middle and Last follow First, and no message begins within another", everyone, anywhere},
	payloadFillsMTU:          {"payload-fills-mtu", Violates, "IBA 9.7.4.1", "First and Middle carry a whole path MTU, Last 1 byte to a path MTU", everyone, anywhere},
	dmaLenEqualsPayload:      {"dmalen-equals-payload", Violates, "IBA 9.7.4.1", "the payload of a message adds up to its DMALen", everyone, anywhere},
	padCount:                 {"pad-count", Violates, "IBA 9.2", "PadCnt fills the payload up to whole words, and only the last packet has pad", everyone, anywhere},
	icrcRight:                {"icrc", Violates, "IBA 7.8", "the ICRC is right", everyone, "a violation next to who sent it where --side says so, elsewhere a note"},
	reservedBits:             {"reserved-bits", Violates, "IBA 9.2, 9.3", "reserved bits are zero", everyone, anywhere},
	irnNACKNamesFirstMissing: {"irn-nack-names-first-missing", Violates, irnPaper + ", 3.1", "a NACK names a PSN that came above the one still expected", "irn", "anywhere; whether that had come, next to the responder"},
	irnResendOnlyHoles:       {"irn-resend-only-holes", Violates, irnPaper + ", 3.1", "only the cumulative PSN, and PSNs below the highest SACK, are resent", "irn", bySender},
	irnDMALenOfEachPacket:    {"irn-dmalen-of-each-packet", Violates, irnPaper + ", 4.3", "the RETH of a WRITE packet speaks of just its payload", "irn", anywhere},
	irnNACKEachArrival:       {"irn-nack-each-arrival", Violates, irnPaper + ", 3.1", "each packet that comes out of order draws a NACK", "irn", "next to the responder"},
	irnInFlightCap:           {"irn-in-flight-cap", Violates, irnPaper + ", 3.2", "never more packets are in flight than the cap allows (BDP-FC)", "irn", "anywhere, with the cap as stated"},
	tcSegmentNum:             {"tc-segment-num", Violates, draft, "SegmentNum is 1 to 4", "windowless", anywhere},
	tcSegmentOrder:           {"tc-segment-order", Violates, draft, "segments are ordered, disjoint and above LastFinishedPSN", "windowless", anywhere},
	tcPSN:                    {"tc-psn", Violates, "this toolkit, for the draft is silent", "the PSN of a report is its LastFinishedPSN", "windowless", anywhere},
	tcReportInTime:           {"tc-report-in-time", Violates, draft, "a report comes when the number of packets or the time for it is reached", "windowless", "next to the responder; elsewhere a note. Thresholds as stated, else as other reports show them"},
	tcResendOnlyGaps:         {"tc-resend-only-gaps", Violates, draft, "nothing is resent that reports say has come", "windowless", bySender},
	mpOneACKPerPacket:        {"mp-one-ack-per-packet", Violates, mpPaper + ", 3.1", "each packet draws one acknowledgement", "mp-rdma", "next to the responder; one too few also where its IPv4 identifications show that all passed"},
	mpACKOnOwnPath:           {"mp-ack-on-own-path", Violates, mpPaper + ", 3.1", "an acknowledgement returns on its packet's path", "mp-rdma", anywhere},
	mpEchoes:                 {"mp-echoes", Violates, mpPaper + ", 3.1", "ECE and ReTxEcho repeat what the packet carried", "mp-rdma", "anywhere; an ECE too many next to the responder"},
	mpAACK:                   {"mp-aack", Violates, mpPaper + ", 3.2", "AACK is the highest PSN received in order, the packet acknowledged included", "mp-rdma", "anywhere; whether the next one had come, next to the responder"},
	mpNACKReason:             {"mp-nack-reason", Violates, mpPaper + ", 3.3", "a NACK names the first missing PSN for want of a slot, or a synchronise packet that came early", "mp-rdma", anywhere},
}

// paired reports whether a rule speaks of both ends, so that it must be certain
// that they belong together.
func (r ruleID) paired() bool {
	switch r {
	case readConsumption, middleLastFollowFirst, dmaLenEqualsPayload, padCount, icrcRight, reservedBits,
		irnDMALenOfEachPacket, tcSegmentNum, tcSegmentOrder, tcPSN:
		return false
	}
	return true
}

// goBackN reports whether a rule is judged by the terms of go-back-N.
func (r ruleID) goBackN() bool { return r <= earlyTimeout }

// Rules lists all rules, in the order of the documentation.
func Rules() []Rule { return slices.Clone(rules[:]) }

// RuleSet is some of the rules. The zero RuleSet is all of them.
type RuleSet struct{ left uint64 } // bit i: rule i is not in it

func (s RuleSet) has(r ruleID) bool { return s.left>>r&1 == 0 }

// Empty reports whether no rule is left in the set.
func (s RuleSet) Empty() bool { return s.left == 1<<nRules-1 }

// find is the rule with a name.
func find(name string) (ruleID, error) {
	i := slices.IndexFunc(rules[:], func(r Rule) bool { return r.Name == name })
	if i < 0 {
		return 0, fmt.Errorf("no such rule: %s", name)
	}
	return ruleID(i), nil
}

// Only is the set of the rules named, with commas between them.
func Only(names string) (RuleSet, error) {
	s := RuleSet{1<<nRules - 1}
	for name := range strings.SplitSeq(names, ",") {
		r, err := find(name)
		if err != nil {
			return RuleSet{}, err
		}
		s.left &^= 1 << r
	}
	return s, nil
}

// Without is the set less the rules named, with commas between them.
func (s RuleSet) Without(names string) (RuleSet, error) {
	for name := range strings.SplitSeq(names, ",") {
		r, err := find(name)
		if err != nil {
			return s, err
		}
		s.left |= 1 << r
	}
	return s, nil
}
