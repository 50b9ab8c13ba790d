package metrics

import (
	"cmp"
	"container/heap"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/rdmadump/rdmadump/dissect"
)

// Limits bound what is given out.
type Limits struct {
	Connections int // given one by one, those in the most trouble
	Gaps        int // of each direction, the newest
}

// Board is an analyzer that can be looked at while it is fed. Who feeds it holds
// the lock for each frame; nothing else may touch it meanwhile.
type Board struct {
	sync.Mutex
	analyzer *dissect.Analyzer
	limits   Limits
	captures int
	fault    string // why nothing more comes, "" while it does or if that is no surprise
	ended    bool

	look   sync.Mutex // of who looks, taken before the other one
	newest sample
	taken  time.Time
	floors map[uint32]*[2]dissect.Counts // the most that was given out of a connection, by key
	floor  dissect.Counts                // and of all
}

// NewBoard makes the board of an analyzer.
func NewBoard(a *dissect.Analyzer, l Limits) *Board {
	return &Board{analyzer: a, limits: l, floors: map[uint32]*[2]dissect.Counts{}}
}

// Opened says with the lock held that the analyzer has one capture more.
func (b *Board) Opened() { b.captures++ }

// End says that no more frames come, and why, "" if that is no surprise.
func (b *Board) End(fault string) {
	b.Lock()
	defer b.Unlock()
	b.ended, b.fault = true, fault
}

// Health is why nothing comes any more though it should, "" if all is well. ended
// says that nothing comes any more, for whatever reason.
func (b *Board) Health() (fault string, ended bool) {
	b.Lock()
	defer b.Unlock()
	return b.fault, b.ended
}

// sample is a look at the analyzer.
type sample struct {
	captures    []dissect.Capture
	totals      dissect.Totals
	all         dissect.Counts // of all connections so far
	connections []connection   // the most troubled, the worst first
	followed    int            // connections
	omitted     int            // of them
	up          bool           // more frames may come
}

// connection is a connection that is given by itself.
type connection struct {
	dissect.Snapshot
	trouble int64
	rtts    [2]*dissect.Span
	gaps    [2][]dissect.Gap
}

const (
	// fresh is how long a look serves all who ask.
	fresh = 250 * time.Millisecond

	// atOnce is how many connections are looked at while the reader waits.
	atOnce = 1000
)

// sample looks at the analyzer, unless someone just did. What it gives is not
// changed any more.
func (b *Board) sample() sample {
	b.look.Lock()
	defer b.look.Unlock()
	if b.taken.IsZero() || time.Since(b.taken) > fresh {
		b.newest = b.take()
		b.taken = time.Now()
	}
	return b.newest
}

func (b *Board) take() sample {
	b.Lock()
	defer b.Unlock()
	s := sample{totals: b.analyzer.SoFar(), all: b.analyzer.Retired(), up: !b.ended}
	for i := range b.captures {
		s.captures = append(s.captures, b.analyzer.Input(i))
	}
	worst := make(worstLast, 0, min(b.limits.Connections, 1024))
	seen := map[uint32]bool{}
	b.analyzer.Live(func(c *dissect.Snapshot) bool {
		if seen[c.Key] { // others were let go while the reader went on
			return true
		}
		seen[c.Key] = true
		s.followed++
		for i := range c.Directions {
			s.all.Add(&c.Directions[i].Counts)
		}
		if c.ID > 0 {
			worst.consider(c, &b.limits)
		}
		if s.followed%atOnce == 0 {
			b.Unlock()
			runtime.Gosched()
			b.Lock()
		}
		return true
	})
	slices.SortFunc(worst, func(x, y connection) int {
		return cmp.Or(cmp.Compare(y.trouble, x.trouble), cmp.Compare(x.ID, y.ID))
	})
	s.connections, s.omitted = worst, s.followed-len(worst)
	b.rise(&s, seen)
	return s
}

// rise keeps counts from falling, which a counter must not: a packet that was
// taken for lost may turn out to be late, and a connection may be let go while it
// is looked at.
func (b *Board) rise(s *sample, live map[uint32]bool) {
	for key := range b.floors {
		if !live[key] {
			delete(b.floors, key)
		}
	}
	for i := range s.connections {
		c := &s.connections[i]
		floor := b.floors[c.Key]
		if floor == nil {
			floor = &[2]dissect.Counts{}
			b.floors[c.Key] = floor
		}
		for k := range c.Directions {
			raise(&floor[k], &c.Directions[k].Counts)
		}
	}
	raise(&b.floor, &s.all)
}

// raise lifts counts to what was given out of them before.
func raise(floor, now *dissect.Counts) {
	for i := range counts {
		f, n := counts[i].field(floor), counts[i].field(now)
		*f = max(*f, *n)
		*n = *f
	}
}

// trouble ranks connections: by what went wrong, then by what they carry. It does
// not fall but where a loss was none, so that those given out stay the same.
func trouble(c *dissect.Snapshot) int64 {
	var n, packets int64
	for i := range c.Directions {
		d := &c.Directions[i].Counts
		n += d.Lost + d.Retransmitted + d.Naks + 10*d.RNRNaks + 100*d.Timeouts
		packets += d.Packets
	}
	const most = 1 << 40
	return min(n, most)<<20 + min(packets>>10, 1<<20-1)
}

// worstLast is a heap whose first is the least troubled.
type worstLast []connection

func (w worstLast) Len() int           { return len(w) }
func (w worstLast) Less(i, k int) bool { return w[i].trouble < w[k].trouble }
func (w worstLast) Swap(i, k int)      { w[i], w[k] = w[k], w[i] }
func (w *worstLast) Push(x any)        { *w = append(*w, x.(connection)) }
func (w *worstLast) Pop() any {
	last := len(*w) - 1
	c := (*w)[last]
	*w = (*w)[:last]
	return c
}

// consider keeps a connection if it is among the worst.
func (w *worstLast) consider(c *dissect.Snapshot, l *Limits) {
	n := trouble(c)
	switch {
	case l.Connections <= 0 || len(*w) == l.Connections && (*w)[0].trouble >= n:
		return
	case len(*w) == l.Connections:
		heap.Pop(w)
	}
	one := connection{Snapshot: *c, trouble: n}
	for i := range c.Directions {
		one.rtts[i] = c.Directions[i].RTT()
		one.gaps[i] = c.Directions[i].Gaps(l.Gaps)
	}
	heap.Push(w, one)
}
