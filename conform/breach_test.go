package conform_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/conform"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/sim"
)

// breached is a fault of rdmagen flow, and the rule that it breaks, as
// docs/scenarios.md and docs/check.md describe them.
type breached struct {
	fault sim.Breach
	rule  string
	taps  []sim.Tap // where it shows
	of    []string  // transports
	work  []string
	loss  []string // lists of packets that are lost
}

var (
	bothTaps = []sim.Tap{"sender", "receiver"}
	gbn      = []string{"go-back-n"}
	tc       = []string{"windowless", "windowless, mode: literal"}
	mp       = []string{"mp-rdma"}
	irnOnly  = []string{"irn"}
	capped   = []string{"irn, cap: 12"}
	each     = []string{"go-back-n", "irn", "windowless", "windowless, mode: literal", "mp-rdma"}

	writes = "{verb: write, size: 16KiB, count: 6}"
	sends  = "{verb: send, size: 16KiB, count: 6}"
	one    = "{verb: write, size: 64KiB, count: 1}"
	long   = "{verb: write, size: 64KiB, count: 8}"
	steady = "{verb: write, size: 64KiB, count: 200, every: 15us}"
	none   = ""
	some   = "5, 17, 23, 41"
)

var table = []breached{
	{sim.SecondNAK, "one-nak", bothTaps, gbn, []string{writes, sends, one}, []string{some}},
	{sim.ResendWrongPSN, "resend-starts-at-nak", bothTaps[:1], gbn, []string{writes, sends}, []string{some}},
	{sim.MiddleWithoutFirst, "middle-last-follow-first", bothTaps, gbn, []string{writes, sends, one}, []string{none}},
	{sim.ACKRegression, "ack-regression", bothTaps, gbn, []string{writes, sends, one}, []string{none}},
	{sim.ACKRegression, "ack-regression", bothTaps, irnOnly, []string{writes, sends}, []string{none, some}},
	{sim.ACKRegression, "tc-psn", bothTaps, tc, []string{writes, sends, one}, []string{none, some}},
	{sim.ACKRegression, "mp-one-ack-per-packet", bothTaps[1:], mp, []string{writes, sends}, []string{none, some}},
	{sim.ReservedBits, "reserved-bits", bothTaps, each, []string{writes, sends, one}, []string{none, some}},
	{sim.BadPadCnt, "pad-count", bothTaps, each, []string{writes, sends, one}, []string{none, some}},
	{sim.BadDMALen, "dmalen-equals-payload", bothTaps, []string{"go-back-n", "windowless", "mp-rdma"}, []string{writes, one}, []string{none}},
	{sim.BadDMALen, "irn-dmalen-of-each-packet", bothTaps, irnOnly, []string{writes, one}, []string{none, some}},
	{sim.MSNJump, "msn-grows-by-completed-messages", bothTaps, each, []string{writes, sends}, []string{none, some}},
	{sim.TCSegmentOrder, "tc-segment-order", bothTaps, tc, []string{long}, []string{"5, 7, 9, 11, 13, 15"}},
	{sim.TCLateReport, "tc-report-in-time", bothTaps[1:], tc, []string{steady}, []string{none}},
	{sim.TCLateReport, "tc-report-in-time", bothTaps[1:], tc[:1], []string{steady}, []string{some}},
	{sim.TCResendConfirmed, "tc-resend-only-gaps", bothTaps[:1], tc, []string{writes, sends, long}, []string{some}},
	{sim.IRNMissingNACK, "irn-nack-each-arrival", bothTaps[1:], irnOnly, []string{writes, sends, long}, []string{some}},
	{sim.IRNWrongNACK, "irn-nack-names-first-missing", bothTaps[1:], irnOnly, []string{writes, sends, long}, []string{some}},
	{sim.IRNOverCap, "irn-in-flight-cap", bothTaps[:1], capped, []string{writes, sends, long}, []string{none, some}},
	{sim.MPWrongNACK, "mp-nack-reason", bothTaps, mp, []string{writes, sends, long}, []string{none, some}},
	{sim.MPOldAACK, "mp-aack", bothTaps[1:], mp, []string{writes, sends, long}, []string{none, some}},
	{sim.MissingMPACK, "mp-one-ack-per-packet", bothTaps[1:], mp, []string{writes, sends}, []string{none, some}},
}

// Each fault is found, by the rule that it breaks and where that shows; without
// it nothing is found.
func TestBreaches(t *testing.T) {
	for _, b := range table {
		for _, transport := range b.of {
			var stated conform.Config
			fmt.Sscanf(transport, "irn, cap: %d", &stated.Cap)
			for _, work := range b.work {
				for _, loss := range b.loss {
					text := fmt.Sprintf("transport: {name: %s}\npairs: {ack-timeout: 8}\nwork: %s\nlinks: {name: wire, delay: 5us, there: {loss: {model: nth, n: [%s]}}}\n", transport, work, loss)
					if loss == none {
						text = strings.Replace(text, ", there: {loss: {model: nth, n: []}}", "", 1)
					}
					name := fmt.Sprintf("%s, %s, %s, lost %q", b.fault, transport, work, loss)
					for at, frames := range play(t, text) {
						if got := checkBy(stated, frames); len(got) > 0 {
							t.Errorf("%s at the %s: %v without the fault", name, at, got)
						}
					}
					broken := play(t, text+"fault: "+string(b.fault)+"\n")
					for _, at := range b.taps {
						found := checkBy(stated, broken[at])
						if transport == tc[1] { // its times do not tell where the capture point is
							stated := conform.Config{Tap: dissect.Tap(at)}
							found = append(found, checkBy(stated, broken[at])...)
						}
						if !slices.ContainsFunc(found, func(v string) bool { return strings.HasPrefix(v, b.rule+" violation ") }) {
							t.Errorf("%s at the %s: %v, no %s", name, at, found, b.rule)
						}
					}
				}
			}
		}
	}
	for _, name := range sim.BreachNames() {
		if !slices.ContainsFunc(table, func(b breached) bool { return string(b.fault) == name }) {
			t.Errorf("no test of %s", name)
		}
	}
}
