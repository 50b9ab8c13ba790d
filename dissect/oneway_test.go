package dissect_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// from keeps the RDMA packets of one sender, as a capture of one direction has
// them.
func from(frames []dissect.Frame, src dissect.Address) []dissect.Frame {
	var out []dissect.Frame
	var p dissect.Packet
	for i := range frames {
		f := frames[i]
		if (&dissect.Locator{}).Locate(&f, &p) == dissect.Found && p.Src == src {
			out = append(out, f)
		}
	}
	return out
}

func senders(frames []dissect.Frame) []dissect.Address {
	var all []dissect.Address
	seen := map[dissect.Address]bool{}
	var p dissect.Packet
	for i := range frames {
		if (&dissect.Locator{}).Locate(&frames[i], &p) == dissect.Found && !seen[p.Src] {
			seen[p.Src] = true
			all = append(all, p.Src)
		}
	}
	return all
}

// Of a capture that has one direction less can be said, and nothing else: what is
// lost was lost, what is late was late, and nothing happened where nothing did.
func TestOneDirection(t *testing.T) { oneDirection(t, "../testdata/pcaps") }

func oneDirection(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.truth.json"))
	if err != nil || len(files) < 12 {
		t.Fatalf("%d truths, %v", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want truth
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		for _, tap := range []string{"sender", "receiver"} {
			name := strings.TrimSuffix(file, ".truth.json") + "-" + tap + ".pcap.gz"
			if _, err := os.Stat(name); err != nil {
				continue
			}
			frames := framesOf(t, name)
			for _, src := range senders(frames) {
				t.Run(want.Scenario+"/"+tap+"/"+src.String(), func(t *testing.T) { oneWay(t, want, tap, from(frames, src)) })
			}
		}
	}
}

// flow is what the wire did to the packets of a kind from one sender.
type flow struct {
	lost, held   map[psn.PSN]bool
	resent, sent int64
}

// flow sums up the flows of a kind from one sender.
func (w *truth) flow(src dissect.Address, kind string) flow {
	f := flow{lost: map[psn.PSN]bool{}, held: map[psn.PSN]bool{}}
	for _, x := range w.Flows {
		if x.Src != src.String() || x.Kind != kind {
			continue
		}
		f.resent += x.Retransmitted
		f.sent += x.Sent
		for _, c := range append(x.Dropped, x.Corrupted...) {
			f.lost[psn.New(c[0])] = true
		}
		for _, c := range x.Held {
			f.held[psn.New(c[0])] = true
		}
	}
	return f
}

func oneWay(t *testing.T, want truth, tap string, frames []dissect.Frame) {
	resent, followed, found := map[string]int64{}, map[string]bool{}, map[string]map[psn.PSN]bool{}
	for _, c := range analyseFrames(frames).Connections {
		for i := range c.Streams {
			s := &c.Streams[i]
			wire := want.flow(s.Src, s.Kind)
			id := s.Src.String() + s.Kind
			resent[id] += s.Retransmitted.Packets
			followed[id] = true
			if found[id] == nil {
				found[id] = map[psn.PSN]bool{}
			}
			for _, r := range s.LostRanges {
				for k := range r.Len() {
					p := r.First.Add(k)
					found[id][p] = true
					// To a receiver that names it a held packet is a lost one, and
					// so is the next, of which the copy sent meanwhile is refused.
					if !wire.lost[p] && (s.Packets > 0 || len(wire.held) == 0) {
						t.Errorf("%v %s: %v was not lost", s.DestQP, s.Kind, p)
					}
				}
			}
			// Without feedback a copy that alone fills a hole was late, or sent again.
			if s.NotCaptured != 0 || s.Reordered > int64(len(wire.lost)-len(s.LostRanges)) && len(wire.held) == 0 {
				t.Errorf("%v %s: not captured %d, reordered %d", s.DestQP, s.Kind, s.NotCaptured, s.Reordered)
			}
			if len(wire.lost) == 0 && wire.resent == 0 && (s.Undecided != 0 || s.GapsTotal != 0 || s.Retransmitted.Packets != 0) {
				t.Errorf("%v %s: undecided %d, gaps %d, resent %d, where nothing happened", s.DestQP, s.Kind, s.Undecided, s.GapsTotal, s.Retransmitted.Packets)
			}
		}
	}
	var p dissect.Packet
	var h codec.BTH
	src, feedback := "", false
	for i := range frames {
		if (&dissect.Locator{}).Locate(&frames[i], &p) != dissect.Found || h.Decode(p.Transport()) != nil || h.Opcode.Service() != codec.RC {
			continue
		}
		src = p.Src.String()
		feedback = feedback || h.Opcode.Verb() == codec.VerbAck
	}
	other := ""
	for _, x := range want.Flows {
		if x.Dst == src && x.Kind == "request" {
			other = x.Src
		}
	}
	if feedback && other != "" && !followed[other+"request"] {
		t.Error("nothing is said of the requests that are acknowledged")
	}
	for _, x := range want.Flows {
		if x.Src != src {
			continue
		}
		wire := want.flow(p.Src, x.Kind)
		if !followed[src+x.Kind] {
			t.Errorf("nothing is said of the %ss", x.Kind)
		}
		if sends := (src == want.Flows[0].Src) == (tap == "sender"); sends && resent[src+x.Kind] != wire.resent {
			t.Errorf("%d %ss resent, want %d", resent[src+x.Kind], x.Kind, wire.resent)
		}
		if tap == "receiver" && x.Kind == "request" && whole[want.Scenario] && len(found[src+x.Kind]) != len(wire.lost) {
			t.Errorf("%d lost, want %d", len(found[src+x.Kind]), len(wire.lost))
		}
	}
}
