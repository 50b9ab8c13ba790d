package codec

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

type icrcVector struct {
	at      string
	carrier Carrier
	bth     int
	covered []byte
	icrc    []byte
}

func icrcVectors(t *testing.T) []icrcVector {
	carriers := map[string]Carrier{"RoCEv2IPv4": RoCEv2IPv4, "RoCEv2IPv6": RoCEv2IPv6, "RoCEv1": RoCEv1, "InfiniBand": InfiniBand, "InfiniBandGRH": InfiniBandGRH}
	text, err := os.ReadFile("testdata/icrc.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []icrcVector
	seen := map[Carrier]bool{}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if line[0] == '#' {
			continue
		}
		at := "icrc.txt:" + strconv.Itoa(i+1)
		col := strings.Split(line, "\t")
		c, ok := carriers[col[0]]
		bth, err := strconv.Atoi(col[1])
		raw, err2 := hex.DecodeString(col[2])
		if !ok || err != nil || err2 != nil {
			t.Fatalf("%s: no vector", at)
		}
		seen[c] = true
		n := len(raw) - icrcLen
		all = append(all, icrcVector{at, c, bth, raw[:n:n], raw[n:]})
	}
	if len(seen) != len(carriers) {
		t.Fatalf("vectors for %d of %d carriers", len(seen), len(carriers))
	}
	return all
}

func TestICRCVectors(t *testing.T) {
	for _, v := range icrcVectors(t) {
		kept := bytes.Clone(v.covered)
		got, err := ICRC(v.carrier, v.covered, v.bth)
		if err != nil || !bytes.Equal(AppendICRC(nil, got), v.icrc) {
			t.Errorf("%s: ICRC %x, %v, the packet has %x", v.at, AppendICRC(nil, got), err, v.icrc)
		}
		if !bytes.Equal(v.covered, kept) {
			t.Errorf("%s: the packet was changed", v.at)
		}
	}
}

// masks are the bits that each carrier reads as ones, by byte from where the
// coverage begins; those before the BTH's fifth byte.
func masks(c Carrier, bth int) map[int]byte {
	m := map[int]byte{bth + 4: 0xff} // FECN, BECN, reserved
	switch c {
	case RoCEv2IPv4:
		m[1], m[8], m[10], m[11] = 0xff, 0xff, 0xff, 0xff // TOS, TTL, checksum
	case RoCEv2IPv6, RoCEv1, InfiniBandGRH:
		m[0], m[1], m[2], m[3] = 0x0f, 0xff, 0xff, 0xff // traffic class, flow label
		m[7] = 0xff                                     // hop limit
	case InfiniBand:
		m[0] = 0xf0 // VL
	}
	if c == RoCEv2IPv4 || c == RoCEv2IPv6 {
		m[bth-2], m[bth-1] = 0xff, 0xff // UDP checksum
	}
	return m
}

// A change of any single bit shows, unless switches may change it.
func TestICRCCoversAllButTheVariableFields(t *testing.T) {
	for _, v := range icrcVectors(t) {
		want, err := ICRC(v.carrier, v.covered, v.bth)
		if err != nil {
			t.Fatal(err)
		}
		b := bytes.Clone(v.covered)
		mask := masks(v.carrier, v.bth)
		for i := range 8 * len(b) {
			bit := byte(0x80) >> (i % 8)
			b[i/8] ^= bit
			got, err := ICRC(v.carrier, b, v.bth)
			b[i/8] ^= bit
			if err != nil {
				t.Fatal(err)
			}
			if masked := mask[i/8]&bit != 0; (got == want) != masked {
				t.Errorf("%s: bit %d of byte %d: same ICRC is %v, masked is %v", v.at, i%8, i/8, got == want, masked)
			}
		}
	}
}

func TestICRCRefusesWhatIsTooShort(t *testing.T) {
	least := map[Carrier]int{RoCEv2IPv4: 28, RoCEv2IPv6: 48, RoCEv1: 40, InfiniBand: 8, InfiniBandGRH: 40}
	for c := range Carrier(7) {
		for bth := -2; bth < 300; bth++ {
			for _, n := range []int{0, bth, bth + 4, bth + 5, bth + 60} {
				_, err := ICRC(c, make([]byte, max(n, 0)), bth)
				if err != nil && !errors.Is(err, ErrLength) {
					t.Fatalf("carrier %d, BTH at %d of %d: %v", c, bth, n, err)
				}
				min, known := least[c]
				if ok := known && bth >= min && n >= bth+5 && bth <= 251; ok != (err == nil) {
					t.Fatalf("carrier %d, BTH at %d of %d: %v", c, bth, n, err)
				}
			}
		}
	}
}

func TestICRCDoesNotAllocate(t *testing.T) {
	for _, v := range icrcVectors(t) {
		if n := testing.AllocsPerRun(100, func() { _, _ = ICRC(v.carrier, v.covered, v.bth) }); n != 0 {
			t.Errorf("%s: %v allocations", v.at, n)
		}
	}
}

func TestCarrierNames(t *testing.T) {
	var names []string
	for c := range Carrier(5) {
		names = append(names, c.String())
	}
	if want := []string{"rocev2", "rocev2", "rocev1", "ib", "ib"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}
