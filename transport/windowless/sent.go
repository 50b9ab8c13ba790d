package windowless

import (
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// sendings keeps, for each PSN from the oldest unacknowledged one to the newest
// sent, when it was last sent. It is a ring that grows with what is under way.
type sendings struct {
	first psn.Seq
	n     int
	ring  []transport.Time
}

// place is where the ring has a PSN.
func (s *sendings) place(q psn.Seq) *transport.Time { return &s.ring[int(q)&(len(s.ring)-1)] }

// push notes the first sending of the next PSN.
func (s *sendings) push(now transport.Time) {
	if s.n == len(s.ring) {
		old := *s
		s.ring = make([]transport.Time, max(64, 2*len(old.ring)))
		for i := range old.n {
			q := old.first + psn.Seq(i)
			*s.place(q) = *old.place(q)
		}
	}
	*s.place(s.first + psn.Seq(s.n)) = now
	s.n++
}

// retire forgets what comes before upto.
func (s *sendings) retire(upto psn.Seq) {
	n := min(int(upto-s.first), s.n)
	if n > 0 {
		s.first, s.n = s.first+psn.Seq(n), s.n-n
	}
}
