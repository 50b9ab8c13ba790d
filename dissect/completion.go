package dissect

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// completion is a message that was sent whole and is not acknowledged yet.
type completion struct {
	last    psn.Seq
	message inMessage
}

// maxFlying bounds the messages of a stream that are timed at once. Those that
// begin while so many are under way are not timed.
const maxFlying = 64

// sentWhole notes that the newest message was sent to its end, all of it seen. A
// READ ends with its last response; of IRN, whose responses have PSNs of their
// own, it is not timed.
func (s *stream) sentWhole() {
	if s.response || len(s.flying) >= maxFlying ||
		s.half.transport == irnTransport && forms[s.message.op].verb == codec.VerbRead {
		return
	}
	s.flying = append(s.flying, completion{s.top - 1, s.message})
}

// complete times the messages that are acknowledged now.
func (s *stream) complete(in *arrival) {
	n := 0
	for n < len(s.flying) && s.flying[n].last < s.acked {
		c := s.flying[n]
		if s.tail.waiting && c.last == s.tail.seq {
			break // a READ of which the end is not known
		}
		s.took.add(in.time - c.message.began)
		n++
	}
	if n > 0 {
		s.flying = s.flying[:copy(s.flying, s.flying[n:])]
	}
}

// readEnds corrects the end of the newest READ, now that it is known.
func (s *stream) readEnds(first, last psn.Seq) {
	if n := len(s.flying); n > 0 && s.flying[n-1].last == first {
		s.flying[n-1].last = last
	}
}
