package top

import (
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
)

// replay gives what is to be seen at the end of a capture.
func replay(t *testing.T, name string, q Query) *Screen {
	t.Helper()
	s := follow(t, name)
	s.End("")
	return s.Screen(&q)
}

// follow has a Sampler see all of a capture.
func follow(t *testing.T, name string) *Sampler {
	t.Helper()
	r, err := capture.Open("../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	a := dissect.NewAnalyzer(dissect.Config{})
	a.OpenCapture(name, "pcap")
	var f dissect.Frame
	s := NewSampler(a, func() int64 { return f.Time + 1e9 }, false) // a replay that goes on a little
	for err = r.Next(&f); err == nil; err = r.Next(&f) {
		s.Reached(f.Time)
		a.Frame(&f)
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	return s
}

// What the expectations of cases say is what is shown, and rates are that by the
// times of their frames.
func TestScreenOfCases(t *testing.T) {
	for _, c := range []struct {
		name string
		want dissect.Counts
		span float64 // seconds from the first frame to the last
	}{
		{"04-gap-nak-gobackn", dissect.Counts{Packets: 12, PayloadBytes: 3072, Lost: 2, Retransmitted: 6, Acks: 1, Naks: 1, Feedback: 2}, 13e-6},
		{"08-rnr-nak", dissect.Counts{Packets: 3, PayloadBytes: 3 * 64, Retransmitted: 2, Acks: 1, RNRNaks: 2, Feedback: 3}, 2802e-6},
		{"06-timeout-tail-loss", dissect.Counts{Packets: 3, PayloadBytes: 3 * 64, Undecided: 1, Retransmitted: 1, Acks: 2, Timeouts: 1, Feedback: 2}, 67115e-6},
	} {
		s := replay(t, "cases/"+c.name+".pcap", Query{})
		if len(s.Rows) != 1 || s.Connections != 1 || s.Matching != 1 || !s.Ended {
			t.Fatalf("%s: %+v", c.name, s)
		}
		r := &s.Rows[0]
		if r.Total != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, r.Total, c.want)
		}
		for what, rate := range map[string][2]float64{
			"packets": {r.Rates.Packets, float64(c.want.Packets)}, "bytes": {r.Rates.Bytes, float64(c.want.PayloadBytes)},
			"lost": {r.Rates.Lost, float64(c.want.Lost)}, "resent": {r.Rates.Resent, float64(c.want.Retransmitted)},
			"naks": {r.Rates.Naks, float64(c.want.Naks)}, "rnr": {r.Rates.RNRNaks, float64(c.want.RNRNaks)},
			"timeouts": {r.Rates.Timeouts, float64(c.want.Timeouts)},
		} {
			if want := rate[1] / c.span; math.Abs(rate[0]-want) > 1e-6*want {
				t.Errorf("%s: %v %s a second, want %v", c.name, rate[0], what, want)
			}
		}
		sum := uint32(0)
		for _, n := range r.Spark.Packets {
			sum += n
		}
		if int64(sum) != c.want.Packets || r.Spark.Trouble == 0 {
			t.Errorf("%s: %d packets in the trend, trouble %b", c.name, sum, r.Spark.Trouble)
		}
	}
}

// The points are those that the help names.
func TestPoints(t *testing.T) {
	c := dissect.Counts{Lost: 1, Retransmitted: 2, Naks: 3, RNRNaks: 4, Timeouts: 5, CNPs: 6, CEMarked: 7, Packets: 1e6, Acks: 9, Undecided: 9}
	if got, want := points(&c), 1.0+2+3+4*10+5*100+0.1*(6+7); math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
}

// Both directions of a connection between the same queue pair numbers are one row,
// and hosts tell others apart.
func TestFind(t *testing.T) {
	s := replay(t, "cases/16-same-qpn-different-hosts.pcap", Query{})
	all := s.Rows
	if int64(len(all)) != int64(s.Connections) || len(all) < 3 {
		t.Fatalf("%d rows", len(all))
	}
	for _, c := range []struct {
		find string
		dst  []string // of the requests that are left: address and QPN
	}{
		{"0x12", []string{"192.0.2.2 0x000012"}},
		{"18", []string{"192.0.2.2 0x000012"}},
		{"192.0.2.4", []string{"192.0.2.4 0x000011"}},
		{"192.0.2.3 0x000011", []string{"192.0.2.4 0x000011"}},
		{"192.0.2.4/32", []string{"192.0.2.4 0x000011"}},
		{"192.0.2.3,192.0.2.2", []string{"192.0.2.2 0x000012"}},
		{"198.51.100.0/24", nil},
		{"0x000013", nil},
		{"19", nil},
		{"nonsense", nil},
	} {
		s := replay(t, "cases/16-same-qpn-different-hosts.pcap", Query{Find: ParseFind(c.find)})
		var got []string
		for i := range s.Rows {
			got = append(got, name(&s.Rows[i].B))
		}
		if !slices.Equal(got, c.dst) || s.Matching != len(c.dst) || s.Connections != len(all) {
			t.Errorf("%q: %q, want %q", c.find, got, c.dst)
		}
	}
	for _, everything := range []string{"", " ", "192", "192.0.", "192.0.2.0/24", "0x0000"} {
		f := ParseFind(everything)
		for i := range all {
			if !f.takes(&all[i]) {
				t.Errorf("%q leaves out %s", everything, name(&all[i].B))
			}
		}
	}
}

// CNPs come to the connection that they are about, as many as were made.
func TestCNPs(t *testing.T) {
	const name = "pcaps/rxe-cnp_synthetic"
	b, err := os.ReadFile("../testdata/" + name + "-sender.expect.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Loss struct{ Totals struct{ CNPs int64 } }
	}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	s := replay(t, name+"-sender.pcap.gz", Query{})
	got := int64(0)
	for i := range s.Rows {
		got += s.Rows[i].Total.CNPs
	}
	if n := want.Loss.Totals.CNPs; n == 0 || got != n || s.Counts.CNPs != n {
		t.Errorf("%d CNPs of connections, %d in all, want %d", got, s.Counts.CNPs, n)
	}
}

// What the first rows are does not depend on how many there are.
func TestFirstOf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		all := make([]int, r.IntN(60))
		for i := range all {
			all[i] = r.IntN(30)
		}
		want := slices.Sorted(slices.Values(all))
		n := 1 + r.IntN(70)
		got := firstOf(slices.Clone(all), n, func(a, b int) int { return a - b })
		if !slices.Equal(got, want[:min(n, len(want))]) {
			t.Fatalf("first %d of %v: %v", n, all, got)
		}
	}
}

// Bins keep every packet while they grow, and forget the oldest while they slide.
func TestTimeline(t *testing.T) {
	grows, s := timeline{}, Spark{}
	s.follow(grows.to(5000))
	for i := range int64(100_000) {
		s.follow(grows.to(5000 + i*777))
		s.add(grows.now, 1, i == 50_000)
	}
	sum := uint32(0)
	for _, n := range s.Packets {
		sum += n
	}
	middle := int(50_000 * 777 / grows.width)
	if sum != 100_000 || s.Trouble != 1<<middle || s.Packets[bins/2-1] == 0 {
		t.Errorf("%d packets, trouble %b, want bit %d: %v", sum, s.Trouble, middle, s.Packets)
	}
	slides, s := timeline{slides: true}, Spark{}
	s.follow(slides.to(0))
	for second := range int64(100) {
		s.follow(slides.to(second * 1e9))
		s.add(slides.now, second, second == 90)
	}
	if s.Packets[bins-1] != 99 || s.Packets[0] != 100-bins || s.Trouble != 1<<(bins-1-9) {
		t.Errorf("%v, %b", s.Packets, s.Trouble)
	}
	s.follow(slides.to(1e15)) // a week of silence
	if s != (Spark{}) {
		t.Errorf("%v", s)
	}
}

// A rate that does not change is shown as it is, early and late, and fades once
// nothing comes.
func TestRates(t *testing.T) {
	var f flow
	const step = 25e7
	for i := range 400 {
		f.fade(step)
		f.add(&dissect.Counts{Packets: 250, Lost: 1})
		if age := float64(i+1) * step; i > 4 {
			r := f.rates(age)
			if math.Abs(r.Packets-1000) > 80 || math.Abs(r.Lost-4) > 0.4 {
				t.Fatalf("after %v s: %+v", age/1e9, r)
			}
		}
	}
	f.fade(60e9)
	if r := f.rates(1e12); r.Packets > 1e-6 {
		t.Errorf("a minute later %+v", r)
	}
}
