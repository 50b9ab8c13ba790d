package dissect

import (
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
)

// live tells a story and gives what can be seen of its connections before it ends.
func live(t *testing.T, s *story, text string) []Snapshot {
	t.Helper()
	for _, word := range strings.Fields(text) {
		s.word(word)
	}
	var all []Snapshot
	for c := range s.analyzer.Live {
		all = append(all, *c)
	}
	return all
}

// The worked case of go-back-N next to the sender, and a message behind it, while
// more may come.
func TestLive(t *testing.T) {
	s := newStory(Config{})
	all := live(t, s, "f1000 w1001 w1002 l1003! n1001 w1001 w1002 l1003! a1003 W1004! +9us a1004")
	if len(all) != 1 {
		t.Fatalf("%d connections", len(all))
	}
	c := all[0]
	want := Counts{Packets: 8, PayloadBytes: 8 * 256, Feedback: 3, Acks: 2, Naks: 1, Lost: 1, Retransmitted: 3}
	if c.Directions[0].Counts != want || c.Directions[1].Counts != (Counts{}) {
		t.Errorf("%+v", c.Directions)
	}
	if c.ID != 1 || c.Service != "RC" || c.Transport != "go-back-n" || c.A.QPN != 0x222 || !c.A.Known || c.B.QPN != 0x111 ||
		c.A.Address.String() != "192.0.2.1" || c.Directions[1].Src != c.B.Address {
		t.Errorf("%+v", c)
	}
	if c.Last-c.First != 19_000 || c.Directions[0].LastRTT != 10_000 {
		t.Errorf("%d ns from first to last, round trip %d", c.Last-c.First, c.Directions[0].LastRTT)
	}
	if r := c.Directions[0].RTT(); r == nil || *r != (Span{1, 10_000, 10_000, 10_000, 10_000}) {
		t.Errorf("round trips %+v", r)
	}
	gaps := c.Directions[0].Gaps(3)
	if len(gaps) != 1 || gaps[0].First != 1001 || gaps[0].Count != 1 || gaps[0].Where != Downstream || gaps[0].Closed != ClosedRetransmitted {
		t.Errorf("gaps %+v", gaps)
	}
}

// The gaps that opened last come first, and no more than were asked for.
func TestLiveGaps(t *testing.T) {
	s := newStory(Config{})
	c := live(t, s, "W10 W12 W11 W12 a12 W14 n13 W13 W14 a14 W16 n15 W15 W16 W18")[0]
	gaps := c.Directions[0].Gaps(2)
	if len(gaps) != 2 || gaps[0].First != 17 || gaps[0].Closed != Open || gaps[1].First != 15 {
		t.Errorf("%+v", gaps)
	}
	if got := c.Directions[0]; got.Lost != 3 || got.Undecided != 1 {
		t.Errorf("lost %d, undecided %d", got.Lost, got.Undecided)
	}
}

// cnp is a congestion notification about what A sends.
func (s *story) cnp(qpn uint32) []byte {
	bth := codec.BTH{Opcode: codec.OpcodeCNP, PKey: 0xffff, DestQP: qpn}
	b, err := bth.AppendBinary(nil)
	if err != nil {
		panic(err)
	}
	return s.wrap(append(b, make([]byte, 16)...), "c0000202", "c0000201", false)
}

// CNPs count for the direction that they ask to slow down, of the connection whose
// queue pair they name.
func TestLiveCNPs(t *testing.T) {
	s := newStory(Config{})
	live(t, s, "W1 a1 2/W1 2/a1")
	for range 3 {
		s.pass(s.cnp(0x1222), 1000) // of connection 2, see frame
	}
	all := live(t, s, "")
	if len(all) != 2 || all[0].Directions[0].CNPs != 0 || all[1].Directions[0].CNPs != 3 || all[1].Directions[1].CNPs != 0 {
		t.Errorf("%+v", all)
	}
}

// Of what only acknowledgements tell the ends are known as far as those say.
func TestLiveFeedbackOnly(t *testing.T) {
	c := live(t, newStory(Config{}), "a1 a2 n5 a9")[0]
	want := Counts{Feedback: 4, Acks: 3, Naks: 1, Lost: 1}
	if c.Directions[0].Counts != want || c.A.QPN != 0x222 || !c.A.Known || c.B.Known || c.B.Address.String() != "192.0.2.2" ||
		c.Directions[0].Src.String() != "192.0.2.1" || c.Directions[0].RTT() != nil || c.Directions[0].Gaps(9) != nil {
		t.Errorf("%+v", c)
	}
}

// What is let go stays in the sum, whether it was idle or made room for others.
func TestRetired(t *testing.T) {
	sum := func(a *Analyzer) Counts {
		all := a.Retired()
		for c := range a.Live {
			all.Add(&c.Directions[0].Counts)
			all.Add(&c.Directions[1].Counts)
		}
		return all
	}
	for name, config := range map[string]Config{"idle": {}, "evicted": {MaxHalves: 8}} {
		c := newChurn()
		config.Events = func(*Event) {}
		c.analyzer = NewAnalyzer(config)
		for range 20 {
			c.second()
			if name == "idle" {
				c.analyzer.RetireIdle(c.time - 5e9)
			}
		}
		if gone := c.analyzer.Retired(); gone.Packets == 0 {
			t.Errorf("%s: nothing was retired", name)
		}
		// See churn: ten packets each, one lost, three sent again.
		const n = 20 * 20
		if got := sum(c.analyzer); got.Packets != 10*n || got.Lost+got.Undecided != n || got.Retransmitted != 3*n {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Looking at connections does not allocate, and changes nothing.
func TestLiveCost(t *testing.T) {
	c := newChurn()
	for range 5 {
		c.second()
	}
	var lost int64
	if n := testing.AllocsPerRun(10, func() {
		for s := range c.analyzer.Live {
			lost += s.Directions[0].Lost
		}
	}); n > 1 || lost == 0 { // the Snapshot that all share
		t.Errorf("%v allocations", n)
	}
	plain, looked := newStory(Config{}), newStory(Config{})
	for _, word := range strings.Fields("W10 W12 W11 W12 a12 W14 n13 W13 W14 a14 W16 n15 W15 W16 W18 r17 W17 W18 a18") {
		plain.word(word)
		looked.word(word)
		live(t, looked, "")
	}
	if a, b := line(requests(t, plain.end())), line(requests(t, looked.end())); a != b {
		t.Errorf("%s\nafter looking %s", a, b)
	}
}
