package dissect

import "github.com/rdmadump/rdmadump/codec"

// tally counts packets for totals that leave some connections out.
type tally struct {
	packets, datagrams, cnps, marked int64
}

func (t *tally) add(o tally) {
	t.packets += o.packets
	t.datagrams += o.datagrams
	t.cnps += o.cnps
	t.marked += o.marked
}

// total has totals count this.
func (t *tally) total(all *Totals) {
	all.Packets, all.Datagrams, all.CNPs, all.CEMarked = t.packets, t.datagrams, t.cnps, t.marked
}

// tallies count packets that no half takes, where queue pairs are selected: CNPs,
// datagrams, and what does not make a half. Of some it is known only at the end
// whether they belong to a selected connection.
type tallies struct {
	named  tally             // packets that name a selected queue pair
	others map[halfKey]tally // by the end that they are about
}

// maxTallies bounds the ends of which packets are counted. Packets about others
// are missing in the totals.
const maxTallies = 1 << 16

// aside counts a packet that no half takes.
func (t *tallies) aside(s *Selection, p *Packet, bth *codec.BTH) {
	one := tally{packets: 1}
	if p.Traffic&ECNMask == ECNCE {
		one.marked = 1
	}
	switch {
	case bth.Opcode == codec.OpcodeCNP:
		one.cnps = 1
	case bth.Opcode.Service() == codec.UD:
		one.datagrams = 1
	}
	if s.TakesQPNs(p) && s.TakesPacket(p) {
		t.named.add(one)
		return
	}
	about := halfKey{src: p.Src, dst: p.Dst, qpn: bth.DestQP}
	if _, ok := sourceQP(p.Transport()); ok && bth.DestQP == 1 {
		if managed, ok := managedEnd(p); ok {
			about = managed
		}
	}
	old, known := t.others[about]
	if !known && len(t.others) >= maxTallies {
		return
	}
	if t.others == nil {
		t.others = map[halfKey]tally{}
	}
	old.add(one)
	t.others[about] = old
}

// narrow limits totals to the connections of the report, which kept counts, and
// the packets beside them.
func (t *tallies) narrow(r *Report, s *Selection, kept tally) {
	pairs := Selection{QPNs: s.QPNs}
	pairs.Learn(r)
	kept.add(t.named)
	for about, n := range t.others {
		if pairs.end(about.src, about.dst, about.qpn) {
			kept.add(n)
		}
	}
	kept.total(&r.Totals)
}
