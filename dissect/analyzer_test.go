package dissect

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
)

// patch writes another PSN, queue pair and IP identification into a WRITE
// Middle of a story, and seals it again.
func patch(frame []byte, qpn, psn uint32, id uint16) {
	binary.BigEndian.PutUint16(frame[18:], id)
	binary.BigEndian.PutUint32(frame[46:], qpn)
	binary.BigEndian.PutUint32(frame[50:], psn&0xffffff)
	icrc, err := codec.ICRC(codec.RoCEv2IPv4, frame[14:len(frame)-4], 28)
	if err != nil {
		panic(err)
	}
	codec.AppendICRC(frame[:len(frame)-4], icrc)
}

// In order, resent, or waiting behind a hole: what a packet costs is no memory.
func TestFollowingDoesNotAllocate(t *testing.T) {
	s := newStory(Config{})
	frame := s.frame("w0", 1)
	psn, id := uint32(0), uint16(0)
	pass := func(p uint32) {
		id++
		patch(frame, 0x111, p, id)
		s.pass(frame, 100)
	}
	if n := testing.AllocsPerRun(1000, func() { pass(psn); psn++ }); n != 0 {
		t.Errorf("%v allocations for a packet in order", n)
	}
	psn++ // a hole
	for range 100 {
		pass(psn)
		psn++
	}
	if n := testing.AllocsPerRun(1000, func() { pass(psn); psn++ }); n != 0 {
		t.Errorf("%v allocations for a packet behind a hole", n)
	}
}

// Garbage that happens to look like RDMA makes no half, pushes none out, and
// costs no memory.
func TestGarbageMakesNoHalf(t *testing.T) {
	s := newStory(Config{})
	random := rand.New(rand.NewPCG(1, 2))
	s.word("w5")
	s.word("w6")
	frame := s.frame("w0", 1)
	for range 20_000 {
		binary.BigEndian.PutUint32(frame[46:], 2+random.Uint32N(0xfffff0))
		binary.BigEndian.PutUint32(frame[50:], random.Uint32N(1<<24))
		s.pass(frame, 100)
	}
	s.word("w7")
	r := s.end()
	if len(r.Connections) != 1 || r.Connections[0].Streams[0].Packets != 3 {
		t.Errorf("%d connections", len(r.Connections))
	}
	if r.Captures[0].BadICRC < 19_000 || r.Evicted != nil {
		t.Errorf("bad ICRC %d, evicted %+v", r.Captures[0].BadICRC, r.Evicted)
	}
}

// Three packets that go together make a half without a good ICRC, and all three
// count. Where no packet of a half has a valid ICRC nothing is damaged.
func TestHalfWithoutICRC(t *testing.T) {
	request, _ := lines(tell(t, Config{}, "b100 b101 b102 b103 b105 b106 b107 b108 b109 b110"))
	if want := "packets 10; undecided 1; gap 104 observed upstream open; finding icrc-useless"; request != want {
		t.Errorf("got %s, want %s", request, want)
	}
	if request, _ = lines(tell(t, Config{}, "b100 b101")); request != "" {
		t.Errorf("two packets made %s", request)
	}
}

// More halves than the bound: the oldest goes, and is counted.
func TestMaxHalves(t *testing.T) {
	s := newStory(Config{MaxHalves: 64})
	frame := s.frame("w0", 1)
	for i := range uint32(1000) {
		patch(frame, 0x1000+i, 7, uint16(i))
		s.pass(frame, 100)
	}
	r := s.end()
	if len(r.Connections) != 64 || r.Evicted == nil || r.Evicted.Halves != 1000-64 {
		t.Errorf("%d connections, evicted %+v", len(r.Connections), r.Evicted)
	}
	if r.Totals.Packets != 1000 {
		t.Errorf("%d packets in the totals", r.Totals.Packets)
	}
}

// Random PSNs on one queue pair: memory stays bounded, and so does time.
func TestRandomPSNs(t *testing.T) {
	for _, spread := range []uint32{40, 5000, 1 << 17, 1 << 24} {
		t.Run(fmt.Sprint(spread), func(t *testing.T) {
			s := newStory(Config{})
			random := rand.New(rand.NewPCG(3, uint64(spread)))
			words := []string{"w0", "a0", "n0", "r0", "R0:9", "o0", "w0!", "W0", "f0"}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range 60_000 {
				frame := s.frame(words[random.IntN(len(words))], 1)
				patch(frame, binary.BigEndian.Uint32(frame[46:]), random.Uint32N(spread), uint16(random.Uint32()))
				s.pass(frame, int64(random.IntN(2000)))
			}
			r := s.end()
			runtime.GC()
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
				t.Errorf("%d MiB kept", grown>>20)
			}
			if r.Totals.Packets == 0 {
				t.Error("nothing counted")
			}
			for _, c := range r.Connections {
				for i := range c.Streams {
					checkSums(t, &c.Streams[i])
				}
			}
		})
	}
}

// checkSums holds a stream to what must be true of any.
func checkSums(t *testing.T, s *Stream) {
	t.Helper()
	var causes, verdicts int64
	for _, n := range s.Retransmitted.ByCause {
		causes += n
		if n < 0 {
			t.Errorf("a negative count: %s", line(s))
		}
	}
	for _, n := range s.Retransmitted.ByVerdict {
		verdicts += n
		if n < 0 {
			t.Errorf("a negative count: %s", line(s))
		}
	}
	if causes != s.Retransmitted.Packets || verdicts != s.Retransmitted.Packets {
		t.Errorf("%d resent, by cause %d, by verdict %d", s.Retransmitted.Packets, causes, verdicts)
	}
	for name, n := range map[string]int64{"lost": s.Lost, "harmless": s.LostHarmless, "undecided": s.Undecided, "not captured": s.NotCaptured,
		"reordered": s.Reordered, "resent": s.Retransmitted.Packets, "resent bytes": s.Retransmitted.PayloadBytes, "gaps": s.GapsTotal} {
		if n < 0 {
			t.Errorf("%s is %d", name, n)
		}
	}
	if s.LostHarmless > s.Lost {
		t.Errorf("%d harmless of %d lost", s.LostHarmless, s.Lost)
	}
}

// A gap of 2^16 costs what a gap of one costs.
func TestWideGap(t *testing.T) {
	request, _ := lines(tell(t, Config{}, "w0 w1 w60000 w60001 n2 w2 w3"))
	want := "packets 6; lost 1 [2]; undecided 59996; resent 2 nak:2 needed:2; gap 2-59999 observed+nak upstream open"
	// 2 was named and came again, 3 came again unnamed: both were lost.
	want = strings.Replace(want, "lost 1 [2]", "lost 2 [2-3]", 1)
	if request != want {
		t.Errorf("got %s\nwant %s", request, want)
	}
}

// The same stories, told to analyzers that were given the packets located.
func TestPacketRoad(t *testing.T) {
	const text = "w100 w101 w104 w105 n102 w106 w107 w102 w103 w104 w105 w106 w107! a107"
	byFrame := tell(t, Config{}, text)
	s := newStory(Config{})
	other := NewAnalyzer(Config{})
	other.OpenCapture("story", "pcap")
	for _, word := range strings.Fields(text) {
		s.word(word)
		var p Packet
		if got := new(Locator).Locate(&Frame{Data: s.last, WireLen: len(s.last), Time: s.now, Link: LinkEthernet, Number: s.number}, &p); got != Found {
			t.Fatal(got)
		}
		other.Packet(&p)
	}
	other.CloseCapture(0, 0, nil)
	if got, want := fmt.Sprintf("%+v", *other.Report()), fmt.Sprintf("%+v", *byFrame); len(got) != len(want) || other.Report().Captures[0] != byFrame.Captures[0] {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func BenchmarkFollow(b *testing.B) {
	for _, c := range []struct {
		name    string
		payload string
	}{{"in-order", "w0"}} {
		b.Run(c.name, func(b *testing.B) {
			s := newStory(Config{})
			frame := s.frame(c.payload, 1)
			f := Frame{Data: frame, WireLen: len(frame), Link: LinkEthernet}
			b.ReportAllocs()
			psn := uint32(0)
			for b.Loop() {
				psn++
				patch(frame, 0x111, psn, uint16(psn))
				f.Number, f.Time = int(psn), int64(psn)*100
				s.analyzer.Frame(&f)
			}
		})
	}
}

// First and last are the earliest and the latest time, whatever the order, of
// frames that have one.
func TestCaptureTimes(t *testing.T) {
	a := NewAnalyzer(Config{})
	a.OpenCapture("x", "pcap")
	a.OpenCapture("y", "pcapng")
	for _, time := range []int64{0, 50, 30, 90, 0, 70} {
		a.Frame(&Frame{Time: time})
		a.Frame(&Frame{File: 1})
	}
	c := a.Report().Captures
	if c[0].FirstTime != 30 || c[0].LastTime != 90 || c[1].FirstTime != 0 || c[1].LastTime != 0 {
		t.Errorf("%d to %d, and %d to %d", c[0].FirstTime, c[0].LastTime, c[1].FirstTime, c[1].LastTime)
	}
}
