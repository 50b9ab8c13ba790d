package codec

import (
	"errors"
	"slices"
	"testing"

	"github.com/rdmadump/rdmadump/psn"
	"pgregory.net/rapid"
)

// report makes what a windowless receiver says that has the given distances
// from start: naively, by walking over them one by one.
func report(start psn.PSN, has []bool) TCAETH {
	var runs []psn.Range
	for d, have := range has {
		p := start.Add(d)
		switch {
		case !have:
		case d > 0 && has[d-1]:
			runs[len(runs)-1].Last = p
		default:
			runs = append(runs, psn.Range{First: p, Last: p})
		}
	}
	runs = runs[:min(len(runs), 4)]
	h := TCAETH{SegmentNum: uint32(len(runs)), LastFinishedPSN: runs[0].Last}
	pairs := [][2]*psn.PSN{{&h.Seg1Left, &h.Seg1Right}, {&h.Seg2Left, &h.Seg2Right}, {&h.Seg3Left, &h.Seg3Right}}
	for i, r := range runs[1:] {
		*pairs[i][0], *pairs[i][1] = r.First, r.Last
	}
	return h
}

// The gaps of a report are what the receiver does not have, up to the end of
// the last segment reported, also where the PSNs wrap.
func TestGapsAreWhatIsMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := psn.PSN(rapid.OneOf(rapid.Uint32Range(0, psn.Mask), rapid.Uint32Range(psn.Mask-30, psn.Mask)).Draw(t, "start"))
		has := append([]bool{true}, rapid.SliceOfN(rapid.Bool(), 0, 30).Draw(t, "has")...)
		h := report(start, has)
		if err := h.Validate(); err != nil {
			t.Fatalf("%+v: %v", h, err)
		}
		var want []psn.PSN
		var missing []psn.PSN
		segments := 1
		for d := 1; d < len(has) && segments <= 4; d++ {
			switch {
			case !has[d]:
				missing = append(missing, start.Add(d))
			case !has[d-1]: // a segment begins
				if segments++; segments <= 4 {
					want, missing = append(want, missing...), nil
				}
			}
		}
		var got []psn.PSN
		before := psn.Range{First: 7, Last: 7}
		gaps := h.Gaps([]psn.Range{before})
		if gaps[0] != before {
			t.Fatal("what was in the slice is gone")
		}
		for _, g := range gaps[1:] {
			for i := range g.Len() {
				got = append(got, g.First.Add(i))
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v misses %v, want %v", h, got, want)
		}
	})
}

func TestReportsThatMakeNoSense(t *testing.T) {
	seg := func(n uint32, last psn.PSN, ends ...psn.PSN) TCAETH {
		h := TCAETH{SegmentNum: n, LastFinishedPSN: last}
		for i, p := range []*psn.PSN{&h.Seg1Left, &h.Seg1Right, &h.Seg2Left, &h.Seg2Right, &h.Seg3Left, &h.Seg3Right} {
			if i < len(ends) {
				*p = ends[i]
			}
		}
		return h
	}
	for _, tc := range []struct {
		what string
		h    TCAETH
		err  error
		gaps []psn.Range
	}{
		{"SegmentNum 0", seg(0, 103, 105, 111), ErrSegmentNum, nil},
		{"SegmentNum 5", seg(5, 103, 105, 107, 109, 109, 111, 111), ErrSegmentNum, nil},
		{"SegmentNum 0xffffff", seg(0xffffff, 103, 105, 111), ErrSegmentNum, nil},
		{"out of order", seg(3, 103, 109, 111, 105, 107), ErrSegmentOrder, nil},
		{"overlapping", seg(3, 103, 105, 109, 108, 111), ErrSegmentOrder, nil},
		{"Left after Right", seg(2, 103, 111, 105), ErrSegmentOrder, nil},
		{"behind LastFinishedPSN", seg(3, 103, 101, 102, 105, 111), ErrSegmentOrder, nil},
		{"on LastFinishedPSN", seg(2, 103, 103, 111), ErrSegmentOrder, nil},
		{"more than 2^23 apart", seg(3, 103, 105, 111, 8388720, 8388730), ErrSegmentOrder, nil},
		{"third segment inside the second", seg(4, 103, 105, 106, 108, 109, 107, 111), ErrSegmentOrder, nil},
		{"valid at last", seg(2, 103, 105, 111), nil, []psn.Range{{First: 104, Last: 104}}},
		{"touching", seg(2, 103, 104, 111), nil, nil},
		{"touching behind a segment", seg(3, 103, 105, 106, 107, 111), nil, []psn.Range{{First: 104, Last: 104}}},
		{"segments that do not count", seg(1, 103, 9, 8, 7, 6, 5, 4), nil, nil},
		{"across the wrap", seg(2, 0xfffffe, 1, 2), nil, []psn.Range{{First: 0xffffff, Last: 0}}},
		{"the draft's example", seg(3, 199, 300, 399, 500, 599), nil, []psn.Range{{First: 200, Last: 299}, {First: 400, Last: 499}}},
	} {
		if err := tc.h.Validate(); !errors.Is(err, tc.err) {
			t.Errorf("%s: %v, want %v", tc.what, err, tc.err)
		}
		if got := tc.h.Gaps(nil); !slices.Equal(got, tc.gaps) {
			t.Errorf("%s: gaps %v, want %v", tc.what, got, tc.gaps)
		}
	}
}
