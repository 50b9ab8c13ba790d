package irn

import (
	"math"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/transporttest"
)

// The figures of the paper (section 3.2 and 6.1) and of a network ten times as
// fast: bytes exact, packets within 3 %.
func TestBDPFigures(t *testing.T) {
	const hops = 6
	slow := BDP(40e9, 2*hops*2*time.Microsecond)
	fast := BDP(400e9, 22*time.Microsecond)
	if slow != 120_000 || fast != 1_100_000 {
		t.Errorf("BDP of %d and %d bytes, want 120000 and 1100000", slow, fast)
	}
	for _, tc := range []struct {
		bdp       int64
		mtu, want int
	}{{slow, 1024, 110}, {fast, 4096, 270}} {
		if got := Cap(tc.bdp, tc.mtu); math.Abs(float64(got)/float64(tc.want)-1) > 0.03 {
			t.Errorf("%d bytes are %d packets of %d, want about %d", tc.bdp, got, tc.mtu, tc.want)
		}
	}
	if got := Cap(slow, 1024); got != 120_000/1098 {
		t.Errorf("%d packets of 1,098 bytes on the wire", got)
	}
	if n := State(Cap(slow, 1024)); n != 640 {
		t.Errorf("%d bits of bitmap, want 5 times 128", n)
	}
	if n := size(Cap(fast, 4096)); n <= 128 {
		t.Errorf("a bitmap of %d bits holds %d packets", n, Cap(fast, 4096))
	}
	if Cap(0, 1024) != 1 || BDP(math.MaxInt64, time.Second) != math.MaxInt64/8 {
		t.Error("limits")
	}
}

// State is what the machines have.
func TestState(t *testing.T) {
	q, r := NewRequester(transport.QP{MTU: 1024}, Config{}), NewResponder(transport.QP{MTU: 1024}, Config{})
	words := len(q.send.sacked) + len(q.responses.arrived) + len(r.arrived) + len(r.ends) + len(r.answers.send.sacked)
	if got := 64 * words; got != State(109) || got != 640 {
		t.Errorf("%d bits, want %d", got, State(109))
	}
}

// A full packet on the wire is what a WRITE packet has there.
func TestOverhead(t *testing.T) {
	qp := storyQP
	qp.MTU = 1024
	w := transporttest.NewWorkload(qp, []transporttest.Message{{Verb: transport.Write, Length: 4096}})
	l, _ := story(nil)
	var err error
	longest := 0
	l.Arrived = func(c *transporttest.Copy) error {
		var b []byte
		b, err = c.Packet.AppendBinary(nil)
		longest = max(longest, 14+20+8+len(b)+4)
		return err
	}
	must(t, w, l, Config{})
	if want := 1024 + overhead; longest != want || want != 1098 {
		t.Errorf("%d bytes, want %d", longest, 1024+overhead)
	}
}
