package twopoint

import "testing"

// Silence moves a point's reach on, without frames that nobody captured.
func TestQuiet(t *testing.T) {
	c := NewComparer(Config{}, "a", "b")
	c.Quiet(0, 100) // before the first frame it says nothing
	c.Other(0, 200)
	c.Other(1, 210)
	c.Quiet(1, 5000)
	result := c.Comparison()
	for i, last := range []int64{200, 210} {
		if p := result.Captures[i]; p.Frames != 1 || int64(p.FirstTime) != last || int64(p.LastTime) != last {
			t.Errorf("%d: %d frames, first %v, last %v", i, p.Frames, p.FirstTime, p.LastTime)
		}
	}
	if r := c.pairs[0].reach; r[0].first != 200 || r[0].last != 200 || r[1].first != 210 || r[1].last != 5000 {
		t.Errorf("%+v", r)
	}
}
