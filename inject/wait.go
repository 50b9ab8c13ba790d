package inject

import (
	"context"
	"time"
)

// A sleep may last this much longer than it should.
const lateness = 100 * time.Microsecond

// Wait waits for a moment, or until ctx is done, and reports whether the moment
// has come. What a sleep would overshoot is waited for by looking at the clock.
func Wait(ctx context.Context, moment time.Time) bool {
	if left := time.Until(moment); left > 2*lateness {
		timer := time.NewTimer(left - lateness)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
		}
	}
	for ctx.Err() == nil {
		if !time.Now().Before(moment) {
			return true
		}
	}
	return false
}
