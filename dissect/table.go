package dissect

import (
	"math/bits"
	"math/rand/v2"
)

// halfKey is what tells one half from another: all that an RC packet says of
// who talks to whom. The UDP source port is not part of it, and the network is
// only where Config asks for it.
type halfKey struct {
	src, dst Address
	qpn      uint32
	network  uint32 // VLAN or VNI, where tenants reuse addresses
}

// is compares as == does, which the compiler calls a function for.
func (k *halfKey) is(o *halfKey) bool {
	return k.qpn == o.qpn && k.network == o.network && k.src.lo == o.src.lo && k.dst.lo == o.dst.lo &&
		k.src.hi == o.src.hi && k.dst.hi == o.dst.hi && k.src.kind == o.src.kind && k.dst.kind == o.dst.kind
}

// mark is a number for what was seen last of a half, the same in every run. Two
// halves may share it.
func (k *halfKey) mark() uint32 {
	h := (k.src.lo^k.src.hi)*0x9E3779B97F4A7C15 ^ (k.dst.lo^k.dst.hi)*0xC2B2AE3D27D4EB4F ^
		(uint64(k.qpn)|uint64(k.network)<<24)*0x165667B19E3779F9
	h ^= h >> 32
	return uint32(h * 0x9E3779B97F4A7C15 >> 32)
}

// halfTable finds a half by its key: open addressing, never more than half
// full, with the hash beside the slot so that a probe rarely touches a half that
// is not the one looked for.
type halfTable struct {
	slots []slot
	n     int
	seed  [6]uint64
}

// newHalfTable makes a table with a hash of its own, so that nobody can prepare
// a capture whose keys collide.
func newHalfTable() halfTable {
	var t halfTable
	for i := range t.seed {
		t.seed[i] = rand.Uint64()
	}
	return t
}

func (t *halfTable) hash(k *halfKey) uint32 {
	src := fold(k.src.lo^t.seed[0], k.src.hi^t.seed[1])
	dst := fold(k.dst.lo^t.seed[2], k.dst.hi^t.seed[3])
	h := fold(src^t.seed[4]^uint64(k.qpn)<<32, dst^t.seed[5]^uint64(k.network))
	return uint32(h ^ h>>32)
}

// fold multiplies and keeps the bits of both halves of the product.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

type slot struct {
	hash uint32
	half *half // nil: free
}

// find is the half with the key, or nil.
func (t *halfTable) find(k *halfKey, hash uint32) *half {
	if len(t.slots) == 0 {
		return nil
	}
	mask := uint32(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.half == nil {
			return nil
		}
		if s.hash == hash && s.half.key.is(k) {
			return s.half
		}
	}
}

// insert adds a half whose key is not there yet.
func (t *halfTable) insert(h *half, hash uint32) {
	if 2*(t.n+1) > len(t.slots) {
		t.grow()
	}
	t.place(slot{hash, h})
	t.n++
}

func (t *halfTable) place(s slot) {
	mask := uint32(len(t.slots) - 1)
	i := s.hash & mask
	for t.slots[i].half != nil {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}

func (t *halfTable) grow() {
	old := t.slots
	t.slots = make([]slot, max(256, 2*len(old)))
	for _, s := range old {
		if s.half != nil {
			t.place(s)
		}
	}
}

// remove takes a half out. What follows it in the same cluster moves up, so
// that no tombstones stay behind.
func (t *halfTable) remove(h *half, hash uint32) {
	mask := uint32(len(t.slots) - 1)
	i := hash & mask
	for t.slots[i].half != h {
		if t.slots[i].half == nil {
			return
		}
		i = (i + 1) & mask
	}
	t.n--
	for j := (i + 1) & mask; t.slots[j].half != nil; j = (j + 1) & mask {
		if home := t.slots[j].hash & mask; (j-home)&mask >= (j-i)&mask {
			t.slots[i], i = t.slots[j], j
		}
	}
	t.slots[i] = slot{}
}
