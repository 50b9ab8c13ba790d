package dissect

import (
	"github.com/rdmadump/rdmadump/psn"
)

// slowestAnswer is how many round trips a sender may think about a NAK, when no
// timer is known to tell its answer from a timeout.
const slowestAnswer = 256

// tooLate reports whether a resend comes too late to answer a NAK: it waited for
// the timer.
func (s *stream) tooLate(silence int64) bool {
	return s.keptTimer(silence) || s.rttMin > 0 && silence > slowestAnswer*s.rttMin
}

// keptTimer reports whether a silence is as long as the timer, where one is known.
func (s *stream) keptTimer(silence int64) bool {
	timer := s.half.timer()
	if timer == 0 {
		timer = s.d.timer
	}
	return timer > 0 && silence >= timer*3/4
}

// shortestTimer is how long a silence must be, in nanoseconds, to pass for the
// work of a timer that nobody stated. Without a round trip to compare with, less
// is only the pace of the packets.
const shortestTimer = 100_000

// timedOut reports whether a resend that nothing asked for is the work of a
// timer: it waited at least three quarters of the queue pair's timer, or, while
// that is not known, broke a silence. It also gives how long it waited, and the
// silence that may teach the timer, 0 where none does.
func (s *stream) timedOut(seq psn.Seq, at sight, silence int64) (yes bool, wait, idle int64) {
	d := s.d
	if wait = s.waited(seq, at.time, silence); wait <= 0 {
		return false, 0, 0
	}
	if timer := s.half.timer(); timer > 0 {
		return wait >= timer*3/4, wait, 0
	}
	if silence*2 >= wait && silence > max(4*s.rttMin, shortestTimer) {
		return true, wait, silence
	}
	return d.timer > 0 && wait >= d.timer*3/4, wait, 0
}

// timerFired counts a timeout at seq.
func (s *stream) timerFired(seq psn.Seq, at sight, wait, idle int64) {
	d := s.d
	d.times.timeout.add(wait)
	if idle > 0 && (d.timer == 0 || idle < d.timer) {
		d.timer = idle
	}
	s.tellAt(TimeoutSeen, seq, at)
	s.retry(seq, at)
	d.timeouts++
}

// waited is how long before now the last copy of seq passed, or of a packet
// before it whose time is known; at least the silence.
func (s *stream) waited(seq psn.Seq, now, silence int64) int64 {
	wait := silence
	for i := range s.marks {
		if m := &s.marks[i]; m.seq <= seq && m.time > 0 && uint8(i) < s.marked {
			wait = max(silence, now-m.time)
		}
	}
	if r := &s.d.run; r.id > 0 && r.proven && r.seen() == seq {
		wait = max(wait, now-r.began.time) // it began with the last copy
	}
	return wait
}

// lastActivity is when a packet of the stream or its feedback passed last.
func (s *stream) lastActivity() int64 {
	if p := s.half.partner; p != nil {
		return max(s.lastTime, p.fb.lastTime)
	}
	return s.lastTime
}
