package dissect

import (
	"slices"

	"github.com/rdmadump/rdmadump/psn"
)

// MP-RDMA acknowledges each packet that arrives, and says whether it was one sent
// again. A NACK of a full ring names what its head waits for, which may be under
// way over a slow path; so what is taken for lost on its word is taken back when
// an acknowledgement tells of a copy that can be no other.

// heardOf follows the acknowledgement of one packet, before anything else that
// the acknowledgement says.
func (s *stream) heardOf(seq psn.Seq, in *arrival) {
	d := s.d
	if !d.lostPSNs.Contains(seq) || d.unseen.Contains(seq) {
		return
	}
	at := psn.Span{First: seq, Last: seq}
	switch {
	case in.mp.ReTxEcho:
		if b := d.picks.book(seq); b != nil && b.lost > b.sent-b.back {
			b.lost--
			s.cameLate(at, in)
		}
	case d.holes.Contains(seq):
		s.late(at, in.sight())
		d.reordered++
	default:
		if s.cameLate(at, in) {
			d.reordered++
		}
		if seq >= s.acked && !d.picks.has.Contains(seq) {
			s.neededNot(seq)
		}
	}
}

// cameLate takes back that one copy of a packet was lost, of which others came
// since. It reports whether no other copy was lost.
func (s *stream) cameLate(at psn.Span, in *arrival) bool {
	d := s.d
	s.wasLate(answer{span: at, came: []psn.Span{at}, lost: 1, at: in.sight()})
	if !d.lostPSNs.Contains(at.First) {
		return true
	}
	if d.vouchedPSNs.Contains(at.First) {
		d.vouched-- // neverLost does it for the last copy
	}
	return false
}

// book counts the copies of a packet that was sent again or refused.
type book struct {
	seq  psn.Seq
	sent int
	back int // how many of these were acknowledged or refused, so that they had arrived
	lost int // how many were taken for lost on the word of a NACK
}

// book is that of a packet, nil if it has none.
func (p *picks) book(seq psn.Seq) *book {
	if i, ok := p.findBook(seq); ok {
		return &p.books[i]
	}
	return nil
}

func (p *picks) findBook(seq psn.Seq) (int, bool) {
	return slices.BinarySearchFunc(p.books, seq, func(b book, seq psn.Seq) int { return int(b.seq - seq) })
}

// openBook is the book of a packet, a new one if it has none. The lowest gives way.
func (p *picks) openBook(seq psn.Seq) *book {
	i, ok := p.findBook(seq)
	if !ok {
		if len(p.books) >= maxRepairs {
			p.books = slices.Delete(p.books, 0, maxRepairs/2)
			i = max(0, i-maxRepairs/2)
		}
		p.books = slices.Insert(p.books, i, book{seq: seq, sent: 1})
	}
	return &p.books[i]
}

// neededNot says of a packet that was sent again, and taken for needed, that the
// first copy came before the second.
func (s *stream) neededNot(seq psn.Seq) {
	p := &s.d.picks
	i := slices.IndexFunc(p.repairs, func(r repair) bool { return r.seq == seq && r.needed })
	if i >= 0 {
		p.repairs[i].needed = false
		s.d.resent.judgeAgain(1, isNeeded, isRedundant)
	}
}
