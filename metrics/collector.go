package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rdmadump/rdmadump/dissect"
)

// collector gives a board to Prometheus.
type collector struct {
	board *Board

	perConnection, inAll []*prometheus.Desc // as counts
	rtt, median, p99     *prometheus.Desc
	last, info           *prometheus.Desc
	undecided            *prometheus.Desc
	followed, omitted    *prometheus.Desc
	datagrams            *prometheus.Desc
	pauses, pfc          *prometheus.Desc
	frames, rdma, drops  *prometheus.Desc
	duplicates, cut      *prometheus.Desc
	up                   *prometheus.Desc
}

// directionLabels tell what goes one way between two queue pairs.
var directionLabels = []string{"connection", "src", "dst", "dest_qp"}

// NewCollector makes the collector of a board. It is safe for concurrent use.
func NewCollector(b *Board) prometheus.Collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("rdmadump_"+name, help, labels, nil)
	}
	c := &collector{
		board: b,
		rtt: desc("connection_rtt_seconds", "The newest round trip from here to the receiver and back; "+
			"absent where this capture point cannot be trusted with it.", directionLabels...),
		median:     desc("connection_rtt_median_seconds", "Median of all round trips of the direction so far.", directionLabels...),
		p99:        desc("connection_rtt_p99_seconds", "99th percentile of all round trips of the direction so far.", directionLabels...),
		last:       desc("connection_last_packet_timestamp_seconds", "When the newest packet of the connection passed, seconds since 1970.", "connection"),
		info:       desc("connection_info", "What a connection is; always 1.", "connection", "service", "transport", "a", "a_qp", "b", "b_qp"),
		undecided:  desc("undecided_packets", "PSNs of which nobody can tell, or not yet, whether they were lost."),
		followed:   desc("connections", "Connections that are followed now."),
		omitted:    desc("connections_omitted", "Connections that are followed now and not given by themselves, since --max-connections others are in more trouble."),
		datagrams:  desc("datagrams_total", "Packets of UD, connection management included."),
		pauses:     desc("pause_frames_total", "802.3x frames that pause a link."),
		pfc:        desc("pfc_frames_total", "PFC frames that pause a priority.", "priority"),
		frames:     desc("capture_frames_total", "Frames that were captured.", "capture", "file"),
		rdma:       desc("capture_rdma_frames_total", "Captured frames with an RDMA packet.", "capture", "file"),
		drops:      desc("capture_dropped_frames_total", "Frames that the capture itself lost: no loss of the network.", "capture", "file"),
		duplicates: desc("capture_duplicate_frames_total", "Frames that were captured twice, such as by two mirror ports.", "capture", "file"),
		cut:        desc("capture_cut_frames_total", "RDMA frames of which only a part was captured.", "capture", "file"),
		up:         desc("capture_up", "1 while frames may come, 0 once the capture ended."),
	}
	for i := range counts {
		m := &counts[i]
		c.perConnection = append(c.perConnection, desc("connection_"+m.name+"_total", m.help, directionLabels...))
		c.inAll = append(c.inAll, desc(m.name+"_total", m.help))
	}
	return c
}

// Describe gives all that Collect can give.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, list := range [][]*prometheus.Desc{c.perConnection, c.inAll, {c.rtt, c.median, c.p99, c.last, c.info, c.undecided, c.followed, c.omitted,
		c.datagrams, c.pauses, c.pfc, c.frames, c.rdma, c.drops, c.duplicates, c.cut, c.up}} {
		for _, d := range list {
			to <- d
		}
	}
}

// Collect looks at the board.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	s := c.board.sample()
	counter := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for i := range counts {
		counter(c.inAll[i], float64(counts[i].get(&s.all)))
	}
	gauge(c.undecided, float64(s.all.Undecided))
	gauge(c.followed, float64(s.followed))
	gauge(c.omitted, float64(s.omitted))
	counter(c.datagrams, float64(s.totals.Datagrams))
	counter(c.pauses, float64(s.totals.PauseFrames))
	for priority, n := range s.totals.PFC {
		counter(c.pfc, float64(n), strconv.Itoa(priority))
	}
	for i := range s.captures {
		in := &s.captures[i]
		labels := []string{strconv.Itoa(i), in.File}
		counter(c.frames, float64(in.Frames), labels...)
		counter(c.rdma, float64(in.RDMAFrames), labels...)
		counter(c.drops, float64(in.CaptureDrops), labels...)
		counter(c.duplicates, float64(in.DuplicateFrames), labels...)
		counter(c.cut, float64(in.CutFrames), labels...)
	}
	up := 0.0
	if s.up {
		up = 1
	}
	gauge(c.up, up)
	for i := range s.connections {
		one := &s.connections[i]
		id := strconv.Itoa(one.ID)
		gauge(c.last, float64(one.Last)/1e9, id)
		gauge(c.info, 1, id, one.Service, one.Transport, one.A.Address.String(), qpn(&one.A), one.B.Address.String(), qpn(&one.B))
		for k := range one.Directions {
			d := &one.Directions[k]
			if d.Counts == (dissect.Counts{}) {
				continue
			}
			labels := []string{id, d.Src.String(), d.Dst.String(), qpn([]*dissect.SnapshotEnd{&one.B, &one.A}[k])}
			for m := range counts {
				counter(c.perConnection[m], float64(counts[m].get(&d.Counts)), labels...)
			}
			if rtt := one.rtts[k]; rtt != nil && rtt.Count > 0 {
				gauge(c.rtt, float64(d.LastRTT)/1e9, labels...)
				gauge(c.median, float64(rtt.Median)/1e9, labels...)
				gauge(c.p99, float64(rtt.P99)/1e9, labels...)
			}
		}
	}
}

// qpn is the number of an end's queue pair, "" if the capture does not tell it.
func qpn(e *dissect.SnapshotEnd) string {
	if !e.Known {
		return ""
	}
	return e.QPN.String()
}
