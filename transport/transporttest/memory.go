package transporttest

import (
	"encoding/binary"
	"fmt"
)

// Memory is one end's memory: bytes that begin at address Base and are all
// reached with RKey. It implements transport.Memory.
type Memory struct {
	Base  uint64
	RKey  uint32
	Bytes []byte

	Placed  []uint16 // how often each byte was stored
	Loaded  int      // bytes loaded
	Atomics int      // atomics executed

	// Receives are the addresses of the receives that are posted, in order.
	// NotReady, if set, says of the n-th time, from 0, that one is asked for,
	// that none is there yet.
	Receives []uint64
	NotReady func(n int) bool
	Taken    int // receives taken
	asked    int
}

// NewMemory makes memory of so many bytes.
func NewMemory(base uint64, rkey uint32, size int) *Memory {
	return &Memory{Base: base, RKey: rkey, Bytes: make([]byte, size), Placed: make([]uint16, size)}
}

// At is n bytes from va on. It panics where there is no memory: a machine that
// asks for it has not asked Allows.
func (m *Memory) At(va uint64, n int) []byte {
	if !m.inside(va, n) {
		panic(fmt.Sprintf("%d bytes at %#x are outside the memory of %d at %#x", n, va, len(m.Bytes), m.Base))
	}
	return m.Bytes[va-m.Base:][:n:n]
}

func (m *Memory) inside(va uint64, n int) bool {
	return va >= m.Base && va-m.Base <= uint64(len(m.Bytes)) && uint64(n) <= uint64(len(m.Bytes))-(va-m.Base)
}

// Load implements transport.Memory.
func (m *Memory) Load(va uint64, n int) []byte {
	m.Loaded += n
	return m.At(va, n)
}

// Store implements transport.Memory.
func (m *Memory) Store(va uint64, b []byte) {
	copy(m.At(va, len(b)), b)
	for i := range b {
		m.Placed[va-m.Base+uint64(i)]++
	}
}

// CmpSwap implements transport.Memory. Numbers are little-endian.
func (m *Memory) CmpSwap(va, compare, swap uint64) uint64 {
	m.Atomics++
	cell := m.At(va, 8)
	found := binary.LittleEndian.Uint64(cell)
	if found == compare {
		binary.LittleEndian.PutUint64(cell, swap)
	}
	return found
}

// FetchAdd implements transport.Memory.
func (m *Memory) FetchAdd(va, add uint64) uint64 {
	m.Atomics++
	cell := m.At(va, 8)
	found := binary.LittleEndian.Uint64(cell)
	binary.LittleEndian.PutUint64(cell, found+add)
	return found
}

// Allows implements transport.Memory.
func (m *Memory) Allows(rkey uint32, va uint64, n int) bool {
	return rkey == m.RKey && m.inside(va, n)
}

// Receive implements transport.Memory.
func (m *Memory) Receive() (va uint64, posted bool) {
	n := m.asked
	m.asked++
	if m.Taken == len(m.Receives) || m.NotReady != nil && m.NotReady(n) {
		return 0, false
	}
	m.Taken++
	return m.Receives[m.Taken-1], true
}

// MostPlaced is the largest number of times that any byte was stored.
func (m *Memory) MostPlaced() int {
	most := uint16(0)
	for _, n := range m.Placed {
		most = max(most, n)
	}
	return int(most)
}
