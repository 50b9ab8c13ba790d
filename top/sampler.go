package top

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/rdmadump/rdmadump/dissect"
)

// Sampler looks at the connections of an analyzer now and then. Who feeds the
// analyzer holds the lock for each frame; nothing else may touch it meanwhile.
type Sampler struct {
	sync.Mutex
	analyzer *dissect.Analyzer

	look     sync.Mutex   // of who looks, taken before the other one
	clock    func() int64 // time now, by the clock of the frames
	timeline timeline
	known    map[uint32]*track
	passes   int
	frames   int   // since the last of them
	all      track // of everything together
	totals   dissect.Totals
	newest   int64 // time of a frame
	before   int64 // fades were applied up to this time
	drops    uint64
	ended    bool
	message  string
	order    []*track // of the last screen, reused
}

// track is a row and what is kept to make the next one.
type track struct {
	Row
	flow flow
	pass int // that saw it last
}

// NewSampler looks at an analyzer. clock gives the present time in nanoseconds
// since 1970, by the clock of the frames; it is called with the lock held. slides
// says that the past is to be forgotten, as it must be where there is no end.
func NewSampler(a *dissect.Analyzer, clock func() int64, slides bool) *Sampler {
	return &Sampler{analyzer: a, clock: clock, timeline: timeline{slides: slides}, known: map[uint32]*track{}}
}

// Reached is called with the lock held before a frame with a time is followed. It
// keeps what passes in its bins, as far as that costs no more for a frame than to
// look at one connection.
func (s *Sampler) Reached(at int64) {
	s.newest = max(s.newest, at)
	s.frames++
	if (s.timeline.slides || at < s.timeline.next() || s.frames < len(s.known)) && s.timeline.begun || !s.look.TryLock() {
		return
	}
	defer s.look.Unlock()
	s.take(at, func() {})
}

// Dropped says with the lock held how many frames the capture has lost so far.
func (s *Sampler) Dropped(n uint64) { s.drops = n }

// End says that no more frames come, and why, "" if that is no surprise.
func (s *Sampler) End(message string) {
	s.look.Lock()
	defer s.look.Unlock()
	s.Lock()
	defer s.Unlock()
	s.take(s.clock(), func() {})
	if !s.timeline.slides {
		s.before = s.newest // the capture is no longer than its frames
	}
	s.ended, s.message = true, message
}

// atOnce is how many connections are looked at while the reader waits.
const atOnce = 1000

// rest lets the reader go on.
func (s *Sampler) rest() {
	s.Unlock()
	runtime.Gosched()
	s.Lock()
}

// take takes in what happened up to now, and rests now and then.
func (s *Sampler) take(at int64, rest func()) {
	now := s.timeline.now
	moved := s.timeline.to(at)
	span := float64(max(0, at-s.before))
	if s.passes == 0 {
		span = 0
	}
	s.before = max(s.before, at)
	s.passes++
	s.frames = 0
	bin := now // what came since belongs to the bin that was
	total := s.analyzer.Retired()
	seen := 0
	for c := range s.analyzer.Live {
		t := s.known[c.Key]
		if t == nil {
			t = &track{}
			t.Key = c.Key
			s.known[c.Key] = t
		}
		t.update(c, span, bin, moved)
		t.pass = s.passes
		total.Add(&t.Total)
		if seen++; seen%atOnce == 0 {
			rest()
		}
	}
	if seen < len(s.known) {
		for key, t := range s.known {
			if t.pass < s.passes-1 { // one may be missed, see Live
				delete(s.known, key)
			}
		}
	}
	s.totals = s.analyzer.SoFar()
	total.Packets = s.totals.Packets // those of no connection are shown here alone
	total.CNPs, total.CEMarked = s.totals.CNPs, s.totals.CEMarked
	s.all.flow.fade(span)
	came := since(&total, &s.all.Total)
	s.all.flow.add(&came)
	s.all.Spark.add(bin, came.Packets, points(&came) > 0)
	s.all.Spark.follow(moved)
	s.all.Total = total
}

// update takes in a connection, span nanoseconds after the last time.
func (t *track) update(c *dissect.Snapshot, span float64, bin int, moved shift) {
	total := c.Directions[0].Counts
	total.Add(&c.Directions[1].Counts)
	came := since(&total, &t.Total)
	t.ID, t.Service, t.Transport, t.A, t.B, t.Last, t.Total = c.ID, c.Service, c.Transport, c.A, c.B, c.Last, total
	if t.First == 0 {
		t.First = c.First
	}
	t.RTT = 0
	for i := range c.Directions {
		if rtt := c.Directions[i].LastRTT; rtt > 0 && (t.RTT == 0 || i == 0) {
			t.RTT = rtt
		}
	}
	t.flow.fade(span)
	t.flow.add(&came)
	t.Spark.add(bin, came.Packets, points(&came) > 0)
	t.Spark.follow(moved)
}

// settle works out the rates of a row: over the last seconds or, at the end, over
// all of the capture.
func (t *track) settle(at int64, whole float64, ended bool) {
	if ended {
		t.Rates = average(&t.Total, whole)
		t.Trouble = points(&t.Total) * 1e9 / max(whole, 1)
		return
	}
	age := float64(at - int64(t.First))
	t.Rates = t.flow.rates(age)
	t.Trouble = float64(t.flow.points) * perSecond(troubleSpan, age)
}

// Screen answers a query.
func (s *Sampler) Screen(q *Query) *Screen {
	s.look.Lock()
	defer s.look.Unlock()
	s.Lock()
	if !s.ended {
		s.take(s.clock(), s.rest)
	}
	start, drops := s.start(), s.drops
	var ways *[2]Way
	if q.Open != 0 {
		ways = s.ways(q.Open)
	}
	s.Unlock() // what follows may take its time
	whole := float64(s.before - start)
	s.all.First = dissect.Time(start)
	s.all.settle(s.before, whole, s.ended)
	screen := &Screen{At: dissect.Time(s.before), Start: dissect.Time(start), Connections: len(s.known), Query: *q,
		Total: s.totals, Counts: s.all.Total, Rates: s.all.Rates, Drops: drops, Ended: s.ended, Message: s.message}
	s.order = s.order[:0]
	for _, t := range s.known {
		if q.Find.takes(&t.Row) {
			t.settle(s.before, whole, s.ended)
			s.order = append(s.order, t)
		}
	}
	screen.Matching = len(s.order)
	first := firstOf(s.order, maxRows, func(a, b *track) int { return q.Order.compare(&a.Row, &b.Row, q.Totals) })
	screen.Rows = make([]Row, len(first))
	for i, t := range first {
		screen.Rows[i] = t.Row
	}
	if t := s.known[q.Open]; t != nil && ways != nil {
		t.settle(s.before, whole, s.ended)
		screen.Detail = &Detail{t.Row, *ways}
	}
	return screen
}

// start is the time of the first frame.
func (s *Sampler) start() int64 {
	if in := s.analyzer.Input(0); in.FirstTime != 0 {
		return int64(in.FirstTime)
	}
	return s.before
}

// ways are both directions of the connection with a key, nil if there is none.
func (s *Sampler) ways(key uint32) *[2]Way {
	for c := range s.analyzer.Live {
		if c.Key != key {
			continue
		}
		ways := new([2]Way)
		for i := range c.Directions {
			from := &c.Directions[i]
			ways[i] = Way{from.Src, from.Dst, from.Counts, from.RTT(), from.Gaps(gapsOfDetail)}
		}
		return ways
	}
	return nil
}

// firstOf sorts the first n of a list to its front and gives these. It costs less
// than sorting all.
func firstOf[T any](all []T, n int, compare func(a, b T) int) []T {
	if len(all) > n {
		// A heap of the n that come first so far, with the last of them on top.
		heap := all[:n]
		for i := n/2 - 1; i >= 0; i-- {
			sink(heap, i, compare)
		}
		for i := n; i < len(all); i++ {
			if compare(all[i], heap[0]) < 0 {
				heap[0], all[i] = all[i], heap[0]
				sink(heap, 0, compare)
			}
		}
		all = heap
	}
	slices.SortFunc(all, compare)
	return all
}

// sink restores the heap below its i-th element.
func sink[T any](heap []T, i int, compare func(a, b T) int) {
	for {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && compare(heap[child+1], heap[child]) > 0 {
			child++
		}
		if compare(heap[child], heap[i]) <= 0 {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}

// interval is how often a screen is made.
const interval = 250 * time.Millisecond

// serve makes a screen at intervals, and at once where the view asks for another
// one, until quit is closed. A view that is slow gets the newest when it comes.
// Looking at very many connections takes a while, in which the reader waits: no
// more than one part in twenty of the time goes to it.
func (s *Sampler) serve(queries <-chan Query, screens chan *Screen, quit <-chan struct{}) {
	query := Query{}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-quit:
			return
		case query = <-queries:
		case <-timer.C:
		}
		began := time.Now()
		screen := s.Screen(&query)
		timer.Reset(max(interval, 20*time.Since(began)))
		select {
		case <-screens: // nobody took it
		default:
		}
		screens <- screen
	}
}
