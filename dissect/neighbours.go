package dissect

import (
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// neighbours is all halves between two addresses in one direction. Those whose
// requests have no partner yet are found by where their PSNs begin, so that many
// thousand queue pairs between two hosts do not cost a look at each for each.
type neighbours struct {
	all   []*half
	alone *[256][]*half // by the upper 8 bits of the first PSN; nil while they are few
}

// fewNeighbours is up to how many all of them are looked at.
const fewNeighbours = 16

// ends is the two addresses of a half, and its network.
type ends struct {
	src, dst Address
	network  uint32
}

func (h *half) ends() ends    { return h.key.ends() }
func (h *half) reverse() ends { return h.key.reverse() }

// settleIn adds a half.
func (n *neighbours) settleIn(h *half) {
	h.place = int32(len(n.all))
	n.all = append(n.all, h)
	h.among = n
	if n.alone == nil && len(n.all) > fewNeighbours {
		n.alone = new([256][]*half)
		for _, c := range n.all {
			c.list()
		}
	}
}

// leave takes a half out.
func (n *neighbours) leave(h *half) {
	last := n.all[len(n.all)-1]
	n.all[h.place], last.place = last, h.place
	n.all = n.all[:len(n.all)-1]
	h.unlist()
}

// list makes the requests of a half known to those that look for a partner.
func (h *half) list() {
	h.unlist()
	if h.partner != nil || h.promised != nil || !h.req.on || h.among == nil || h.among.alone == nil {
		return
	}
	bucket := &h.among.alone[uint32(h.req.first.PSN())>>16]
	h.bucket, h.spot = bucket, int32(len(*bucket))
	*bucket = append(*bucket, h)
}

func (h *half) unlist() {
	if h.bucket == nil {
		return
	}
	list := *h.bucket
	last := list[len(list)-1]
	list[h.spot], last.spot = last, h.spot
	list[len(list)-1] = nil
	*h.bucket = list[:len(list)-1]
	h.bucket = nil
}

// maxSuitors bounds how many halves may be thought of as the partner of one.
// Where more fit, nothing can be told yet.
const maxSuitors = 256

// maxStrangers bounds a search among all halves, by a half whose feedback fits
// none that began nearby.
const maxStrangers = 2048

// suiting appends to dst the halves whose requests the packet, feedback of h,
// may be about. ok is false where too many are.
func (n *neighbours) suiting(dst []suitor, h *half, in *arrival) (suitors []suitor, ok bool) {
	here := in.psn >> 16
	near := [3]psn.PSN{in.psn.Add(-1<<16) >> 16, here, in.psn.Add(backwardReach) >> 16}
	for i, bucket := range near {
		if n.alone == nil || i == 2 && bucket == here {
			continue
		}
		h.req.a.looks += int64(len(n.alone[bucket]))
		for _, c := range n.alone[bucket] {
			if !c.req.fits(in) || c.service != h.service || c == h {
				continue
			}
			if len(dst) == maxSuitors {
				return dst[:0], false
			}
			dst = append(dst, suitor{half: c})
		}
	}
	if len(dst) > 0 || len(n.all) > maxStrangers {
		return dst, true
	}
	h.req.a.looks += int64(len(n.all))
	for _, c := range n.all {
		if c != h && c.partner == nil && c.promised == nil && c.service == h.service && c.req.fits(in) {
			if len(dst) == maxSuitors {
				return dst[:0], false
			}
			dst = append(dst, suitor{half: c})
		}
	}
	return dst, true
}

// answeredBy is a half without a partner whose requests the packet is feedback
// on; nil if none of those looked at is.
func (a *Analyzer) answeredBy(n *neighbours, service codec.Service, in *arrival) *half {
	looked := 0
	defer func() { a.looks += int64(looked) }()
	search := func(halves []*half) *half {
		for _, c := range halves {
			if looked == maxSuitors {
				return nil
			}
			looked++
			if c.req.fits(in) && c.partner == nil && c.service == service {
				return c
			}
		}
		return nil
	}
	here := in.psn >> 16
	for _, bucket := range [2]psn.PSN{here, in.psn.Add(-1<<16) >> 16} {
		if n.alone == nil {
			break
		}
		if c := search(n.alone[bucket]); c != nil {
			return c
		}
	}
	return search(n.all)
}
