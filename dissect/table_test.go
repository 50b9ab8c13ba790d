package dissect

import "testing"

// Addresses chosen so that their two parts cancel out, or step evenly, are as
// good as any: no look-up passes over many slots.
func TestHalfTableProbes(t *testing.T) {
	const n = 1 << 15
	for name, key := range map[string]func(i uint64) halfKey{
		"parts cancel":   func(i uint64) halfKey { return halfKey{src: Address{i, i ^ 0x1234567890abcdef, ipv6Address}} },
		"even steps":     func(i uint64) halfKey { return halfKey{src: Address{0, i << 16, ipv4Address}} },
		"queue pairs":    func(i uint64) halfKey { return halfKey{qpn: uint32(i)} },
		"both addresses": func(i uint64) halfKey { return halfKey{src: Address{lo: i}, dst: Address{lo: i}} },
	} {
		table := newHalfTable()
		for i := range uint64(n) {
			k := key(i)
			table.insert(&half{key: k}, table.hash(&k))
		}
		mask := uint32(len(table.slots) - 1)
		longest := uint32(0)
		for i, s := range table.slots {
			if s.half != nil {
				longest = max(longest, (uint32(i)-s.hash)&mask)
			}
		}
		if longest > 200 {
			t.Errorf("%s: a look-up takes %d steps among %d halves", name, longest, n)
		}
		for i := range uint64(n) {
			k := key(i)
			if h := table.find(&k, table.hash(&k)); h == nil || h.key != k {
				t.Fatalf("%s: %d is not found", name, i)
			}
		}
	}
}
