package dissect_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// later is the frames of a capture once more, as if the same queue pairs had
// been set up anew that much later, with other starting PSNs.
func later(t *testing.T, frames []dissect.Frame, by time.Duration, psns int) []dissect.Frame {
	t.Helper()
	again := make([]dissect.Frame, len(frames))
	for i := range frames {
		f := frames[i]
		f.Data = slices.Clone(f.Data)
		f.Time += by.Nanoseconds()
		f.Number += len(frames)
		if psns != 0 {
			renumber(t, &f, psns)
		}
		again[i] = f
	}
	return again
}

// renumber moves the PSN of a packet, or those that connection management
// agrees on, and makes its ICRC what it was: good, or bad.
func renumber(t *testing.T, f *dissect.Frame, by int) {
	t.Helper()
	var p dissect.Packet
	var h codec.BTH
	if (&dissect.Locator{}).Locate(f, &p) != dissect.Found || h.Decode(p.Transport()) != nil {
		return
	}
	state := p.ICRC()
	b := p.Transport()
	move := func(at int) {
		n := psn.PSN(uint32(b[at])<<16 | uint32(b[at+1])<<8 | uint32(b[at+2])).Add(by)
		b[at], b[at+1], b[at+2] = byte(n>>16), byte(n>>8), byte(n)
	}
	switch {
	case h.Opcode.Service() != codec.UD:
		move(9)
	case h.DestQP == 1:
		const message = 12 + 8 + 24 // BTH, DETH, MAD header
		if attribute := uint16(b[message-8])<<8 | uint16(b[message-7]); attribute == 0x10 {
			move(message + 44)
		} else if attribute == 0x13 {
			move(message + 20)
		}
	}
	n := p.BTH + p.WireLen - 4
	if state == dissect.ICRCAbsent {
		return
	}
	icrc, err := codec.ICRC(p.Carrier, p.Covered[:n], p.BTH)
	if err != nil {
		t.Fatal(err)
	}
	if state == dissect.ICRCBad {
		icrc ^= 1
	}
	for i := range 4 {
		p.Covered[n+i] = byte(icrc >> (8 * i))
	}
}

func analyseFrames(frames []dissect.Frame) *dissect.Report {
	a := dissect.NewAnalyzer(dissect.Config{MaxGaps: 1 << 20})
	a.OpenCapture("", "pcap")
	for i := range frames {
		a.Frame(&frames[i])
	}
	return a.Report()
}

// verdicts is what is said of the streams of a report, all counts divided by
// lives.
func verdicts(r *dissect.Report, lives int64) []string {
	var all []string
	for _, c := range r.Connections {
		for i := range c.Streams {
			s := &c.Streams[i]
			var b strings.Builder
			fmt.Fprintf(&b, "%v > %v %v %s:", s.Src, s.Dst, s.DestQP, s.Kind)
			for _, n := range []struct {
				name string
				n    int64
			}{{"epochs", int64(s.Epochs)}, {"packets", s.Packets}, {"lost", s.Lost}, {"harmless", s.LostHarmless}, {"damaged", s.Damaged},
				{"undecided", s.Undecided}, {"not captured", s.NotCaptured}, {"reordered", s.Reordered}, {"resent", s.Retransmitted.Packets},
				{"gaps", s.GapsTotal}, {"needed", s.Retransmitted.ByVerdict[dissect.Needed]}, {"redundant", s.Retransmitted.ByVerdict[dissect.Redundant]},
				{"wasted", s.Retransmitted.ByVerdict[dissect.Wasted]}} {
				if n.n%lives == 0 {
					fmt.Fprintf(&b, " %s %d", n.name, n.n/lives)
				} else {
					fmt.Fprintf(&b, " %s %d/%d", n.name, n.n, lives)
				}
			}
			var findings []string
			for _, f := range s.Findings {
				findings = append(findings, f.Kind)
			}
			slices.Sort(findings)
			fmt.Fprint(&b, slices.Compact(findings))
			all = append(all, b.String())
		}
	}
	return all
}

// The same queue pairs are set up a second time, and the second life is like the
// first: each life has its own verdicts, and nothing is billed across the border.
// MSNs start over, PSNs may or may not.
func TestQueuePairsUsedAgain(t *testing.T) { usedAgain(t, "../testdata/pcaps") }

func usedAgain(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.pcap.gz"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d captures, %v", len(files), err)
	}
	for _, file := range files {
		frames := framesOf(t, file)
		once := verdicts(analyseFrames(frames), 1)
		span := time.Duration(frames[len(frames)-1].Time - frames[0].Time)
		for _, psns := range []int{0, 1, 37, -200, 700, 3000, 50_000, -50_000, 5_000_000} {
			if psns == 700 && strings.Contains(file, "-uc_") {
				continue // UC counts no messages: a pause in which hundreds were lost looks the same
			}
			t.Run(fmt.Sprintf("%s/%d", strings.TrimSuffix(filepath.Base(file), ".pcap.gz"), psns), func(t *testing.T) {
				both := append(slices.Clone(frames), later(t, frames, span+5*time.Second, psns)...)
				for i, got := range verdicts(analyseFrames(both), 2) {
					if i >= len(once) || got != once[i] {
						t.Errorf("two lives, halved\n got %s\nwant %s", got, once[min(i, len(once)-1)])
					}
				}
			})
		}
	}
}

// A sender that waits long and resends is no new life, however slow its clock:
// the timers of these captures, of 67 ms, and the same ten times as long.
func TestTimersBeginNoEpoch(t *testing.T) { patient(t, "../testdata/pcaps") }

func patient(t *testing.T, dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.pcap.gz"))
	for _, file := range files {
		frames := framesOf(t, file)
		for _, slower := range []int64{1, 10} {
			for i := range frames {
				frames[i].Time = frames[0].Time + slower*(frames[i].Time-frames[0].Time)
			}
			for _, c := range analyseFrames(frames).Connections {
				for i := range c.Streams {
					if s := &c.Streams[i]; s.Epochs != 1 {
						t.Errorf("%s, %d times as slow: %v %s has %d epochs", file, slower, s.DestQP, s.Kind, s.Epochs)
					}
				}
			}
		}
	}
}
