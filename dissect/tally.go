package dissect

import "github.com/rdmadump/rdmadump/codec"

// tally counts what totals say of packets that belong to no stream as well, for
// reports that leave some connections out.
type tally struct {
	packets, datagrams, cnps, marked int64
}

func (t *tally) add(o tally) {
	t.packets += o.packets
	t.datagrams += o.datagrams
	t.cnps += o.cnps
	t.marked += o.marked
}

// tallyAside counts a packet of no half where the selected QPNs want it: a
// datagram from or to one of them, a CNP to one of them or to the other end of
// its connection.
func (a *Analyzer) tallyAside(p *Packet, bth *codec.BTH, key *halfKey, hash uint32) {
	one := tally{packets: 1}
	if p.Traffic&ECNMask == ECNCE {
		one.marked = 1
	}
	if bth.Opcode == codec.OpcodeCNP {
		one.cnps = 1
		if h := a.table.find(key, hash); h != nil {
			h.tally.add(one)
			return
		}
	}
	if bth.Opcode.Service() == codec.UD {
		one.datagrams = 1
	}
	if a.config.Selection.names(p) {
		a.asides.add(one)
	}
}

// narrow limits totals to the connections that the selected QPNs are ends of.
// Which these are is known at the end only, for a packet names one end alone.
func (a *Analyzer) narrow(t *Totals, kept tally) {
	kept.add(a.asides)
	t.Packets, t.Datagrams, t.CNPs, t.CEMarked = kept.packets, kept.datagrams, kept.cnps, kept.marked
}

// byQPN reports whether connections are left out.
func (a *Analyzer) byQPN() bool { return a.config.Selection != nil && len(a.config.Selection.QPNs) > 0 }
