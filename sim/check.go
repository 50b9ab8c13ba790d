package sim

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// Check finds what makes no sense in a scenario. The error is a *Fault.
func (s *Scenario) Check() error {
	if f := s.check(); f != nil {
		return f
	}
	return nil
}

// check is Check. Order matters only in that the first fault is reported.
func (s *Scenario) check() *Fault {
	c := checker{}
	c.want(!s.Start.Before(time.Unix(0, 0)) && s.Start.Before(lastStart), "start", "%s: want a time from 1970 to 2261", s.Start.Format(time.RFC3339))
	c.pairs(&s.Pairs)
	c.work(s)
	c.network(s)
	c.hosts(s)
	s.Transport.check(&c, s.Carrier)
	of := s.Fault.of()
	c.want(of == "" || of == s.Transport.Name, "fault", "%s is for %s, not for %s", s.Fault, of, s.Transport.Name)
	return c.first
}

// lastStart is behind the last start of a run: nanoseconds since 1970 fit in 63
// bits until 2262.
var lastStart = time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC)

// checker keeps the first fault.
type checker struct{ first *Fault }

// want reports a fault unless ok.
func (c *checker) want(ok bool, key, format string, args ...any) {
	if !ok && c.first == nil {
		c.first = fault(key, format, args...)
	}
}

// within wants a number from least to most.
func (c *checker) within(v, least, most int64, key string) {
	c.want(least <= v && v <= most, key, "%d: want %d to %d", v, least, most)
}

func (c *checker) pairs(p *Pairs) {
	c.within(int64(p.Count), 1, 1<<20, "pairs.count")
	c.want(slices.Contains([]int{256, 512, 1024, 2048, 4096}, p.MTU), "pairs.mtu", "%d: want 256, 512, 1024, 2048 or 4096", p.MTU)
	if p.StartPSN != nil {
		c.within(int64(*p.StartPSN), 0, psn.Mask, "pairs.start-psn")
	}
	c.within(int64(p.SenderQPN), 2, psn.Mask-int64(p.Count), "pairs.sender-qpn")
	c.within(int64(p.ReceiverQPN), 2, psn.Mask-int64(p.Count), "pairs.receiver-qpn")
	c.within(int64(p.AckTimeout), 0, 31, "pairs.ack-timeout")
	c.within(int64(p.RetryCount), 0, 7, "pairs.retry-count")
	c.within(int64(p.RNRRetryCount), 0, 7, "pairs.rnr-retry-count")
	c.within(int64(p.ReadLimit), 1, 255, "pairs.read-limit")
	c.within(int64(p.Depth), 1, 1<<20, "pairs.depth")
}

func (c *checker) work(s *Scenario) {
	c.want(len(s.Work) > 0, "work", "want at least one kind of work")
	for i, w := range s.Work {
		key := fmt.Sprintf("work[%d]", i)
		c.within(w.Size.Min, 0, transport.MaxLength, key+".size")
		c.within(w.Size.Max, 0, transport.MaxLength, key+".size")
		c.within(int64(w.Count), 0, math.MaxInt64, key+".count")
	}
	c.within(int64(s.Receives.Posted), 0, math.MaxInt64, "receives.posted")
	c.want(s.Receives.Posted == 0 || s.Receives.Every > 0, "receives.every", "want how long it takes until another receive is posted")
}

func (c *checker) network(s *Scenario) {
	c.want(len(s.Links) == 0 || len(s.Paths) == 0, "paths", "want links or paths, not both")
	names := map[string]bool{"sender": true, "receiver": true}
	links := func(all []Link, key string) {
		for i := range all {
			l, key := &all[i], fmt.Sprintf("%s[%d]", key, i)
			c.want(l.Name != "", key+".name", "want a name")
			c.want(l.Name != "." && l.Name != ".." && !strings.ContainsAny(l.Name, "/\\\x00"), key+".name", "%q cannot be part of a file's name", l.Name)
			c.want(!names[l.Name], key+".name", "%q is the name of something else", l.Name)
			names[l.Name] = true
			c.link(l, key)
		}
	}
	links(s.Links, "links")
	if s.Paths == nil {
		c.want(len(s.Links) > 0, "links", "want at least one link")
	}
	for i, p := range s.Paths {
		key := fmt.Sprintf("paths[%d]", i)
		c.within(int64(p.Count), 0, 256, key+".count")
		c.want(len(p.Links) > 0, key+".links", "want at least one link")
		links(p.Links, key+".links")
	}
	for i, tap := range s.Taps {
		c.want(names[string(tap)], fmt.Sprintf("taps[%d]", i), "%q: want %s", tap, list(s.Points()))
	}
}

// Points are the capture points there are.
func (s *Scenario) Points() []Tap {
	all := []Tap{"sender", "receiver"}
	for _, p := range s.paths() {
		for _, l := range p.Links {
			all = append(all, Tap(l.Name))
		}
	}
	return all
}

// paths are the paths, however they were given.
func (s *Scenario) paths() []Path {
	if len(s.Paths) > 0 {
		return s.Paths
	}
	return []Path{{Links: s.Links}}
}

func (c *checker) link(l *Link, key string) {
	c.want(l.Queue == Fixed(l.Queue.Max), key+".queue", "want one size, not a range")
	c.want(l.Mark == Fixed(l.Mark.Max), key+".mark", "want one size, not a range")
	c.want(l.Rate > 0 || l.Queue.Max == 0, key+".queue", "a link without a rate has no queue")
	c.want(l.Rate > 0 || l.Mark.Max == 0, key+".mark", "a link without a rate has no queue")
	c.want(l.Rate >= 0 && l.Rate <= 1e15, key+".rate", "%v is no rate", float64(l.Rate))
	c.direction(&l.There, key+".there")
	c.direction(&l.Back, key+".back")
}

func (c *checker) direction(d *Direction, key string) {
	for _, picks := range []struct {
		name string
		all  []Pick
	}{{"loss", d.Loss}, {"damage", d.Damage}, {"duplicate", d.Duplicate}, {"mark", d.Mark}} {
		for i := range picks.all {
			c.pick(&picks.all[i], fmt.Sprintf("%s.%s[%d]", key, picks.name, i))
		}
	}
	for i := range d.Reorder {
		key := fmt.Sprintf("%s.reorder[%d]", key, i)
		c.pick(&d.Reorder[i].Pick, key)
		c.want(d.Reorder[i].By > 0, key+".by", "want how long the packets are held back")
	}
}

func (c *checker) pick(p *Pick, key string) {
	probability := func(v float64, name string) {
		c.want(v >= 0 && v <= 1, key+"."+name, "%v: want a probability from 0 to 1", v)
	}
	c.within(int64(p.QP), 0, 1<<20, key+".qp")
	switch p.Model {
	case "", Bernoulli:
		probability(p.P, "p")
		c.want(p.P > 0, key+".p", "want a probability from 0 to 1, or another model: %s", list([]Model{GilbertElliott, Nth, Burst, ByPSN, Outage}))
	case GilbertElliott:
		probability(p.GoodToBad, "good-to-bad")
		probability(p.BadToGood, "bad-to-good")
		probability(p.InGood, "in-good")
		if p.InBad != nil {
			probability(*p.InBad, "in-bad")
		}
	case Nth:
		c.want(len(p.N) > 0 && slices.Min(p.N) > 0, key+".n", "want numbers of packets, counted from 1")
	case Burst:
		c.within(p.First, 1, math.MaxInt64, key+".first")
		c.within(p.Count, 1, math.MaxInt64, key+".count")
		c.want(p.Every == 0 || p.Every > p.Count, key+".every", "%d: want more than count, which is %d", p.Every, p.Count)
	case ByPSN:
		c.want(len(p.PSN) > 0, key+".psn", "want PSNs, each with the copy that is meant")
		for i, v := range p.PSN {
			c.within(int64(v.PSN), 0, psn.Mask, fmt.Sprintf("%s.psn[%d].psn", key, i))
			c.within(int64(v.Copy), 0, math.MaxUint16, fmt.Sprintf("%s.psn[%d].copy", key, i))
		}
	case Outage:
		c.want(p.Until > p.From, key+".until", "want a time after from")
	default:
		c.want(false, key+".model", "%q: want %s", p.Model, list([]Model{Bernoulli, GilbertElliott, Nth, Burst, ByPSN, Outage}))
	}
}

func (c *checker) hosts(s *Scenario) {
	c.within(int64(s.DSCP), 0, 63, "dscp")
	for _, h := range []struct {
		*Host
		key string
	}{{&s.Sender, "sender"}, {&s.Receiver, "receiver"}} {
		c.want(h.Rate > 0 && h.Rate <= 1e15, h.key+".rate", "want a rate such as 40Gb/s")
	}
	if _, err := s.framer(&s.Sender, &s.Receiver); err != nil {
		c.want(false, "carrier", "%v", err)
	}
}
