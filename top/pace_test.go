package top

import (
	"math"
	"testing"
	"time"
)

const second = int64(time.Second)

// Frames are due when the capture says, faster or slower, and as fast as they are
// read where the speed is max.
func TestPace(t *testing.T) {
	const first = 1_700_000_000 * second
	for _, c := range []struct {
		speed Speed
		want  time.Duration // until a frame 1000 s behind the first
	}{{1, 1000 * time.Second}, {4, 250 * time.Second}, {0.5, 2000 * time.Second}, {0, 0}} {
		p := NewPace(c.speed, nil)
		if wait := p.left(first); wait > 0 {
			t.Errorf("%v: the first waits %v", c.speed, wait)
		}
		if wait := p.left(first + 1000*second); wait > c.want || wait < c.want*9/10 {
			t.Errorf("%v: %v, want %v", c.speed, wait, c.want)
		}
	}
	p := NewPace(0, nil)
	p.Wait(first)
	p.Wait(first + 5*second)
	if p.Now() != first+5*second {
		t.Errorf("it is %d", p.Now())
	}
	if wait := NewPace(1e-9, nil); wait.left(1) > 0 || wait.left(math.MaxInt64) < time.Hour {
		t.Error("centuries are over")
	}
}

// A pause holds frames back, and what follows is later by as much.
func TestPacePause(t *testing.T) {
	p := NewPace(1, nil)
	p.Wait(1)
	p.Pause(true)
	p.paused = p.paused.Add(-1000 * time.Second) // as long as it has been
	p.began = p.began.Add(-1000 * time.Second)
	if p.left(2) < time.Minute || p.Now() != 1 {
		t.Errorf("it goes on in %v", p.left(2))
	}
	released := make(chan bool)
	go func() { p.Wait(2); close(released) }()
	p.Pause(false)
	<-released
	if wait := p.left(100 * second); wait < 50*time.Second {
		t.Errorf("the pause was caught up with: %v", wait)
	}
}

// What cannot be read as fast goes on from where it is.
func TestPaceFallsBehind(t *testing.T) {
	p := NewPace(1, nil)
	p.Wait(1)
	p.began = p.began.Add(-1000 * time.Second)
	p.Wait(second) // 999 s late
	if wait := p.left(101 * second); wait < 90*time.Second {
		t.Errorf("the next comes in %v", wait)
	}
}

// Nothing is held back once the view is closed.
func TestPaceQuit(t *testing.T) {
	quit := make(chan struct{})
	p := NewPace(1, quit)
	p.Wait(1)
	close(quit)
	p.Wait(math.MaxInt64 / 2)
}
