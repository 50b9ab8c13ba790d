package replay

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/sim"
)

// key names the packets of one PSN space in one direction.
type key struct {
	src, dst      dissect.Address
	destQP, srcQP uint32 // a datagram's PSN belongs to the queue pair that sends
	kind          kind
}

type kind uint8

const (
	request kind = iota
	readResponse
	acknowledge
	notification
	datagram
)

func kindOf(o codec.Opcode) kind {
	switch {
	case o == codec.OpcodeCNP:
		return notification
	case o.Service() == codec.UD:
		return datagram
	case o.Verb() == codec.VerbReadResponse:
		return readResponse
	case o.Response():
		return acknowledge
	}
	return request
}

// stream is what is known of such packets.
type stream struct {
	copies sim.CopyCounter
	sent   int64 // packets so far
	come   int64 // of them, the one sent last that has arrived
}

// streams are the streams seen, as many as a bound on memory allows.
type streams struct {
	of     map[key]*stream
	weight int
}

// maxWeight bounds the memory of streams. One that is forgotten counts its
// copies from 1 again.
const maxWeight = 64 << 20

func (s *streams) get(k key) *stream {
	if st := s.of[k]; st != nil {
		return st
	}
	if s.of == nil {
		s.of = map[key]*stream{}
	}
	st := &stream{}
	s.of[k] = st
	s.grow(k, keyWeight)
	return st
}

// keyWeight is about what a stream takes beside its copies.
const keyWeight = 256

// grow makes room for so many bytes more, others than k going.
func (s *streams) grow(k key, n int) {
	s.weight += n
	for other, st := range s.of {
		if s.weight <= maxWeight {
			return
		}
		if other != k {
			delete(s.of, other)
			s.weight -= keyWeight + st.copies.Weight()
		}
	}
}

// count gives a packet its number among the copies of its PSN.
func (s *streams) count(k key, h *codec.BTH) (*stream, int) {
	st := s.get(k)
	before := st.copies.Weight()
	if st.sent == 0 {
		before = 0
	}
	n := st.copies.Count(h.PSN)
	st.sent++
	s.grow(k, st.copies.Weight()-before)
	return st, n
}
