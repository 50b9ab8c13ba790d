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

// held runs a scenario with a transport, and gives the most that was held.
func held(t *testing.T, s *sim.Scenario) (packets int, bytes int64) {
	t.Helper()
	l, err := (&entrant{string(s.Transport.Name), *s}).run(0)
	if err != nil || l.Incomplete > 0 {
		t.Fatalf("%s: %v, %d incomplete", s.Transport.Name, err, l.Incomplete)
	}
	return l.Held, l.HeldBytes
}

// A send window fills before the first acknowledgement comes back, and no more
// than that is ever held: packets are the window, bytes that times the MTU.
func TestRaceHeldIsWindow(t *testing.T) {
	for _, n := range []int{1, 4, 13, 32} {
		s := sim.Default()
		s.Links[0].Delay = time.Millisecond
		for _, transport := range []sim.Transport{{Name: sim.GoBackN, Window: n, AckEvery: 1}, {Name: sim.IRN, Cap: n, RTOLow: time.Second, RTOHigh: time.Second}} {
			s.Transport = transport
			if packets, bytes := held(t, &s); packets != n || bytes != int64(n*s.Pairs.MTU) {
				t.Errorf("%s: %d packets, %d bytes held, want %d of %d", transport.Name, packets, bytes, n, s.Pairs.MTU)
			}
		}
	}
}

// What is sent in less than a round trip is held as a whole, by each transport
// alike, also the short last packet; so is what all queue pairs together send. Of
// READs only the requests are.
func TestRaceHeldIsAll(t *testing.T) {
	s := sim.Default()
	s.Links[0].Delay, s.Pairs.AckTimeout, s.Pairs.Count = time.Millisecond, 20, 3
	s.Work[0].Size, s.Work[0].Count = sim.Fixed(5*1024-24), 3
	for _, name := range sim.TransportNames() {
		s.Transport = sim.Transport{Name: sim.TransportName(name)}
		s.Work[0].Verb = "write"
		if packets, bytes := held(t, &s); packets != 3*3*5 || bytes != 3*3*(5*1024-24) {
			t.Errorf("%s: %d packets, %d bytes held", name, packets, bytes)
		}
		s.Work[0].Verb = "read"
		if packets, bytes := held(t, &s); packets != 3*3 || bytes != 0 {
			t.Errorf("%s: READs: %d packets, %d bytes held", name, packets, bytes)
		}
	}
}

// A lost packet keeps what follows it in the buffer until it is sent again. Without
// a window that is more than before; with IRN's cap it is never more than the cap.
func TestRaceHeldByLoss(t *testing.T) {
	s := sim.Default()
	start := psn.PSN(0)
	s.Pairs.StartPSN, s.Work[0].Size, s.Links[0].Delay = &start, sim.Fixed(1<<20), time.Microsecond
	lossy := s
	lossy.Links = []sim.Link{s.Links[0]}
	lossy.Links[0].There.Loss = []sim.Pick{{Model: sim.ByPSN, PSN: []sim.Copy{{PSN: 100, Copy: 1}}}}
	s.Transport = sim.Transport{Name: sim.Windowless}
	lossy.Transport = s.Transport
	without, _ := held(t, &s)
	if with, _ := held(t, &lossy); with <= without {
		t.Errorf("%d packets held with a loss, %d without", with, without)
	}
	lossy.Transport = sim.Transport{Name: sim.IRN, Cap: 10}
	if packets, _ := held(t, &lossy); packets != 10 {
		t.Errorf("irn: %d packets held, the cap is 10", packets)
	}
}
