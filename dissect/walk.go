package dissect

import "github.com/rdmadump/rdmadump/codec"

// walk is the way through the headers of one frame, from the outside in. Each
// header moves it on and names the next one.
type walk struct {
	locator *Locator
	p       *Packet
	data    []byte // the frame, up to where the headers passed say that they end
	off     int    // where the next header begins, never behind len(data)
	end     int    // where the innermost header says that it ends on the wire; a cut frame is shorter
	bounded bool   // end is what a header says, not the frame
	ip      int    // where the innermost IP header begins
	carrier codec.Carrier
	depth   int // of p.Tunnels
}

// step is the header that comes next, or how the walk ended.
type step uint8

const (
	stepNone step = iota // nothing that leads to RDMA
	stepFound
	stepCut
	stepFragment

	stepEthernet
	stepVLAN
	stepLinuxSLL
	stepLinuxSLL2
	stepNull
	stepLoop
	stepERF
	stepLRH
	stepRoCEv1
	stepIP // either version
	stepIPv4
	stepIPv6
	stepIPv6Extension
	stepIPv6Fragment
	stepAH
	stepUDP
	stepVXLAN
	stepGENEVE
	stepGRE
	stepERSPAN2
	stepERSPAN3
	stepMPLS
	stepMACControl
)

// firstSteps are the headers that frames begin with.
var firstSteps = [...]step{
	LinkNull:       stepNull,
	LinkEthernet:   stepEthernet,
	LinkRaw:        stepIP,
	LinkLoop:       stepLoop,
	LinkLinuxSLL:   stepLinuxSLL,
	LinkERF:        stepERF,
	LinkIPv4:       stepIPv4,
	LinkIPv6:       stepIPv6,
	LinkInfiniBand: stepLRH,
	LinkLinuxSLL2:  stepLinuxSLL2,
}

// follow goes through the headers one by one. It ends, since every header moves
// on by at least its own length.
func (l *Locator) follow(f *Frame, p *Packet) Outcome {
	*p = Packet{Number: f.Number, File: f.File, Time: f.Time, Cut: len(f.Data) < f.WireLen}
	w := walk{locator: l, p: p, data: f.Data, end: max(f.WireLen, len(f.Data))}
	next := stepNone
	if int(f.Link) < len(firstSteps) {
		next = firstSteps[f.Link]
	}
	for {
		switch next {
		case stepEthernet:
			next = w.ethernet()
		case stepVLAN:
			next = w.vlan()
		case stepLinuxSLL:
			next = w.linuxSLL()
		case stepLinuxSLL2:
			next = w.linuxSLL2()
		case stepNull:
			next = w.null()
		case stepLoop:
			next = w.loop()
		case stepERF:
			next = w.erf()
		case stepLRH:
			next = w.lrh()
		case stepRoCEv1:
			next = w.rocev1()
		case stepIP:
			next = w.ipVersion()
		case stepIPv4:
			next = w.ipv4()
		case stepIPv6:
			next = w.ipv6()
		case stepIPv6Extension:
			next = w.ipv6Extension()
		case stepIPv6Fragment:
			next = w.ipv6Fragment()
		case stepAH:
			next = w.ah()
		case stepUDP:
			next = w.udp()
		case stepVXLAN:
			next = w.vxlan()
		case stepGENEVE:
			next = w.geneve()
		case stepGRE:
			next = w.gre()
		case stepERSPAN2:
			next = w.erspan2()
		case stepERSPAN3:
			next = w.erspan3()
		case stepMPLS:
			next = w.mpls()
		case stepFound:
			p.Trailer = f.Data[len(w.data):]
			return Found
		case stepCut:
			p.Trailer = f.Data[len(w.data):]
			return Cut
		default:
			*p = Packet{Number: f.Number, File: f.File, Time: f.Time}
			switch next {
			case stepMACControl:
				p.Covered = w.rest()
				return Pause
			case stepFragment:
				return Fragment
			}
			return NotRDMA
		}
	}
}

// rest is what was captured from the next header on.
func (w *walk) rest() []byte { return w.data[w.off:] }

// bound says where what follows ends on the wire. What was captured behind it
// is none of it: padding, or a checksum of the link. Where a header around it
// ends before, a mirror has cut the frame and then put that header around it.
func (w *walk) bound(end int) {
	if w.bounded && end > w.end {
		w.p.Cut = true
	}
	w.end, w.bounded = end, true
	if end < len(w.data) {
		w.data = w.data[:end]
	}
}

// sum notes that a checksum of 16 bits over all that follows is at off.
func (w *walk) sum(off int) {
	if s := w.locator.sums; s != nil {
		*s = append(*s, off)
	}
}

// enter goes into a tunnel whose contents begin with the header next.
func (w *walk) enter(t Tunnel, next step) step {
	if next == stepNone || w.depth == len(w.p.Tunnels) {
		return stepNone
	}
	w.p.Tunnels[w.depth] = t
	w.depth++
	w.p.VLAN = 0 // a tag outside tells nothing of the network inside
	return next
}

// transport ends the walk at a BTH. start is where the ICRC's coverage begins.
func (w *walk) transport(carrier codec.Carrier, start int) step {
	if w.end-w.off < 12 {
		return stepNone
	}
	p := w.p
	p.Carrier = carrier
	p.Link, p.Covered = w.data[:start], w.data[start:]
	p.BTH, p.WireLen = w.off-start, w.end-w.off
	if len(w.data)-w.off < 12 {
		return stepCut
	}
	return stepFound
}
