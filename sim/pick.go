package sim

import (
	"math/rand/v2"
	"slices"

	"github.com/rdmadump/rdmadump/transport"
)

// picker is a Pick at work.
type picker struct {
	*Pick
	random *rand.Rand
	seen   int64  // packets that it has looked at
	bad    bool   // the state of Gilbert and Elliott
	hit    []bool // of ByPSN: those of PSN that were chosen
}

// chosen reports whether the pick chooses a packet that passes at the moment.
func (p *picker) chosen(f *flight, at transport.Time) bool {
	if !p.looksAt(f) {
		return false
	}
	p.seen++
	switch p.Model {
	case GilbertElliott:
		return p.gilbertElliott()
	case Nth:
		return slices.Contains(p.N, p.seen)
	case Burst:
		n := p.seen - p.First
		if p.Every > 0 && n >= 0 {
			n %= p.Every
		}
		return 0 <= n && n < p.Count
	case ByPSN:
		for i, c := range p.PSN {
			if c.PSN == f.packet.BTH.PSN && (c.Copy == 0 || c.Copy == f.copy) {
				p.hit[i] = true
				return true
			}
		}
		return false
	case Outage:
		return p.From <= at && at < p.Until
	}
	return p.random.Float64() < p.P
}

func (p *picker) looksAt(f *flight) bool {
	if p.QP > 0 && (f.pair == nil || f.pair.number != p.QP-1) {
		return false
	}
	switch p.Only {
	case OnlyData:
		return f.kind == request || f.kind == response
	case OnlyRequests:
		return f.kind == request
	case OnlyResponses:
		return f.kind == response
	case OnlyAcks:
		return f.kind == ack
	}
	return true
}

// gilbertElliott changes state first and then chooses by the state that it is in
// (Gilbert 1960, Elliott 1963).
func (p *picker) gilbertElliott() bool {
	change, choose := p.GoodToBad, p.InGood
	if p.bad {
		change = p.BadToGood
	}
	if p.random.Float64() < change {
		p.bad = !p.bad
	}
	if p.bad {
		choose = 1
		if p.InBad != nil {
			choose = *p.InBad
		}
	}
	return p.random.Float64() < choose
}

func pickers(s *Scenario, picks []Pick, purpose string) []picker {
	all := make([]picker, len(picks))
	for i := range picks {
		all[i] = picker{Pick: &picks[i], hit: make([]bool, len(picks[i].PSN)), random: s.random(purpose + string(rune('0'+i)))}
	}
	return all
}

// missed are the copies that no pick has met, nor another that means the same.
func missed(all []*picker) (none []Copy) {
	met := map[Copy]bool{}
	for _, p := range all {
		for i, hit := range p.hit {
			met[p.PSN[i]] = met[p.PSN[i]] || hit
		}
	}
	for _, p := range all {
		for _, c := range p.PSN {
			if hit, listed := met[c]; listed && !hit {
				none = append(none, c)
				delete(met, c)
			}
		}
	}
	return none
}

// any reports whether one of the picks chooses the packet. All are asked, so
// that none depends on the others.
func anyOf(all []picker, f *flight, at transport.Time) bool {
	chosen := false
	for i := range all {
		chosen = all[i].chosen(f, at) || chosen
	}
	return chosen
}
