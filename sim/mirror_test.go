package sim

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/dissect"
)

// eachQuick gives lossy flows whose round trips are shorter than the time that a
// mirrored copy is given, over carriers that have no IP identification.
func eachQuick(t *testing.T, visit func(t *testing.T, s *Scenario)) {
	for _, carrier := range []Carrier{CarrierIPv6, CarrierRoCEv1, CarrierIBGRH} {
		for _, delay := range []time.Duration{100 * time.Nanosecond, 500 * time.Nanosecond, time.Microsecond, 5 * time.Microsecond} {
			for _, name := range []TransportName{GoBackN, IRN, Windowless, MPRDMA} {
				if name == MPRDMA && carrier != CarrierIPv6 {
					continue // it has no UDP ports there
				}
				for _, verb := range []string{"write", "read"} {
					if verb == "read" && name != GoBackN {
						continue
					}
					for seed := range uint64(3) {
						t.Run(fmt.Sprint(carrier, delay, name, verb, seed), func(t *testing.T) {
							t.Parallel()
							s := Default()
							s.Seed, s.Carrier, s.Transport.Name = seed, carrier, name
							if carrier == CarrierIPv6 {
								s.Sender.Address, s.Receiver.Address = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
							}
							s.Work = []Work{{Verb: Verb(verb), Size: Fixed(64 << 10), Count: 4, From: FromSender}}
							s.Links[0].Delay = delay
							s.Links[0].There.Loss = []Pick{{Model: Bernoulli, P: 0.02, Only: OnlyData}}
							visit(t, &s)
						})
					}
				}
			}
		}
	}
}

// Resends are no mirrored copies.
func TestQuickResends(t *testing.T) {
	eachQuick(t, func(t *testing.T, s *Scenario) {
		r := play(t, s, "sender", "receiver")
		for _, tap := range []Tap{"sender", "receiver"} {
			report := analyze(r.frames[tap])
			if n := report.Captures[0].DuplicateFrames; n != 0 {
				t.Errorf("%s: %d frames pass for mirrored copies", tap, n)
			}
			if tap == "sender" && s.Work[0].Verb == "write" && report.Totals.Retransmitted != r.Resent {
				t.Errorf("%d resent, want %d", report.Totals.Retransmitted, r.Resent)
			}
		}
	})
}

// A mirror that shows each frame twice changes nothing.
func TestQuickMirror(t *testing.T) {
	eachQuick(t, func(t *testing.T, s *Scenario) {
		r := play(t, s, "sender")
		once := r.frames["sender"]
		var twice []dissect.Frame
		for i := range once {
			f := once[i]
			f.Time += 30 // from one port of the switch to the other
			twice = append(twice, once[i], f)
		}
		slices.SortStableFunc(twice, func(a, b dissect.Frame) int { return int(a.Time - b.Time) })
		for i := range twice {
			twice[i].Number = i + 1
		}
		a, b := analyze(once), analyze(twice)
		if n := b.Captures[0].DuplicateFrames; n != int64(len(once)) {
			t.Errorf("%d of %d frames pass for mirrored copies", n, len(once))
		}
		if x, y := verdict(t, a), verdict(t, b); x != y {
			t.Errorf("once\n%s\ntwice\n%s", x, y)
		}
	})
}

// verdict is what a report says of losses and resends.
func verdict(t *testing.T, r *dissect.Report) string {
	var all []any
	for _, c := range r.Connections {
		for _, s := range c.Streams {
			all = append(all, s.Lost, s.LostRanges, s.Retransmitted, s.Undecided, s.Discarded)
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
