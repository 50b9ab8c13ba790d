package metrics

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/sim"
)

// read feeds a board with a capture that ships.
func read(t *testing.T, name string, l Limits) *Board {
	t.Helper()
	r, err := capture.Open("../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	a := dissect.NewAnalyzer(dissect.Config{MaxGaps: 20})
	b := NewBoard(a, l)
	a.OpenCapture(name, "pcap")
	b.Opened()
	var f dissect.Frame
	for err = r.Next(&f); err == nil; err = r.Next(&f) {
		b.Lock()
		a.Frame(&f)
		b.Unlock()
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	a.CloseCapture(0, 0, nil)
	b.End("")
	return b
}

// get asks a handler.
func get(t *testing.T, h http.Handler, path string) (status int, body string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w.Code, w.Body.String()
}

// series are the samples of a scrape, by name and labels.
func series(t *testing.T, h http.Handler) map[string]float64 {
	t.Helper()
	status, body := get(t, h, "/metrics")
	if status != http.StatusOK {
		t.Fatalf("%d: %s", status, body)
	}
	all := map[string]float64{}
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if value == "" {
			name, value, _ = strings.Cut(name, " ")
		} else {
			name += "}"
		}
		var v float64
		if _, err := fmt.Sscan(value, &v); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all[name] = v
	}
	return all
}

// What the cases say was lost and sent again is what is scraped, of all and of
// the one connection that there is.
func TestScrape(t *testing.T) {
	text, err := os.ReadFile("../testdata/cases/04-gap-nak-gobackn.expect.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Loss struct {
			Streams []struct {
				Packets, Lost int64
				Retransmitted int64 `json:"retransmitted.packets"`
			}
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Loss.Streams) != 1 {
		t.Fatalf("%v: %+v", err, file)
	}
	s := file.Loss.Streams[0]
	if s.Lost == 0 || s.Retransmitted == 0 {
		t.Fatalf("%+v", s)
	}
	const acks, naks = 1, 1 // frames 14 and 5

	h := Handler(read(t, "cases/04-gap-nak-gobackn.pcap", Limits{Connections: 10, Gaps: 3}), "test")
	got := series(t, h)
	labels := `{connection="1",dest_qp="0x000111",dst="192.0.2.2",src="192.0.2.1"}`
	for name, n := range map[string]int64{"packets": s.Packets, "lost_packets": s.Lost, "retransmitted_packets": s.Retransmitted,
		"acks": acks, "naks": naks} {
		if v, ok := got["rdmadump_"+name+"_total"]; !ok || v != float64(n) {
			t.Errorf("%s: %v in all, want %d", name, v, n)
		}
		if v, ok := got["rdmadump_connection_"+name+"_total"+labels]; !ok || v != float64(n) {
			t.Errorf("%s: %v of the connection, want %d", name, v, n)
		}
	}

	var listing struct {
		Up          bool
		Connections []struct {
			Directions []struct {
				Lost, Retransmitted, Naks int64
				DestQP                    string
				Gaps                      []any
			}
		}
		Totals struct{ Lost, Connections int64 }
	}
	if _, body := get(t, h, "/connections"); json.Unmarshal([]byte(body), &listing) != nil || len(listing.Connections) != 1 {
		t.Fatalf("%s", body)
	}
	d := listing.Connections[0].Directions[0]
	if d.Lost != s.Lost || d.Retransmitted != s.Retransmitted || d.Naks != naks || d.DestQP != "0x000111" || len(d.Gaps) != 1 {
		t.Errorf("%+v", d)
	}
	if listing.Totals.Lost != s.Lost || listing.Totals.Connections != 1 || listing.Up {
		t.Errorf("%+v", listing.Totals)
	}
	if _, body := get(t, h, "/"); !strings.Contains(body, fmt.Sprintf(`<td class="trouble">%d<td>%d`, s.Lost, s.Retransmitted)) {
		t.Errorf("%s", body)
	}
}

// Names, units and types are as Prometheus wants them, over captures of all
// transports.
func TestLint(t *testing.T) {
	for _, name := range []string{"cases/04-gap-nak-gobackn.pcap", "cases/61-mixed-traffic.pcap", "cases/130-irn-write-two-losses.pcap",
		"cases/110-tc-draft-example.pcap", "cases/140-mp-two-paths.pcap", "cases/27-responses-only.pcap", "cases/58-cnp.pcap"} {
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(NewCollector(read(t, name, Limits{Connections: 100})))
		problems, err := testutil.GatherAndLint(registry)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s: %s", name, p.Metric, p.Text)
		}
	}
}

// Of many connections the worst are given one by one, and all are in the totals.
func TestMostConnections(t *testing.T) {
	const qps, most = 3000, 25
	a := dissect.NewAnalyzer(dissect.Config{})
	b := NewBoard(a, Limits{Connections: most})
	a.OpenCapture("sim", "live")
	b.Opened()
	s, err := sim.Parse(fmt.Appendf(nil, `
pairs: {count: %d}
work: {verb: write, size: 2KiB, count: 2}
links: {name: wire, delay: 5us, there: {loss: {p: 0.02}}}
`, qps), "many.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sim.Run(s, sim.Output{Captures: []sim.Capture{{At: "receiver", Frame: func(f *dissect.Frame) error {
		a.Frame(f)
		return nil
	}}}}); err != nil {
		t.Fatal(err)
	}
	got := series(t, Handler(b, "test"))
	var lost float64
	given := map[string]bool{}
	for name, v := range got {
		if strings.HasPrefix(name, "rdmadump_connection_info") {
			given[regexp.MustCompile(`connection="(\d+)"`).FindStringSubmatch(name)[1]] = true
		}
		if strings.HasPrefix(name, "rdmadump_connection_lost_packets_total") {
			lost += v
		}
	}
	least, greatest := int64(1<<62), int64(0) // trouble of those given, and of the others
	for c := range a.Live {
		var n int64
		for i := range c.Directions {
			d := &c.Directions[i]
			n += d.Lost + d.Retransmitted + d.Naks + 10*d.RNRNaks + 100*d.Timeouts
		}
		if given[fmt.Sprint(c.ID)] {
			least = min(least, n)
		} else {
			greatest = max(greatest, n)
		}
	}
	if len(given) != most || least < greatest || greatest == 0 {
		t.Errorf("%d given, the least troubled has %d, of the others one has %d", len(given), least, greatest)
	}
	if got["rdmadump_connections"] != qps || got["rdmadump_connections_omitted"] != qps-most || got["rdmadump_lost_packets_total"] <= lost {
		t.Errorf("%v connections, %v omitted, %v lost, of those given %v", got["rdmadump_connections"], got["rdmadump_connections_omitted"], got["rdmadump_lost_packets_total"], lost)
	}
}

// A counter never falls, whatever comes late or goes idle.
func TestCountersRise(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	a := dissect.NewAnalyzer(dissect.Config{MaxHalves: 40})
	b := NewBoard(a, Limits{Connections: 8})
	a.OpenCapture("sim", "live")
	b.Opened()
	h := Handler(b, "test")
	before, fell, at := map[string]float64{}, 0, int64(0)
	scrape := func() {
		b.taken = time.Time{} // not what was found just now
		now := series(t, h)
		for name, v := range now {
			if strings.Contains(name, "_total") && v < before[name] {
				t.Errorf("%s fell from %v to %v", name, before[name], v)
				fell++
			}
		}
		maps.DeleteFunc(before, func(name string, _ float64) bool { return strings.Contains(name, "connection=") })
		maps.Copy(before, now)
	}
	for round := range 30 {
		s, err := sim.Parse(fmt.Appendf(nil, `
seed: %d
pairs: {count: 12}
order: mixed
work: [{verb: write, size: 1..16KiB, count: 8}, {verb: read, size: 1..8KiB, count: 4}]
links: [{name: a, delay: 5us, there: {loss: {p: 0.02}}, back: {loss: {p: 0.02}}}, {name: b, there: {reorder: {p: 0.05, by: 20us}}}]
`, round+1), "churn.yaml")
		if err != nil {
			t.Fatal(err)
		}
		begin := int64(0)
		if _, err := sim.Run(s, sim.Output{Captures: []sim.Capture{{At: "receiver", Frame: func(f *dissect.Frame) error {
			if begin == 0 {
				begin = f.Time
			}
			at = max(at, f.Time)
			a.Frame(f)
			if random.IntN(200) == 0 {
				scrape()
			}
			return nil
		}}}}); err != nil {
			t.Fatal(err)
		}
		scrape()
		a.RetireIdle(at + 1)
		scrape()
	}
	if before["rdmadump_lost_packets_total"] == 0 || fell > 0 {
		t.Errorf("%v lost in all", before["rdmadump_lost_packets_total"])
	}
}

// A capture that failed shows.
func TestHealth(t *testing.T) {
	b := NewBoard(dissect.NewAnalyzer(dissect.Config{}), Limits{})
	h := Handler(b, "test")
	if status, body := get(t, h, "/healthz"); status != 200 || body != "ok\n" || series(t, h)["rdmadump_capture_up"] != 1 {
		t.Errorf("%d %s", status, body)
	}
	b.End("eth0: the interface went down")
	b.taken = time.Time{}
	if status, body := get(t, h, "/healthz"); status != 503 || body != "eth0: the interface went down\n" || series(t, h)["rdmadump_capture_up"] != 0 {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := get(t, h, "/nothing"); status != 404 {
		t.Errorf("%d", status)
	}
}

// The dashboard and the alert rules ask for what there is, and for nothing else.
func TestDeployedNames(t *testing.T) {
	known := map[string]bool{}
	descs := make(chan *prometheus.Desc, 1000)
	NewCollector(NewBoard(dissect.NewAnalyzer(dissect.Config{}), Limits{})).Describe(descs)
	close(descs)
	for d := range descs {
		known[regexp.MustCompile(`rdmadump_\w+`).FindString(d.String())] = true
	}
	for _, file := range []string{"grafana-dashboard.json", "alerts.yml", "../docs/serve.md"} {
		text, err := os.ReadFile("../deploy/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, ".json") && !json.Valid(text) {
			t.Errorf("%s is no JSON", file)
		}
		names := regexp.MustCompile(`\brdmadump_\w+`).FindAllString(string(text), -1)
		if len(names) < 10 {
			t.Errorf("%s names %d metrics", file, len(names))
		}
		for _, name := range names {
			if !known[name] && name != "rdmadump_build_info" {
				t.Errorf("%s asks for %s, which there is not", file, name)
			}
		}
	}
}
