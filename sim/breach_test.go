package sim

import (
	"bytes"
	"slices"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// Each breach changes what passes the wire, and the same flow without it does
// not look like that.
func TestBreaches(t *testing.T) {
	for _, b := range breaches {
		s := Default()
		s.Fault, s.Until = b, 0
		s.Transport.Name = b.of()
		if s.Transport.Name == "" {
			s.Transport.Name = GoBackN
		}
		s.Pairs.AckTimeout = 8
		s.Links[0].There.Loss = []Pick{{Model: Nth, N: []int64{5, 8, 11, 14}}}
		s.Work[0].Count = 2
		broken := play(t, &s, "sender", "receiver")
		s.Fault = ""
		right := play(t, &s, "sender", "receiver")
		if broken.text == right.text && slices.EqualFunc(broken.frames["receiver"], right.frames["receiver"], sameFrame) &&
			slices.EqualFunc(broken.frames["sender"], right.frames["sender"], sameFrame) {
			t.Errorf("%s changes nothing", b)
		}
		count := func(r shown, o codec.Opcode) int {
			return len(named(r.truth, func(l *line) bool { return l.Opcode == o }))
		}
		switch b {
		case SecondNAK:
			if ack := codec.Op(codec.RC, codec.Acknowledge); count(broken, ack) != count(right, ack)+1 {
				t.Errorf("%s: %d acknowledgements, %d without", b, count(broken, ack), count(right, ack))
			}
		case IRNMissingNACK:
			if nack := codec.OpcodeIRNNack; count(broken, nack) >= count(right, nack) {
				t.Errorf("%s: %d NACKs, %d without", b, count(broken, nack), count(right, nack))
			}
		case ReservedBits, MSNJump, ACKRegression, TCSegmentOrder, TCResendConfirmed, IRNWrongNACK, MPWrongNACK, MPOldAACK:
			if broken.Failed() > 0 {
				t.Errorf("%s: %d failed", b, broken.Failed())
			}
		case BadPadCnt, BadDMALen, MiddleWithoutFirst:
			if broken.Ended == right.Ended {
				t.Errorf("%s is not refused", b)
			}
		}
	}
}

func sameFrame(a, b dissect.Frame) bool { return a.Time == b.Time && bytes.Equal(a.Data, b.Data) }
