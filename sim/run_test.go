package sim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// story is what happened, without the times: operation, PSN, copy, fate.
func story(r shown) string {
	slices.SortStableFunc(r.truth, func(a, b line) int { return int(a.Sent - b.Sent) })
	var b strings.Builder
	for _, l := range r.truth {
		fmt.Fprintf(&b, "%v %d %d %s\n", l.Opcode.Operation(), l.PSN, l.Copy, l.Fate)
	}
	return b.String()
}

// The two worked cases of go-back-N, packet for packet.
func TestWorkedCases(t *testing.T) {
	all := library(t)
	for name, want := range map[string]string{
		"gbn-one-loss": `6 1000 1 arrived
7 1001 1 lost
7 1002 1 arrived
8 1003 1 arrived
17 1001 1 arrived
7 1001 2 arrived
7 1002 2 arrived
8 1003 2 arrived
17 1003 1 arrived
`,
		"gbn-ack-loss": `10 1000 1 arrived
17 1000 1 lost
10 1000 2 arrived
17 1000 2 arrived
`,
	} {
		r := play(t, all[name])
		if got := story(r); got != want {
			t.Errorf("%s:\n%s, want\n%s", name, got, want)
		}
		if r.Ended[transport.Success] != 1 || r.Unfinished() != 0 {
			t.Errorf("%s: %+v", name, r.Result)
		}
	}
}

// Packets follow one another at the rate of the port, and take the delay of the
// link. A frame of 1 KiB is 14+20+8+12+16+1024+4 = 1098 bytes with a RETH, 219.6
// ns at 40 Gb/s, and 1082 without, 216.4 ns.
func TestTimes(t *testing.T) {
	s := Default()
	s.Work[0].Size = Fixed(4096)
	s.Links[0].Delay = 3 * time.Microsecond
	var sent, arrived []int64
	for _, l := range play(t, &s).truth {
		if l.Opcode.Verb() == codec.VerbWrite {
			sent, arrived = append(sent, l.Sent), append(arrived, *l.Arrived)
		}
	}
	if want := []int64{0, 220, 436, 653}; !slices.Equal(sent, want) {
		t.Errorf("sent at %v, want %v", sent, want)
	}
	if want := []int64{3220, 3436, 3653, 3869}; !slices.Equal(arrived, want) {
		t.Errorf("arrived at %v, want %v", arrived, want)
	}
}

// A bottleneck at a quarter of the rate: its queue drops what does not fit, marks
// what waits long, and spaces what it lets through.
func TestBottleneck(t *testing.T) {
	s := Default()
	s.Work[0].Size = Fixed(32 << 10)
	s.Transport.Window = 32
	s.Links = []Link{{Name: "slow", Rate: 10e9, Queue: Fixed(8 * 1098), Mark: Fixed(2 * 1098)}}
	r := play(t, &s, "receiver", "sender")
	first := slices.IndexFunc(r.truth, func(l line) bool { return l.Fate == "lost" })
	// In the time of 4 packets the queue takes in 4 and lets 1 out: it has grown to 8
	// packets, the one under way included, when 11 have come.
	if l := r.truth[first]; *l.Link != "slow" || l.PSN != r.truth[0].PSN && first == 0 {
		t.Errorf("first loss %+v", l)
	}
	lost := 0
	for _, l := range r.truth {
		if l.Fate == "lost" && l.Copy == 1 {
			lost++
		}
	}
	if lost < 10 || lost > 22 {
		t.Errorf("%d of 32 packets were dropped", lost)
	}
	last, marked := int64(0), 0
	for _, f := range r.frames["receiver"] {
		if f.Data[26] == 10 && f.Data[29] == 1 && f.WireLen == 1082 { // data of the sender
			if gap := f.Time - last; gap < 864 { // 1082 bytes at 10 Gb/s, 865.6 ns
				t.Errorf("a gap of %d ns", gap)
			}
			last = f.Time
			if f.Data[15]&3 == 3 {
				marked++
			}
		}
	}
	if marked == 0 {
		t.Error("nothing is marked")
	}
	for _, f := range r.frames["sender"] {
		if f.Data[15]&3 == 3 {
			t.Error("a packet is marked before it has passed the queue")
		}
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	s := library(t)["gbn-all-verbs"]
	a, b := play(t, s, "sender", "wire"), play(t, s, "sender", "wire")
	if a.text != b.text || !sameFrames(a.frames["sender"], b.frames["sender"]) || !sameFrames(a.frames["wire"], b.frames["wire"]) {
		t.Error("two runs differ")
	}
	other := *s
	other.Seed++
	if c := play(t, &other, "sender"); c.text == a.text || sameFrames(a.frames["sender"], c.frames["sender"]) {
		t.Error("another seed gives the same")
	}
}

func sameFrames(a, b []dissect.Frame) bool {
	return slices.EqualFunc(a, b, func(a, b dissect.Frame) bool {
		return a.Time == b.Time && a.WireLen == b.WireLen && bytes.Equal(a.Data, b.Data)
	})
}

// One more choice elsewhere changes nothing here.
func TestChoicesDoNotShiftOthers(t *testing.T) {
	lost := func(s *Scenario) string {
		return strings.Join(named(play(t, s).truth, func(l *line) bool { return l.Fate == "lost" && l.Copy == 1 }), "\n")
	}
	s := Default()
	s.Work[0].Size = Fixed(200 << 10)
	s.Pairs.Count = 3
	s.Transport.Window = 64
	s.Links[0].There.Loss = []Pick{{Model: Nth, N: []int64{7, 40}}}
	before := lost(&s)
	s.Links[0].There.Mark = []Pick{{P: 0.5}}
	s.Links[0].Back.Mark = []Pick{{P: 0.5}}
	s.Links = append(s.Links, Link{Name: "another"})
	if after := lost(&s); after != before {
		t.Errorf("lost\n%s, and before\n%s", after, before)
	}
}

// Losses come as often as the models say, within five standard deviations.
func TestModels(t *testing.T) {
	const n = 400000
	bad := 0.5
	for name, v := range map[string]struct {
		pick  Pick
		p     float64
		burst float64 // how much longer runs are than those of independent losses
	}{
		"bernoulli":       {Pick{P: 0.03}, 0.03, 1},
		"gilbert":         {Pick{Model: GilbertElliott, GoodToBad: 0.01, BadToGood: 0.2}, 0.01 / 0.21, 4},
		"gilbert-elliott": {Pick{Model: GilbertElliott, GoodToBad: 0.01, BadToGood: 0.04, InGood: 0.001, InBad: &bad}, 0.8*0.001 + 0.2*0.5, 12},
	} {
		s := Default()
		p := pickers(&s, []Pick{v.pick}, name)
		chosen := 0
		for range n {
			if p[0].chosen(&flight{}, 0) {
				chosen++
			}
		}
		deviation := math.Sqrt(v.burst * v.p * (1 - v.p) * n)
		if got := float64(chosen); math.Abs(got-v.p*n) > 5*deviation*2 {
			t.Errorf("%s: %d of %d, want %.0f", name, chosen, n, v.p*n)
		}
	}
}

func TestPicksByNumber(t *testing.T) {
	s := Default()
	for _, v := range []struct {
		pick Pick
		want []int64
	}{
		{Pick{Model: Nth, N: []int64{2, 5}}, []int64{2, 5}},
		{Pick{Model: Burst, First: 3, Count: 2}, []int64{3, 4}},
		{Pick{Model: Burst, First: 3, Count: 2, Every: 4}, []int64{3, 4, 7, 8, 11, 12}},
		{Pick{Model: Outage, From: 4, Until: 6}, []int64{4, 5}},
		{Pick{Model: ByPSN, PSN: []Copy{{PSN: 9, Copy: 2}, {PSN: 6}}}, []int64{6, 9}},
		{Pick{Model: Nth, N: []int64{1, 2, 3}, Only: OnlyAcks}, nil},
		{Pick{Model: Nth, N: []int64{1, 2}, QP: 1}, []int64{1, 2}},
		{Pick{Model: Nth, N: []int64{1, 2}, QP: 2}, nil},
	} {
		p := pickers(&s, []Pick{v.pick}, "test")
		var got []int64
		for i := int64(1); i <= 12; i++ {
			f := flight{copy: 2, pair: &pair{}}
			f.packet.BTH.PSN = psn.PSN(i)
			if p[0].chosen(&f, transport.Time(i)) {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, v.want) {
			t.Errorf("%+v chooses %v, want %v", v.pick, got, v.want)
		}
	}
}

// The number of allocations does not grow with the number of packets, nor does
// what is kept.
func TestRunDoesNotAllocatePerPacket(t *testing.T) {
	allocations := func(messages int) uint64 {
		s := Default()
		s.Pairs.Count, s.Pairs.AckTimeout = 4, 8
		s.Work[0].Count = messages
		s.Links[0].There.Loss = []Pick{{P: 0.01}}
		s.Links[0].Back.Loss = []Pick{{P: 0.01}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Run(&s, Output{Truth: io.Discard, Captures: []Capture{{At: "sender", Frame: func(*dissect.Frame) error { return nil }}}})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		return after.Mallocs - before.Mallocs
	}
	few, many := allocations(20), allocations(400)
	if many > few+few/2+100 { // 100,000 packets more
		t.Errorf("%d allocations for 20 messages, %d for 400", few, many)
	}
}

// Bytes that are not those that were sent end the run.
func TestWrongBytesEndTheRun(t *testing.T) {
	r := &run{}
	s := Default()
	r.pattern = newPattern(&s)
	r.s = &s
	p := r.newPair(0)
	m := &p.flows[0].memory
	b := bytes.Clone(local{m}.Load(localBase+5000, 100))
	remote{m}.Store(remoteBase+5000, b)
	if r.err != nil {
		t.Fatal(r.err)
	}
	for _, wrong := range []func(){
		func() { remote{m}.Store(remoteBase+5001, b) },
		func() { local{m}.Store(localBase+5000, b) },
		func() { b[99] ^= 1; remote{m}.Store(remoteBase+5000, b) },
		func() { local{m}.Store(resultBase+8*3, []byte{4, 0, 0, 0, 0, 0, 0, 0}) },
	} {
		r.err = nil
		wrong()
		if r.err == nil {
			t.Error("wrong bytes are taken")
		}
	}
}

func TestOutputErrorsEndTheRun(t *testing.T) {
	full := errors.New("full")
	s := Default()
	_, err := Run(&s, Output{Captures: []Capture{{At: "receiver", Frame: func(f *dissect.Frame) error {
		if f.Number == 5 {
			return full
		}
		if f.Number > 5 {
			t.Error("frames behind an error")
		}
		return nil
	}}}})
	if !errors.Is(err, full) {
		t.Error(err)
	}
	if _, err := Run(&s, Output{Truth: failing{full}}); !errors.Is(err, full) {
		t.Error(err)
	}
	s.Work[0].Count = 4000
	if _, err := Run(&s, Output{Progress: func(*Result) error { return full }}); !errors.Is(err, full) {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestUntilBreaksOff(t *testing.T) {
	s := library(t)["rnr"]
	s.Until = 300 * time.Microsecond
	r := play(t, s)
	if !r.BrokenOff || r.Unfinished() == 0 || r.Time != s.Until {
		t.Errorf("%+v", r.Result)
	}
}

// Copies are counted as a map would count them.
func TestCopiesAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c copies
		count := map[psn.PSN]int{}
		newest := psn.PSN(rapid.Uint32Range(0, psn.Mask).Draw(t, "start"))
		first := newest
		for range rapid.IntRange(1, 2000).Draw(t, "n") {
			p := newest
			if back := rapid.IntRange(-5, 300).Draw(t, "back"); back > 0 && len(count) > 0 {
				p = newest.Add(-min(back, newest.Sub(first)))
			} else if len(count) > 0 {
				newest = newest.Add(1)
				p = newest
			}
			again := count[p] > 0
			count[p]++
			if n, known := c.send(p); n != count[p] || known != again {
				t.Fatalf("PSN %d: copy %d, again %v, want copy %d", p, n, known, count[p])
			}
		}
	})
}

// Events and timers come in order of time, whatever happens in between.
func TestHeaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r run
		var waiting timers
		var want []transport.Time
		machines := make([]*machine, 30)
		for i := range machines {
			machines[i] = &machine{number: i, place: -1}
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				at := transport.Time(rapid.IntRange(0, 50).Draw(t, "at"))
				r.schedule(at, free, 0)
				want = append(want, at)
			},
			"pop": func(t *rapid.T) {
				if len(want) == 0 {
					t.Skip("empty")
				}
				slices.Sort(want)
				if r.events[0].at != want[0] {
					t.Fatalf("first at %d, want %d", r.events[0].at, want[0])
				}
				want = want[1:]
				r.events.pop()
			},
			"set": func(t *rapid.T) {
				m := machines[rapid.IntRange(0, 29).Draw(t, "machine")]
				waiting.set(m, transport.Time(rapid.IntRange(0, 50).Draw(t, "at")))
			},
			"fire": func(t *rapid.T) {
				if len(waiting) == 0 {
					t.Skip("none waits")
				}
				least := transport.Never
				for _, m := range waiting {
					least = min(least, m.timer)
				}
				if m := waiting.pop(); m.timer != least || m.place != -1 {
					t.Fatalf("fired at %d, want %d", m.timer, least)
				}
			},
			"": func(t *rapid.T) {
				for i, m := range waiting {
					if m.place != i {
						t.Fatalf("machine at %d believes it is at %d", i, m.place)
					}
				}
			},
		})
	})
}

// A capture point with a snap length sees the beginning of what one without it
// sees, whatever other capture points want.
func TestSnapLen(t *testing.T) {
	for _, others := range [][]int{{0}, {200}, {}} {
		s := Default()
		s.Work[0].Size = Fixed(5000)
		full := play(t, &s, "sender").frames["sender"]
		n := 0
		captures := []Capture{{At: "sender", SnapLen: 90, Frame: func(f *dissect.Frame) error {
			if want := full[n].Data[:min(90, len(full[n].Data))]; !bytes.Equal(f.Data, want) || f.WireLen != full[n].WireLen {
				t.Errorf("beside %v, frame %d: %x of %d bytes, want %x", others, n+1, f.Data, f.WireLen, want)
			}
			n++
			return nil
		}}}
		for _, snap := range others {
			captures = append(captures, Capture{At: "receiver", SnapLen: snap, Frame: func(*dissect.Frame) error { return nil }})
		}
		if _, err := Run(&s, Output{Captures: captures}); err != nil || n != len(full) {
			t.Errorf("%d frames of %d, %v", n, len(full), err)
		}
	}
}

// Packets chosen by number meet what they were chosen for, and no others do.
// Frames follow one another after 216 ns.
func TestEffects(t *testing.T) {
	chosen := Pick{Model: Nth, N: []int64{3}}
	for _, v := range []struct {
		name string
		does Direction
		want string // of the first copies
	}{
		{"nothing", Direction{}, "arrived arrived arrived arrived arrived"},
		{"loss", Direction{Loss: []Pick{chosen}}, "arrived arrived lost arrived arrived"},
		{"damage", Direction{Damage: []Pick{chosen}}, "arrived arrived damaged arrived arrived"},
		{"duplicate", Direction{Duplicate: []Pick{chosen}}, "arrived arrived duplicated arrived arrived"},
		{"loss of both", Direction{Duplicate: []Pick{chosen}, Loss: []Pick{chosen}}, "arrived arrived lost arrived arrived"},
		{"damage of both", Direction{Duplicate: []Pick{chosen}, Damage: []Pick{chosen}}, "arrived arrived damaged arrived arrived"},
		{"late, but not enough", Direction{Reorder: []Late{{chosen, 200}}}, "arrived arrived arrived arrived arrived"},
		{"overtaken by one", Direction{Reorder: []Late{{chosen, 300}}}, "arrived arrived arrived-reordered arrived arrived"},
	} {
		s := Default()
		s.Work[0].Size = Fixed(5 << 10)
		s.Links[0].There = v.does
		r := play(t, &s, "receiver")
		slices.SortStableFunc(r.truth, func(a, b line) int { return int(a.Sent - b.Sent) })
		var got []string
		for _, l := range r.truth {
			if l.data() && l.Copy == 1 {
				if l.Reordered {
					l.Fate += "-reordered"
				}
				got = append(got, l.Fate)
			}
		}
		if strings.Join(got, " ") != v.want {
			t.Errorf("%s: %v, want %s", v.name, got, v.want)
		}
		if n := len(r.frames["receiver"]); v.name == "duplicate" && n != 8 { // 5, the twin, the ACK, and one for the twin
			t.Errorf("%s: the receiver saw %d frames", v.name, n)
		}
		if r.Ended[transport.Success] != 1 {
			t.Errorf("%s: %+v", v.name, r.Result)
		}
	}
}
