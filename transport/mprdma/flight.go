package mprdma

import (
	"sort"

	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// sent is a request packet that was sent and not acknowledged cumulatively.
type sent struct {
	psn     psn.Seq
	first   transport.Time // when its first copy left
	at      transport.Time // and its last
	acked   bool           // selectively
	refused bool           // it came early and waits until everything before it has arrived
}

// flight are the packets between the cumulative point and the newest.
type flight struct {
	transport.Ring[sent]
	passed int            // packets that the cumulative point has passed
	oldest transport.Time // no packet that is not acknowledged left before that
}

// find is the place of a PSN in the flight; ok is false when it is not there.
func (f *flight) find(s psn.Seq) (i int, ok bool) {
	n := f.Len()
	if n == 0 || s < f.At(0).psn {
		return 0, false
	}
	// Where there is no READ among them, PSNs follow each other.
	if d := s - f.At(0).psn; d < psn.Seq(n) && f.At(int(d)).psn == s {
		return int(d), true
	}
	i = sort.Search(n, func(i int) bool { return f.At(i).psn >= s })
	return i, i < n && f.At(i).psn == s
}

// from is the place of the first packet that is not before s.
func (f *flight) from(s psn.Seq) int {
	if i, ok := f.find(s); ok {
		return i
	}
	return sort.Search(f.Len(), func(i int) bool { return f.At(i).psn >= s })
}

// unacked is the first packet at or behind s and before end that is not
// acknowledged, nil if there is none.
func (f *flight) unacked(s, end psn.Seq) *sent {
	for i := f.from(s); i < f.Len() && f.At(i).psn < end; i++ {
		if v := f.At(i); !v.acked {
			return v
		}
	}
	return nil
}

// old is the first packet that is not acknowledged and left at least age ago,
// nil if there is none; then there will be none before next.
func (f *flight) old(now, age transport.Time) (v *sent, next transport.Time) {
	if f.oldest > now-age {
		return nil, f.later(age)
	}
	f.oldest = transport.Never
	for i := range f.Len() {
		if v := f.At(i); !v.acked {
			f.oldest = min(f.oldest, v.at)
			if v.at <= now-age {
				return v, now
			}
		}
	}
	return nil, f.later(age)
}

func (f *flight) later(age transport.Time) transport.Time {
	if f.oldest == transport.Never {
		return transport.Never
	}
	return f.oldest + age
}

// doubt takes back that a packet was acknowledged.
func (f *flight) doubt(v *sent) {
	v.acked = false
	f.oldest = min(f.oldest, v.at)
}

// add appends a packet that leaves for the first time.
func (f *flight) add(now transport.Time, s psn.Seq) {
	f.Push(sent{psn: s, first: now, at: now})
	f.oldest = min(f.oldest, now)
}

// number counts the packets that were first sent before a PSN: exactly for those
// in flight, and for those that were passed if there was no READ since.
func (f *flight) number(s psn.Seq) int {
	if i, ok := f.find(s); ok {
		return f.passed + i
	}
	if f.Len() > 0 && s < f.At(0).psn {
		return f.passed - int(f.At(0).psn-s)
	}
	return f.passed
}
