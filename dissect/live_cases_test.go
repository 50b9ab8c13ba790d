package dissect_test

import (
	"path/filepath"
	"testing"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
)

// Behind the last frame of each case Live counts what the report counts, which
// other tests hold against what is expected of the case.
func TestLiveAgreesWithReport(t *testing.T) {
	files, err := filepath.Glob("../testdata/cases/*.pcap*")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		r, err := capture.Open(file)
		if err != nil {
			continue // of those that cannot be read
		}
		a := dissect.NewAnalyzer(dissect.Config{})
		var f dissect.Frame
		for r.Next(&f) == nil {
			a.Frame(&f)
		}
		r.Close()
		var got, want dissect.Counts
		for c := range a.Live {
			got.Add(&c.Directions[0].Counts)
			got.Add(&c.Directions[1].Counts)
		}
		for _, c := range a.Report().Connections {
			for i := range c.Streams {
				s := &c.Streams[i]
				want.Add(&dissect.Counts{Packets: s.Packets, PayloadBytes: s.PayloadBytes, Retransmitted: s.Retransmitted.Packets,
					Naks: s.Feedback.Naks, RNRNaks: s.Feedback.RNRNaks, Acks: s.Feedback.Acks, Lost: s.Lost, Undecided: s.Undecided,
					NotCaptured: s.NotCaptured, Reordered: s.Reordered, Damaged: s.Damaged})
			}
		}
		// Of these no stream of the report tells as much.
		got.Feedback, got.Timeouts, got.CEMarked, got.CNPs = 0, 0, 0, 0
		if got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", filepath.Base(file), got, want)
		}
	}
}
