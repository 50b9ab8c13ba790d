package dissect

import (
	"runtime"
	"slices"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
)

// churn has ever new queue pairs: twenty a second, each of which loses a packet
// and is silent from then on.
type churn struct {
	analyzer *Analyzer
	frame    Frame
	qp       uint32
	time     int64
}

func newChurn() *churn {
	bth := unhex("0400ffff0000000000000000")
	data := ethernet("0800", ipv4(17, udp(RoCEv2Port, slices.Concat(bth, make([]byte, 16), spare))))
	c := &churn{analyzer: NewAnalyzer(Config{Events: func(*Event) {}}), time: 1700000000e9,
		frame: Frame{Data: data, WireLen: len(data), Link: LinkEthernet}}
	c.analyzer.OpenCapture("x", "live")
	return c
}

// second lets a second pass.
func (c *churn) second() {
	const bthAt, icrcLen = 42, 4
	for i := range 20 {
		c.qp++
		for k, p := range [...]uint32{0, 1, 2, 3, 5, 6, 4, 5, 6, 7} { // 4 is lost, and the sender goes back
			b := c.frame.Data[bthAt:]
			be.PutUint32(b[4:], c.qp+1)
			be.PutUint32(b[8:], p)
			covered := c.frame.Data[14 : len(c.frame.Data)-icrcLen]
			icrc, err := codec.ICRC(codec.RoCEv2IPv4, covered, bthAt-14)
			if err != nil {
				panic(err)
			}
			codec.AppendICRC(covered, icrc)
			c.frame.Time = c.time + int64(i)*1e6 + int64(k)*1e7
			c.frame.Number++
			c.analyzer.Frame(&c.frame)
		}
	}
	c.time += 1e9
}

// An endless analysis has after an hour the memory that it had after a minute.
func TestRetireIdleMemory(t *testing.T) {
	const idle = 30e9
	c, early := newChurn(), uint64(0)
	for s := range 3600 {
		c.second()
		c.analyzer.RetireIdle(c.time - idle)
		if s == 60 {
			early = inUse()
		}
	}
	if n := len(c.analyzer.halves); n < 20*29 || n > 20*31 {
		t.Errorf("%d halves are kept", n)
	}
	if now := inUse(); now > early+early/4 {
		t.Errorf("%d bytes after an hour, %d after a minute", now, early)
	}
}

// What is retired is told and counted as what is there at the end.
func TestRetireIdle(t *testing.T) {
	whole, retired := newChurn(), newChurn()
	for range 60 {
		whole.second()
		retired.second()
		retired.analyzer.RetireIdle(retired.time - 5e9)
	}
	a := retired.analyzer
	a.RetireIdle(retired.time)
	if a.weight != 0 || a.gapsKept != 0 || a.gapsOpen != 0 || len(a.halves) != 0 || len(a.between) != 0 {
		t.Errorf("left: weight %d, gaps %d and %d, %d halves between %d ends", a.weight, a.gapsKept, a.gapsOpen, len(a.halves), len(a.between))
	}
	if got := a.SoFar(); got.Lost != whole.analyzer.Report().Totals.Lost {
		t.Errorf("%d lost so far, %d in the whole", got.Lost, whole.analyzer.Report().Totals.Lost)
	}
	want, got := whole.analyzer.Report(), a.Report()
	if want.Totals.Lost != 60*20 || want.Totals.Connections != 60*20 {
		t.Fatalf("%+v", want.Totals)
	}
	want.Totals.Connections = 0
	if got.Totals != want.Totals || got.Evicted == nil || *got.Evicted != (Evicted{Idle: 60 * 20}) {
		t.Errorf("%+v, %+v; want %+v", got.Totals, got.Evicted, want.Totals)
	}
}

// Of what was selected nothing is lost when it is retired, and of the rest nothing
// is counted.
func TestRetireIdleSelected(t *testing.T) {
	c := newChurn()
	c.analyzer.config.Selection = &Selection{QPNs: []QPN{3, 27}}
	for range 3 {
		c.second()
	}
	check := func(when string, connections int) {
		for name, got := range map[string]Totals{"so far": c.analyzer.SoFar(), "report": c.analyzer.Report().Totals} {
			if got.Lost != 2 || got.Packets != 2*10 || got.Connections != connections {
				t.Errorf("%s, %s: %+v", when, name, got)
			}
		}
	}
	check("before", 2)
	c.analyzer.RetireIdle(c.time)
	check("after", 0)
	if got := c.analyzer.Retired(); got.Lost != 2 || got.Packets != 2*10 {
		t.Errorf("retired: %+v", got)
	}
}

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
