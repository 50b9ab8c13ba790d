package dissect_test

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
)

// framesOf reads a capture.
func framesOf(t *testing.T, name string) []dissect.Frame {
	t.Helper()
	part, err := capture.NewRotation([]capture.Source{{Name: name}}).Open()
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	var all []dissect.Frame
	var f dissect.Frame
	for err = part.Next(&f); err == nil; err = part.Next(&f) {
		g := f
		g.Data = slices.Clone(f.Data)
		all = append(all, g)
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	return all
}

// Both taps of a path in one capture show most packets twice, and in either
// order. What is said of that need not be of use, but it must add up.
func TestMergedTapsAddUp(t *testing.T) {
	senders, _ := filepath.Glob("../testdata/pcaps/*-sender.pcap.gz")
	merged := 0
	for _, sender := range senders {
		receiver := strings.TrimSuffix(sender, "-sender.pcap.gz") + "-receiver.pcap.gz"
		if _, err := os.Stat(receiver); err != nil {
			continue
		}
		merged++
		frames := append(framesOf(t, sender), framesOf(t, receiver)...)
		slices.SortStableFunc(frames, func(a, b dissect.Frame) int { return cmp.Compare(a.Time, b.Time) })
		a := dissect.NewAnalyzer(dissect.Config{Events: func(*dissect.Event) {}})
		a.OpenCapture(sender, "pcap")
		for i := range frames {
			frames[i].Number, frames[i].File = i+1, 0
			a.Frame(&frames[i])
		}
		a.End()
		for _, c := range a.Report().Connections {
			for i := range c.Streams {
				addsUp(t, sender, &c.Streams[i])
			}
		}
	}
	if merged < 5 {
		t.Fatalf("%d pairs of taps", merged)
	}
}

func addsUp(t *testing.T, name string, s *dissect.Stream) {
	t.Helper()
	for i, n := range []int64{s.Packets, s.PayloadBytes, s.Lost, s.LostHarmless, s.Damaged, s.Discarded, s.Undecided,
		s.NotCaptured, s.Reordered, s.GapsTotal, s.Retransmitted.Packets, s.Retransmitted.PayloadBytes} {
		if n < 0 {
			t.Errorf("%s: count %d is %d", name, i, n)
		}
	}
	if s.Retransmitted.Packets > s.Packets || s.LostHarmless > s.Lost {
		t.Errorf("%s: %d of %d resent, %d of %d harmless", name, s.Retransmitted.Packets, s.Packets, s.LostHarmless, s.Lost)
	}
	var causes, verdicts int64
	for _, n := range s.Retransmitted.ByCause {
		causes += n
	}
	for v, n := range s.Retransmitted.ByVerdict {
		if verdicts += n; n < 0 {
			t.Errorf("%s: %d %s", name, n, v)
		}
	}
	if causes != s.Retransmitted.Packets || verdicts != s.Retransmitted.Packets {
		t.Errorf("%s: %d resent, %d by cause, %d by verdict", name, s.Retransmitted.Packets, causes, verdicts)
	}
	if s.Efficiency != nil && (*s.Efficiency < 0 || *s.Efficiency > 1) {
		t.Errorf("%s: efficiency %v", name, *s.Efficiency)
	}
}
