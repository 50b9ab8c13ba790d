package sim

import (
	"slices"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/transport"
)

// found reports whether a stream has a finding of the kind.
func found(r *dissect.Report, kind string) bool {
	for _, c := range r.Connections {
		for _, s := range c.Streams {
			if slices.ContainsFunc(s.Findings, func(f dissect.Finding) bool { return f.Kind == kind }) {
				return true
			}
		}
	}
	return false
}

// A requester that gives up and then disconnects has given up, and one that
// disconnects because it is done has not, whatever it lost on the way. Behind the
// losses retries may be missing, and a READ is repeated in pieces: there silence is
// allowed, and a false word never.
func TestExhaustedIsToldBeforeADisconnect(t *testing.T) {
	exhausted := 0
	check := func(t *testing.T, name string, s *Scenario) {
		s.Handshake = true
		r := play(t, s, "sender", "receiver")
		for _, at := range []Tap{"sender", "receiver"} {
			report := analyze(r.frames[at])
			for status, kind := range map[transport.Status]string{transport.RetryExceeded: "retry-exhausted", transport.RNRExceeded: "rnr-retry-exhausted"} {
				want := r.Ended[status] > 0
				if want {
					exhausted++
				}
				if got := found(report, kind); got != want && (got || at == "sender" && name != "gbn-read-loss") {
					t.Errorf("%s seed %d retries %d, %s: %s is %v, want %v", name, s.Seed, s.Pairs.RetryCount, at, kind, got, want)
				}
			}
		}
	}
	for name, s := range library(t) {
		check(t, name, s)
	}
	for _, name := range []string{"gbn-one-loss", "gbn-ack-loss", "gbn-read-loss", "ack-loss", "rnr", "rnr-exhausted"} {
		for seed := range uint64(12) {
			s := library(t)[name]
			s.Seed = seed
			s.Pairs.RetryCount = 1 + int(seed%3)
			for i := range s.Links {
				s.Links[i].There.Loss = []Pick{{Model: Bernoulli, P: 0.3}}
				s.Links[i].Back.Loss = []Pick{{Model: Bernoulli, P: 0.1}}
			}
			check(t, name, s)
		}
	}
	if exhausted < 10 {
		t.Errorf("%d flows gave up", exhausted)
	}
}
