package twopoint

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// changedWorld is captures of two points and a way that changes the IPv4 header:
// what B sees of the n-th packet has the TOS byte that rewrite gives.
func changedWorld(w *world, rewrite func(n int, b []byte)) [][]dissect.Frame {
	w.r, w.points, w.ids = rand.New(rand.NewPCG(3, 4)), 2, [2]uint16{1, 2}
	w.run(200, []*flow{{qpn: 0x11, op: codec.Op(codec.RC, codec.SendOnly), top: 9}}, plan{damage: 20})
	captures := [][]dissect.Frame{w.capture(0, wrong{}), w.capture(1, wrong{})}
	for n := range captures[1] {
		rewrite(n, captures[1][n].Data)
	}
	return captures
}

const tos, ttl = 14 + 1, 14 + 8 // in a frame over IPv4

// Packets leave with TOS 2: DSCP 0, ECT(0).
func TestChanges(t *testing.T) {
	captures := changedWorld(&world{}, func(n int, b []byte) {
		b[ttl]--
		switch {
		case n < 5:
			b[tos] = 3 // CE
		case n < 12:
			b[tos] = 26<<2 | 2
		case n < 14:
			b[tos] = 8 << 2 // not ECN-capable
		case n < 15:
			b[tos] = 1
			b[ttl]--
		}
	})
	for _, names := range [][]string{{"A", "B"}, {"B", "A"}} {
		got := compareFrames(captures, names)
		s := &got.Streams[0]
		if s.Upstream != "A" {
			t.Fatalf("first point %s", s.Upstream)
		}
		if have, want := fmt.Sprint(s.ECNChanges), "[{ect0 ce 5} {ect0 not-ect 2} {ect0 ect1 1}]"; have != want {
			t.Errorf("ECN %s, want %s", have, want)
		}
		if have, want := fmt.Sprint(s.DSCPChanges), "[{0 26 7} {0 8 2}]"; have != want {
			t.Errorf("DSCP %s, want %s", have, want)
		}
		if s.CEMarked != 5 || s.DSCPChanged != 9 || *s.Hops != (Hops{1, 2}) {
			t.Errorf("%d marked, DSCP of %d changed, %v", s.CEMarked, s.DSCPChanged, s.Hops)
		}
		slices.Reverse(captures)
	}
}

// Damaged copies are listed with the frames where they were good and bad, up to a
// bound.
func TestDamagedCopies(t *testing.T) {
	w := &world{}
	captures := changedWorld(w, func(int, []byte) {})
	var want []int // frames at B
	for n := range captures[1] {
		var p dissect.Packet
		f := captures[1][n]
		if (&dissect.Locator{}).Locate(&f, &p) == dissect.Found && p.ICRC() == dissect.ICRCBad {
			want = append(want, f.Number)
		}
	}
	if len(want) < 4 {
		t.Fatal("too few are damaged")
	}
	for _, most := range []int{0, 3} {
		s := &compareBy(Config{MaxVanished: most}, captures, []string{"A", "B"}).Streams[0]
		var have []int
		for _, k := range s.DamagedCopies {
			have = append(have, k.FrameAtSecond)
			var bth codec.BTH
			if err := bth.Decode(captures[0][k.Frame-1].Data[14+20+8:]); err != nil || bth.PSN != k.PSN {
				t.Errorf("frame %d has PSN %v, not %v", k.Frame, bth.PSN, k.PSN)
			}
		}
		listed := want
		if most > 0 {
			listed = want[:most]
		}
		if !slices.Equal(have, listed) || s.Damaged != int64(len(want)) {
			t.Errorf("at most %d: %v of %d, want %v of %d", most, have, s.Damaged, listed, len(want))
		}
	}
}
