package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/dissect/twopoint"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/sim"
)

// line is a line of truth.
type line struct {
	Src, Dst  string
	DestQP    string
	Opcode    int
	PSN       psn.PSN
	Copy      int
	Fate      string
	Link      *string
	Arrived   *int64 `json:"arrived_ns"`
	Sent      int64  `json:"sent_ns"`
	Reordered bool
	Marked    bool
}

// load reads all frames of a capture.
func load(t *testing.T, name string) (frames []dissect.Frame) {
	t.Helper()
	r, err := capture.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var f dissect.Frame
	for r.Next(&f) == nil {
		c := f
		c.Data = slices.Clone(f.Data)
		frames = append(frames, c)
	}
	return frames
}

// through replays frames and gives what came out, with the truth.
func through(t *testing.T, n *Network, frames []dissect.Frame) (out []dissect.Frame, truth []line, stats Stats) {
	t.Helper()
	var text bytes.Buffer
	r, err := New(n, Options{Truth: &text, Out: func(f *dissect.Frame) error {
		c := *f
		c.Data, c.Number = slices.Clone(f.Data), len(out)+1
		out = append(out, c)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range frames {
		f := frames[i]
		f.Data = slices.Clone(f.Data)
		if err := r.Frame(&f); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(f.Data, frames[i].Data) {
			t.Fatalf("frame %d was changed where it lay", i+1)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(&text); d.More(); {
		var l line
		if err := d.Decode(&l); err != nil {
			t.Fatal(err)
		}
		truth = append(truth, l)
	}
	if int64(len(truth)) != r.Packets {
		t.Fatalf("%d lines of truth for %d packets", len(truth), r.Packets)
	}
	return out, truth, r.Stats
}

// compared is what compare says of two captures, the first named first.
func compared(first, second []dissect.Frame) *twopoint.Comparison {
	c := twopoint.NewComparer(twopoint.Config{}, "first", "second")
	rest := [2][]dissect.Frame{first, second}
	for {
		i := c.Next()
		if i < 0 {
			return c.Comparison()
		}
		if len(rest[i]) == 0 {
			c.Close(i, "pcap", 0, nil)
			continue
		}
		f := rest[i][0]
		f.File = i
		c.Frame(&f)
		rest[i] = rest[i][1:]
	}
}

// judged is what happened to the copies of one way.
type judged struct {
	lost, damaged                 map[string]int
	reordered, duplicated, marked int64
}

func newJudged() judged { return judged{lost: map[string]int{}, damaged: map[string]int{}} }

func (j *judged) equal(k *judged) bool {
	return maps.Equal(j.lost, k.lost) && maps.Equal(j.damaged, k.damaged) && j.reordered == k.reordered && j.duplicated == k.duplicated && j.marked == k.marked
}

func name(src, destqp string, p psn.PSN, copy int) string {
	return fmt.Sprintf("%s>%s %d.%d", src, destqp, p, copy)
}

func ofTruth(truth []line) judged {
	j := newJudged()
	for _, l := range truth {
		switch l.Fate {
		case "lost":
			j.lost[name(l.Src, l.DestQP, l.PSN, l.Copy)]++
		case "damaged":
			j.damaged[name(l.Src, l.DestQP, l.PSN, l.Copy)]++
		case "duplicated":
			j.duplicated++
		}
		if l.Reordered {
			j.reordered++
		}
		if l.Marked && l.Fate != "lost" && l.Fate != "damaged" {
			j.marked++
		}
	}
	return j
}

func ofComparison(c *twopoint.Comparison) (j judged, doubt int64) {
	j = newJudged()
	for _, s := range slices.Concat(c.Streams, c.Feedback, c.Datagrams) {
		for _, v := range s.Vanished {
			j.lost[name(s.Src.String(), s.DestQP.String(), v.PSN, v.Copy)]++
		}
		for _, v := range s.DamagedCopies {
			j.damaged[name(s.Src.String(), s.DestQP.String(), v.PSN, v.Copy.Copy)]++
		}
		j.reordered += s.Reordered
		j.duplicated += s.Duplicated
		j.marked += s.CEMarked
		doubt += s.Outside + s.Undecided + s.NotCaptured
	}
	return j, doubt
}

// What compare finds between a capture and its replay is the truth, copy by copy.
func TestCompareFindsTheTruth(t *testing.T) {
	p := func(v float64) []Pick { return []Pick{{Pick: sim.Pick{P: v}}} }
	networks := map[string]Way{
		"loss":      {Loss: p(0.05)},
		"damage":    {Damage: p(0.03)},
		"duplicate": {Duplicate: p(0.03)},
		"reorder":   {Reorder: []Late{{Pick: Pick{Pick: sim.Pick{P: 0.03}}, By: 200 * time.Microsecond}}},
		"burst":     {Loss: []Pick{{Pick: sim.Pick{Model: sim.Burst, First: 40, Count: 7, Every: 150}}}},
		"bad state": {Loss: []Pick{{Pick: sim.Pick{Model: sim.GilbertElliott, GoodToBad: 0.01, BadToGood: 0.3}}}},
		"nth":       {Loss: []Pick{{Pick: sim.Pick{Model: sim.Nth, N: []int64{10, 11, 60}}}}},
		// A copy that is damaged and arrives twice is damaged in truth, and both for compare.
		"lost or damaged": {Loss: p(0.02), Damage: p(0.02)},
		"lost or twice":   {Loss: p(0.02), Duplicate: p(0.02)},
	}
	for _, capture := range []string{"nth_drops", "mix_ops_loss", "send_heavy_loss20", "wrap_write_loss"} {
		frames := load(t, "../testdata/pcaps/rxe-"+capture+"-sender.pcap.gz")
		for effect, way := range networks {
			for _, back := range []bool{false, true} {
				n := &Network{Seed: 7, There: way}
				if back {
					n = &Network{Seed: 7, Back: way}
				}
				out, truth, _ := through(t, n, frames)
				c := compared(frames, out)
				if back { // which passes the points in the other order
					c = compared(out, frames)
				}
				want := ofTruth(truth)
				got, doubt := ofComparison(c)
				if !got.equal(&want) || doubt != 0 {
					t.Errorf("%s, %s, back %v: compare finds %+v and %d in doubt, truth is %+v", capture, effect, back, got, doubt, want)
				}
			}
		}
	}
}

// Traffic whose sender takes part in ECN is marked, and is right all the same.
func TestMarksAreFound(t *testing.T) {
	for _, carrier := range []sim.Carrier{sim.CarrierIPv4, sim.CarrierIPv6, sim.CarrierRoCEv1} {
		var frames []dissect.Frame
		s := sim.Default()
		s.Carrier = carrier
		if _, err := sim.Run(&s, sim.Output{Captures: []sim.Capture{{At: "sender", Frame: func(f *dissect.Frame) error {
			c := *f
			c.Data, c.Number = slices.Clone(f.Data), len(frames)+1
			frames = append(frames, c)
			return nil
		}}}}); err != nil {
			t.Fatal(err)
		}
		out, truth, stats := through(t, &Network{There: Way{Mark: []Pick{{Pick: sim.Pick{P: 0.3}}}}}, frames)
		want := ofTruth(truth)
		got, doubt := ofComparison(compared(frames, out))
		if got.marked == 0 || !got.equal(&want) || doubt != 0 || stats.Marked != got.marked {
			t.Errorf("%s: compare finds %+v and %d in doubt, truth is %+v, %+v", carrier, got, doubt, want, stats)
		}
		var found dissect.Packet
		for i := range out {
			if new(dissect.Locator).Locate(&out[i], &found) != dissect.Found || found.ICRC() != dissect.ICRCGood {
				t.Fatalf("%s: frame %d is wrong now", carrier, i+1)
			}
			if h := found.Covered; carrier == sim.CarrierIPv4 {
				var sum uint32
				for k := 0; k < 20; k += 2 {
					sum += uint32(h[k])<<8 | uint32(h[k+1])
				}
				if sum>>16+sum&0xffff != 0xffff {
					t.Fatalf("frame %d: checksum of % x", i+1, h[:20])
				}
			}
		}
	}
}

// Every RDMA packet has a line of truth, every other frame comes out as it was.
func TestNothingElseIsTouched(t *testing.T) {
	frames := load(t, "../testdata/pcaps/rxe-cm_rping_v4_loss-sender.pcap.gz")
	all := []Pick{{Pick: sim.Pick{P: 1}}}
	out, truth, stats := through(t, &Network{There: Way{Loss: all}, Back: Way{Loss: all}}, frames)
	if int64(len(truth)) != stats.Packets || stats.Frames != int64(len(frames)) {
		t.Errorf("%d lines of truth, %+v", len(truth), stats)
	}
	management := 0
	for _, l := range truth {
		if l.DestQP == "0x000001" {
			management++
			if l.Fate != "arrived" {
				t.Errorf("connection management: %+v", l)
			}
		} else if l.Fate != "lost" || l.Link == nil || l.Arrived != nil {
			t.Errorf("%+v", l)
		}
	}
	if management == 0 || int64(len(out)) != stats.Frames-stats.Lost {
		t.Errorf("%d datagrams of connection management, %d frames came out, %+v", management, len(out), stats)
	}
	same, _, _ := through(t, &Network{}, frames)
	for i := range frames {
		if !bytes.Equal(same[i].Data, frames[i].Data) || same[i].Time != frames[i].Time || same[i].WireLen != frames[i].WireLen {
			t.Fatalf("frame %d is another one behind a network that does nothing", i+1)
		}
	}
}

// What picks are about: queue pair, addresses, kinds, PSN and copy.
func TestPicksAreAboutSome(t *testing.T) {
	frames := load(t, "../testdata/pcaps/rxe-nth_drops-sender.pcap.gz")
	for text, want := range map[string]func(l *line) bool{
		"there: {loss: {p: 1, qpn: 0x24}}":                         func(*line) bool { return false },
		"there: {loss: {p: 1, qpn: [0x25, 0x24]}}":                 func(l *line) bool { return l.Opcode != 17 },
		"there: {loss: {p: 1, dst: 192.0.2.2}}":                    func(l *line) bool { return l.Dst == "192.0.2.2" },
		"there: {loss: {p: 1, src: 192.0.2.128/25}}":               func(*line) bool { return false },
		"back: {loss: {p: 1, only: acks}}":                         func(l *line) bool { return l.Opcode == 17 },
		"there: {loss: {model: psn, psn: [{psn: 4105, copy: 2}]}}": func(l *line) bool { return l.PSN == 4105 && l.Copy == 2 && l.Opcode != 17 },
		"there: {loss: {model: psn, psn: [{psn: 4105}]}}":          func(l *line) bool { return l.PSN == 4105 && l.Opcode != 17 },
		"there: {loss: {model: outage, from: 40ms, until: 50ms}}":  func(l *line) bool { return l.Opcode != 17 && l.Sent >= 40e6 && l.Sent < 50e6 },
	} {
		n, err := Parse([]byte(text), "network")
		if err != nil {
			t.Fatal(err)
		}
		_, truth, _ := through(t, n, frames)
		for _, l := range truth {
			if (l.Fate == "lost") != want(&l) {
				t.Errorf("%s: %+v", text, l)
			}
		}
	}
}

func TestNetworksWithFaults(t *testing.T) {
	for text, want := range map[string]string{
		"there:\n  lost: {p: 1}":                    "n.yaml:2: there.lost: no such key; there are loss, damage, duplicate, mark, reorder",
		"there:\n  loss:\n    - {p: 2}":             "n.yaml:3: there.loss[0].p: 2: want a probability from 0 to 1",
		"back: {reorder: {p: 0.5}}":                 "n.yaml:1: back.reorder[0].by: want how long the packets are held back",
		"back: {loss: {p: 0.5, qp: 1}}":             "n.yaml:1: back.loss[0].qp: counts the queue pairs of a scenario; a capture has qpn",
		"back: {loss: {p: 0.5, qpn: 0x1000000}}":    "n.yaml:1: back.loss[0].qpn[0]: 16777216: want 0 to 16777215",
		"back: {loss: {p: 0.5, src: host}}":         "n.yaml:1: back.loss[0].src[0]: ",
		"there: {loss: {p: 0.5, model: sometimes}}": "n.yaml:1: there.loss[0].model: ",
	} {
		if _, err := Parse([]byte(text), "n.yaml"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// However long packets are held back, frames come out in order of time.
func TestHeldComeInTime(t *testing.T) {
	frames := load(t, "../testdata/pcaps/rxe-nth_drops-sender.pcap.gz")
	late := func(p float64, by time.Duration) Late { return Late{Pick: Pick{Pick: sim.Pick{P: p}}, By: by} }
	out, _, stats := through(t, &Network{There: Way{Reorder: []Late{late(0.3, time.Millisecond), late(0.3, 50*time.Microsecond), late(0.1, time.Second)}}}, frames)
	for i := range out[1:] {
		if out[i+1].Time < out[i].Time {
			t.Fatalf("frame %d comes %d ns before the one in front of it", i+2, out[i].Time-out[i+1].Time)
		}
	}
	if len(out) != len(frames) || stats.Reordered == 0 {
		t.Errorf("%d frames of %d, %+v", len(out), len(frames), stats)
	}
}

// Holding back what fills memory ends in an error, not in the end of memory.
func TestHeldIsBounded(t *testing.T) {
	frames := load(t, "../testdata/pcaps/rxe-nth_drops-sender.pcap.gz")
	n := &Network{There: Way{Reorder: []Late{{Pick: Pick{Pick: sim.Pick{P: 1}}, By: time.Hour}}}}
	r, err := New(n, Options{Out: func(*dissect.Frame) error { return nil }})
	for range 10 * maxHeld / (len(frames) * 1000) {
		for i := range frames {
			if err == nil {
				err = r.Frame(&frames[i])
			}
		}
	}
	if err == nil || !strings.Contains(err.Error(), "more than 256 MiB") {
		t.Errorf("%v", err)
	}
}

func TestReplayDoesNotAllocate(t *testing.T) {
	frames := load(t, "../testdata/pcaps/rxe-nth_drops-sender.pcap.gz")
	p := []Pick{{Pick: sim.Pick{P: 0.1}}}
	r, _ := New(&Network{There: Way{Loss: p, Damage: p, Duplicate: p}}, Options{Out: func(*dissect.Frame) error { return nil }})
	all := func() {
		for i := range frames {
			if err := r.Frame(&frames[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	all()
	all()
	if n := testing.AllocsPerRun(5, all); n > 1 {
		t.Errorf("%v allocations for %d frames", n, len(frames))
	}
}
