package sim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/rdmadump/rdmadump/transport"
)

// Where memory begins.
const (
	localBase  = 0x00007f0000000000
	remoteBase = 0x00007e0000000000
	cellBase   = 0x00007d0000000000 // what atomics work on
	resultBase = 0x00007c0000000000 // what they found, 8 bytes each
)

// memory is what a flow reads and writes. None of it is kept: it is known what
// every byte must be. Messages follow one another, and what is read or written by
// one is at the same distance from the base at both ends.
type memory struct {
	run    *run
	bytes  *pattern
	rkey   uint32
	origin [2]uint64 // of what the requester holds and of what the responder holds

	next     uint64 // distance of the next message from the base
	atomics  uint64 // that were posted
	cell     uint64
	receives queue[uint64] // where the messages go that take a receive

	limit  Receives
	posted int            // receives that are posted
	since  transport.Time // when the next one began to be prepared
}

func newMemory(f *flow, s *Scenario) memory {
	random := s.random("memory " + number(f.pair.number) + string(rune('a'+f.from)))
	return memory{run: f.run, bytes: f.run.pattern, rkey: f.pair.rkey[1-f.from],
		origin: [2]uint64{random.Uint64N(period), random.Uint64N(period)}, limit: s.Receives, posted: s.Receives.Posted}
}

// request makes a work request of the kind.
func (m *memory) request(w *Work, random *rand.Rand) transport.WorkRequest {
	request := transport.WorkRequest{Verb: w.Verb.verb(), RKey: m.rkey}
	switch request.Verb {
	case transport.CmpSwap, transport.FetchAdd:
		// Each adds one to the cell, so that it is known what the n-th finds.
		request.Local, request.Remote, request.Length = resultBase+8*m.atomics, cellBase, 8
		request.Compare, request.Swap = m.atomics, m.atomics+1
		if request.Verb == transport.FetchAdd {
			request.Compare, request.Swap = 0, 1
		}
		m.atomics++
		return request
	}
	size := w.Size.Min
	if w.Size.Max > size {
		size += random.Int64N(w.Size.Max - size + 1)
	}
	request.Length = uint32(size)
	request.Local, request.Remote = localBase+m.next, remoteBase+m.next
	request.Imm = random.Uint32()
	switch request.Verb {
	case transport.Send, transport.SendImm, transport.SendInv, transport.WriteImm:
		m.receives.push(request.Remote)
	}
	const line = 64 // messages begin on a cache line
	m.next += (uint64(size) + line - 1) &^ (line - 1)
	return request
}

// expect compares what is placed with what must be.
func (m *memory) expect(got, want []byte, where string, va uint64) {
	if !bytes.Equal(got, want) {
		m.run.fail(fmt.Errorf("%s memory: wrong bytes at %#x", where, va))
	}
}

// local is the memory of the requester.
type local struct{ *memory }

// remote is the memory of the responder.
type remote struct{ *memory }

// Load implements transport.Memory.
func (m local) Load(va uint64, n int) []byte { return m.bytes.at(m.origin[0], va-localBase, n) }

// Load implements transport.Memory.
func (m remote) Load(va uint64, n int) []byte { return m.bytes.at(m.origin[1], va-remoteBase, n) }

// Store implements transport.Memory.
func (m local) Store(va uint64, b []byte) {
	if va >= resultBase && va < cellBase {
		if found := binary.LittleEndian.Uint64(b); found != (va-resultBase)/8 {
			m.run.fail(fmt.Errorf("sender memory: atomic %d found %d", (va-resultBase)/8, found))
		}
		return
	}
	m.expect(b, m.bytes.at(m.origin[1], va-localBase, len(b)), "requester's", va)
}

// Store implements transport.Memory.
func (m remote) Store(va uint64, b []byte) {
	m.expect(b, m.bytes.at(m.origin[0], va-remoteBase, len(b)), "responder's", va)
}

// CmpSwap implements transport.Memory.
func (m *memory) CmpSwap(_, compare, swap uint64) uint64 {
	found := m.cell
	if found == compare {
		m.cell = swap
	}
	return found
}

// FetchAdd implements transport.Memory.
func (m *memory) FetchAdd(_, add uint64) uint64 {
	m.cell += add
	return m.cell - add
}

// Allows implements transport.Memory.
func (m *memory) Allows(rkey uint32, va uint64, n int) bool {
	if va == cellBase {
		return rkey == m.rkey && n == 8
	}
	return rkey == m.rkey && va >= remoteBase && va-remoteBase+uint64(n) <= m.next
}

// Receive implements transport.Memory.
func (m *memory) Receive() (va uint64, posted bool) {
	if m.receives.n == 0 || !m.postedReceive() {
		return 0, false
	}
	return m.receives.pop(), true
}

// postedReceive takes a receive, if the application has posted one.
func (m *memory) postedReceive() bool {
	if m.limit.Posted == 0 {
		return true
	}
	now := m.run.now
	if n := (now - m.since) / m.limit.Every; m.posted < m.limit.Posted && n > 0 {
		m.posted = min(m.posted+int(n), m.limit.Posted)
		m.since += n * m.limit.Every
	}
	if m.posted == 0 {
		return false
	}
	if m.posted == m.limit.Posted {
		m.since = now // the application begins to prepare the next one
	}
	m.posted--
	return true
}
