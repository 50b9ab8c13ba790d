package conform

import (
	"time"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// batches judges the time of windowless reports. A report is due when so many
// packets have come since the one before, or so much time has passed since the
// first of them. Where nobody states these thresholds other reports show them:
// each was due by one of the two, so that one that exceeds both the most packets
// and the longest time of all others by far is late.
type batches struct {
	packets int   // new ones that passed since the last report
	began   int64 // time of the first of them
	frame   int   // and its frame
	counted int64 // time of the one with which the stated number was reached, 0 before it
	aged    int64 // time of the first one behind the stated time, 0 before it

	newest   psn.Seq // the highest PSN reported
	last     int64   // time of the last report
	reports  int
	worst    batch // that with the longest time
	most     int   // packets, of the others
	mostTold int   // the same by their own word
	longest  int64 // time since the report before, of the others
}

// batch is what a report is about.
type batch struct {
	Violation
	told    int // packets by its own word; what passed includes, away from the responder, what is still on its way
	packets int
	time    int64
	since   int64 // the report before; the draft may mean that
	ranges  bool  // it has as many as fit, or nothing is known of what was before
}

// Thresholds are those that a windowless responder was told when it connected;
// what is zero is not known.
type Thresholds struct {
	Packets int           // C_thresh
	Time    time.Duration // T_thresh
}

const (
	fewReports = 5              // from which thresholds are estimated
	farBeyond  = 8              // times what all others show
	speaking   = int64(500_000) // nanoseconds that a report may wait behind READ responses in its port
	allRanges  = 4              // SegmentNum of a report that the number of ranges may have caused
)

// passes notes a new packet on its way to the responder.
func (b *batches) passes(at sight, t *Thresholds) {
	if b.packets == 0 {
		b.began, b.frame, b.counted, b.aged = at.time, at.frame, 0, 0
	}
	b.packets++
	if t.Packets > 0 && b.packets == t.Packets {
		b.counted = at.time
	}
	if t.Time > 0 && b.aged == 0 && at.time-b.began >= t.Time.Nanoseconds() {
		b.aged = at.time
	}
}

// inTime judges when a report comes.
func (c *Checker) inTime(w *flow) {
	b, t, now := &w.batches, &c.config.Thresholds, c.f.Packet.Time
	if b.packets == 0 || c.sent == sentBefore || !c.config.Rules.has(tcReportInTime) {
		return
	}
	stated := t.Packets > 0 || t.Time > 0
	switch {
	case b.counted > 0 && now-b.counted > speaking:
		c.doubt(w, ifByReceiver, tcReportInTime, say("the report comes %s after the %d packets that make it due", nanos(now-b.counted), t.Packets), b.frame)
	case b.aged > 0 && now-b.aged > speaking:
		c.doubt(w, ifByReceiver, tcReportInTime, say("the report comes %s after the first packet of its batch, it is due after %s", nanos(now-b.began), t.Time), b.frame)
	}
	newest := c.f.Seq
	if segments, n := c.packet.TCAETH.Segments(); n > 0 {
		newest = psn.Unwrap(newest, segments[n-1].Last)
	}
	if b.reports == 0 {
		b.newest = w.first - 1
	}
	this := batch{told: int(newest - b.newest), packets: b.packets, time: now - b.began}
	b.newest = max(b.newest, newest)
	b.reports++
	this.ranges = c.packet.TCAETH.SegmentNum == allRanges || b.reports == 1
	this.since = now - b.last
	b.last = now
	switch {
	case stated:
	case this.time > b.worst.time:
		b.show(&b.worst)
		text := say("the report comes %s after the first of %d packets", nanos(this.time), this.packets)
		this.Violation = c.violation(w, tcReportInTime, Violates, text, []int{b.frame})
		b.worst = this
		c.list(w)
	default:
		b.show(&this)
	}
	b.packets = 0
}

// show learns from a report when one is due, unless the number of ranges may have
// caused it.
func (b *batches) show(r *batch) {
	if !r.ranges {
		b.most, b.mostTold, b.longest = max(b.most, r.packets), max(b.mostTold, r.told), max(b.longest, r.since)
	}
}

// lateRest judges at the end the report that took longest.
func (c *Checker) lateRest(w *flow) {
	b := &w.batches
	n, most := b.worst.told, b.mostTold
	if c.by(w, dissect.TapReceiver) {
		n, most = b.worst.packets, b.most
	}
	if b.reports < fewReports || most == 0 || n <= farBeyond*most || b.worst.time <= max(farBeyond*b.longest, speaking) {
		return
	}
	v := b.worst.Violation
	v.Text += say("; of the others none takes longer than %s, nor is about more than %d", nanos(b.longest), most)
	c.decide(w, &doubt{Violation: v, rule: tcReportInTime, kind: elseNote, other: true})
	w.batches = batches{}
}
