package main

import (
	"math"
	"os"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/sim"
)

// raced runs a scenario with every transport.
func raced(t *testing.T, s *sim.Scenario, loss float64) map[string]lap {
	t.Helper()
	all := map[string]lap{}
	for _, e := range entrants(s, nil, nil) {
		l, err := e.run(loss)
		if err != nil {
			t.Fatal(err)
		}
		if l.Incomplete > 0 {
			t.Errorf("%s at %g: %d incomplete", e.name, loss, l.Incomplete)
		}
		all[e.name] = l
	}
	return all
}

// One lost, three sent again by go-back-N, one of them needed; by the others the
// one.
func TestRaceOneLoss(t *testing.T) {
	text, err := os.ReadFile("../../testdata/scenarios/gbn-one-loss.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := sim.Parse(text, "gbn-one-loss.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := raced(t, s, 0)
	for name, want := range map[string][2]int64{"go-back-n": {1, 2}, "irn": {1, 0}, "windowless": {1, 0}, "mp-rdma": {1, 0}} {
		if l := all[name]; l.Needed != want[0] || l.Redundant != want[1] {
			t.Errorf("%s: %d needed, %d redundant, want %v", name, l.Needed, l.Redundant, want)
		}
	}
}

// Where data alone is lost and the delay is constant, anchored resends what was
// lost and nothing else, and says so in less than one ACK for each packet;
// go-back-N resends more.
func TestRaceBernoulli(t *testing.T) {
	s := sim.Default()
	s.Work[0].Size, s.Work[0].Count = sim.Fixed(1<<20), 4
	for _, loss := range []float64{0.001, 0.01, 0.05} {
		all := raced(t, &s, loss)
		w, g := all["windowless"], all["go-back-n"]
		if w.Redundant != 0 || w.Needed == 0 || w.Feedback >= w.Data/2 {
			t.Errorf("windowless at %g: %+v", loss, w)
		}
		if g.Redundant <= g.Needed {
			t.Errorf("go-back-n at %g: %+v", loss, g)
		}
	}
}

// The ACK of each packet costs MP-RDMA 66 bytes of 1,082 at 1 KiB, of 2,106 at
// 2 KiB; a First has 16 bytes of RETH in addition.
func TestRaceMPRDMAACKs(t *testing.T) {
	for mtu, want := range map[int]float64{1024: 66.0 / 1082, 2048: 66.0 / 2106} {
		s := sim.Default()
		s.Transport.Name, s.Pairs.MTU = sim.MPRDMA, mtu
		s.Work[0].Size = sim.Fixed(4 << 20)
		start := psn.PSN(0)
		s.Pairs.StartPSN = &start
		r, err := sim.Run(&s, sim.Output{})
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(r.AckBytes) / float64(r.Bytes-r.AckBytes); r.Acks != r.Data || math.Abs(got-want) > 1e-4 {
			t.Errorf("MTU %d: %d ACKs of %d packets, %.4f, want %.4f", mtu, r.Acks, r.Data, got, want)
		}
	}
}

// A lost tail costs go-back-N its timer, whatever that is; a timer shorter than
// the round trip has it send in vain.
func TestRaceTimeouts(t *testing.T) {
	s := sim.Default()
	start := psn.PSN(0)
	s.Pairs.StartPSN, s.Work[0].Size = &start, sim.Fixed(4<<10)
	s.Links[0].There.Loss = []sim.Pick{{Model: sim.ByPSN, PSN: []sim.Copy{{PSN: 3, Copy: 1}}}}
	laps := map[string]lap{}
	for _, e := range entrants(&s, nil, []int{0, 5, 12})[4:] {
		l, err := e.run(0)
		if err != nil {
			t.Fatal(err)
		}
		laps[e.name] = l
	}
	short, long := laps["go-back-n timeout 5"], laps["go-back-n timeout 12"]
	const step = (4096<<12 - 4096<<5) * int64(time.Nanosecond)
	if long.Time-short.Time != step || short.Needed != 1 || long.Needed != 1 {
		t.Errorf("%+v, %+v: want %d ns more", short, long, step)
	}
}
