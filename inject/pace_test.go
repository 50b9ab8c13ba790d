package inject

import (
	"context"
	"testing"
	"time"
)

func TestDue(t *testing.T) {
	frames := []struct {
		at    int64
		bytes int
	}{{5_000_000_000, 1000}, {5_000_000_300, 1000}, {5_000_000_200, 500}, {5_000_001_000, 100}}
	for name, c := range map[string]struct {
		pace Pace
		want []time.Duration // two rounds
	}{
		"times of the capture": {Pace{}, []time.Duration{0, 300, 300, 1000, 1000, 1300, 1300, 2000}},
		"8 bits a nanosecond":  {Pace{Rate: 8e9}, []time.Duration{0, 1000, 2000, 2500, 2600, 3600, 4600, 5100}},
		"a million a second":   {Pace{PPS: 1e6}, []time.Duration{0, 1000, 2000, 3000, 4000, 5000, 6000, 7000}},
		"top speed":            {Pace{TopSpeed: true}, make([]time.Duration, 8)},
	} {
		clock := NewClock(c.pace)
		for i, want := range c.want {
			if i == len(frames) {
				clock.Round()
			}
			f := frames[i%len(frames)]
			if got := clock.Due(f.at, f.bytes); got != want {
				t.Errorf("%s: frame %d is due at %v, want %v", name, i, got, want)
			}
		}
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	if !Wait(t.Context(), time.Now().Add(time.Millisecond)) {
		t.Error("the moment has not come")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if Wait(ctx, time.Now().Add(time.Hour)) || Wait(ctx, time.Now().Add(-time.Hour)) {
		t.Error("waited for a context that is done")
	}
}
