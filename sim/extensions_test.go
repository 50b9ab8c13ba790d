package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// received are the PSNs of requests of which some copy arrived intact.
func (r *shown) received() map[uint32]bool {
	all := map[uint32]bool{}
	for i := range r.truth {
		if l := &r.truth[i]; l.data() && (l.Fate == "arrived" || l.Fate == "duplicated") {
			all[l.PSN] = true
		}
	}
	return all
}

// reports are the T/C AETHs that the receiver sent, in order.
func (r *shown) reports(t *testing.T) (all []codec.TCAETH) {
	t.Helper()
	locator, at := dissect.Locator{}, dissect.Packet{}
	for i := range r.frames["receiver"] {
		if locator.Locate(&r.frames["receiver"][i], &at) != dissect.Found {
			t.Fatalf("frame %d is not found", i)
		}
		if b := at.Transport(); b[0] == byte(codec.Op(codec.RC, codec.Acknowledge)) {
			var h codec.TCAETH
			if err := h.Decode(b[16:46]); err != nil {
				t.Fatal(err)
			}
			all = append(all, h)
		}
	}
	return all
}

// A lost tail costs IRN the timer that goes with what is in flight: three tails
// of 220 us more each where no number of packets is few.
func TestIRNLostTail(t *testing.T) {
	all := library(t)
	low, high := play(t, all["irn-tail-low"]), play(t, all["irn-tail-high"])
	if d := high.LastEnded - low.LastEnded; d != 3*220*time.Microsecond {
		t.Errorf("%v more, want 660us", d)
	}
	if low.Resent != 3 || high.Resent != 3 {
		t.Errorf("%d and %d resent, want 3 each", low.Resent, high.Resent)
	}
}

// Whatever is lost, the receiver's cumulative point is never a BDP away.
func TestIRNCap(t *testing.T) {
	r := play(t, library(t)["irn-bdp-cap"])
	done, most := uint32(1000), uint32(0)
	arrived := map[uint32]bool{}
	type moment struct {
		at      int64
		psn     uint32
		arrival bool
	}
	var moments []moment
	for _, l := range r.truth {
		if !l.data() {
			continue
		}
		moments = append(moments, moment{l.Sent, l.PSN, false})
		if l.Fate == "arrived" {
			moments = append(moments, moment{*l.Arrived, l.PSN, true})
		}
	}
	slices.SortStableFunc(moments, func(a, b moment) int { return int(a.at - b.at) })
	for _, m := range moments {
		if !m.arrival {
			most = max(most, m.psn-min(m.psn, done))
			continue
		}
		for arrived[m.psn] = true; arrived[done]; done++ {
		}
	}
	if most >= 109 || r.Resent == 0 || r.Unfinished() > 0 {
		t.Errorf("%d packets beyond the cumulative point, %d resent", most, r.Resent)
	}
}

// MP-RDMA takes each of its paths, and the slow one less.
func TestMPRDMAPaths(t *testing.T) {
	all := library(t)
	for name, check := range map[string]func(path []int) bool{
		"mprdma-clean":     func(n []int) bool { return len(n) == 4 && n[0]*2 > n[3] },
		"mprdma-slow-path": func(n []int) bool { return len(n) == 4 && n[0]*4 < n[1] },
	} {
		r := play(t, all[name], "sender")
		ports := map[uint16]int{}
		locator, at := dissect.Locator{}, dissect.Packet{}
		for i := range r.frames["sender"] {
			f := &r.frames["sender"][i]
			if locator.Locate(f, &at) == dissect.Found && !codec.Opcode(at.Transport()[0]).Response() {
				ports[at.SrcPort]++
			}
		}
		var counts []int
		for _, n := range ports {
			counts = append(counts, n)
		}
		slices.Sort(counts)
		if !check(counts) || r.Unfinished() > 0 || r.Failed() > 0 {
			t.Errorf("%s: packets of the paths %v", name, counts)
		}
	}
}

// A packet that the receiver had no slot for has arrived, and is sent again.
func TestMPRDMAOverflow(t *testing.T) {
	r := play(t, library(t)["mprdma-overflow"])
	nacks := len(named(r.truth, func(l *line) bool { return l.Opcode == codec.OpcodeMPRDMANack }))
	if r.Lost > 0 || nacks == 0 || r.Resent == 0 || r.Unfinished() > 0 {
		t.Errorf("%d lost, %d NACKs, %d resent", r.Lost, nacks, r.Resent)
	}
}

// What the draft taken word for word does to whom: the PSNs of a WRITE that its
// sender takes for done and that never arrived.
func TestLiteralLosesForEver(t *testing.T) {
	all := library(t)
	for name, never := range map[string][]uint32{
		"literal-a-under-way": nil, "literal-b-boundary": {31}, "literal-c-late-block": nil, "literal-d-five-gaps": {8, 10},
		"literal-e-lost-tail": nil, "literal-f-lost-report": {10}, "literal-g-no-clock": nil, "literal-g-newest": {5},
		"literal-h-pause": nil, "literal-i-no-cumulative": nil,
	} {
		s := all[name]
		r := play(t, s, "receiver")
		var missing []uint32
		received := r.received()
		for p := range uint32(s.Work[0].Size.Max / 1024 * int64(s.Work[0].Count)) {
			if !received[p] {
				missing = append(missing, p)
			}
		}
		if !slices.Equal(missing, never) || r.Unfinished() > 0 || r.Failed() > 0 {
			t.Errorf("%s: %v never arrived, want %v; %d unfinished", name, missing, never, r.Unfinished())
		}
		reports, timeout := r.reports(t), 262144*time.Nanosecond
		first := reports[0]
		var shows bool
		switch name {
		case "literal-a-under-way":
			shows = first.SegmentNum == 1 && r.Resent > 0 && r.Lost == 0
		case "literal-b-boundary":
			shows = first.Seg1Right == 30 && reports[1].SegmentNum == 1 && reports[1].LastFinishedPSN > 31
		case "literal-c-late-block":
			late := slices.IndexFunc(reports, func(h codec.TCAETH) bool { return h.LastFinishedPSN == 10 })
			shows = late > 0 && reports[late-1].LastFinishedPSN > 10
		case "literal-d-five-gaps":
			shows = first.SegmentNum == 4
		case "literal-e-lost-tail", "literal-g-no-clock":
			shows = r.LastEnded > timeout
		case "literal-f-lost-report":
			shows = first.LastFinishedPSN == 9
		case "literal-g-newest":
			shows = r.Resent > 2 && r.LastEnded > timeout
		case "literal-i-no-cumulative":
			ack := codec.Op(codec.RC, codec.Acknowledge)
			beyond := slices.IndexFunc(r.truth, func(l line) bool { return l.Opcode == ack && l.PSN == 60 })
			filled := slices.IndexFunc(r.truth, func(l line) bool { return l.Opcode != ack && l.PSN == 10 && l.Copy == 2 })
			shows = first.LastFinishedPSN == 9 && reports[1].LastFinishedPSN == 60 && beyond >= 0 && filled >= 0 &&
				*r.truth[beyond].Arrived < *r.truth[filled].Arrived
		case "literal-h-pause":
			shows = slices.ContainsFunc(reports, func(h codec.TCAETH) bool { return h.LastFinishedPSN == 30 }) // the first of the second message
		}
		if !shows {
			t.Errorf("%s does not show what it is about: %+v", name, reports)
		}
	}
}
