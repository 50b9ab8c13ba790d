package transport

import (
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"pgregory.net/rapid"
)

// Replies leave in the order of their PSNs, READ responses in full, however
// duplicates come in between; a reply goes back only where a duplicate asked, and
// not in the middle of another READ.
func TestRepliesInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		qp := QP{MTU: 256, ReadLimit: 4}
		r := NewReplies(&qp)
		type request struct {
			at      psn.Seq
			packets int
			atomic  bool
		}
		var asked []request
		next, last := psn.Seq(0xfffff0), psn.Seq(0)
		const nothing = psn.Seq(1 << 40)
		back, open := nothing, false // where duplicates asked to go back to; inside the responses to a READ
		owed := map[psn.Seq]int{}    // READ responses and atomic answers that must come
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0: // a READ or an atomic
				if r.Full() {
					break
				}
				q := request{next, rapid.IntRange(1, 4).Draw(t, "packets"), rapid.Bool().Draw(t, "atomic")}
				if q.atomic {
					q.packets = 1
					r.Atomic(q.at, 0, 0, false)
				} else {
					r.Read(q.at, &codec.RETH{DMALen: uint32(256 * q.packets)}, 0, false)
				}
				for i := range q.packets {
					owed[q.at+psn.Seq(i)]++
				}
				asked = append(asked, q)
				next += psn.Seq(q.packets)
			case 1: // a WRITE that asks for an acknowledgement
				next++
				r.ACK(next-1, 0)
			case 2: // one of the requests again, from its middle
				if len(asked) == 0 {
					break
				}
				q := asked[rapid.IntRange(max(0, len(asked)-4), len(asked)-1).Draw(t, "again")]
				if q.atomic {
					r.Atomic(q.at, 0, 0, true)
				} else {
					i := rapid.IntRange(0, q.packets-1).Draw(t, "from")
					if last >= q.at+psn.Seq(i) && last < q.at+psn.Seq(q.packets) {
						open = false // it begins anew, in its turn
					}
					r.Read(q.at+psn.Seq(i), &codec.RETH{DMALen: uint32(256 * (q.packets - i))}, 0, true)
				}
				back = min(back, q.at)
			case 3: // a duplicate WRITE
				r.ACK(next-1, 0)
			default:
				if !r.Pending() {
					break
				}
				var p Packet
				r.Next(&p)
				at := psn.Unwrap(next, p.BTH.PSN)
				response := p.BTH.Opcode.Verb() == codec.VerbReadResponse
				if open {
					if !response || at != last+1 {
						t.Fatalf("%s %d inside the responses to a READ, after %d", p.BTH.Opcode, at, last)
					}
				} else {
					if at < min(last, back) {
						t.Fatalf("%s %d after %d", p.BTH.Opcode, at, last)
					}
					back = nothing
				}
				last, open = at, response && !p.BTH.Opcode.Ends()
				if p.BTH.Opcode.Verb() == codec.VerbAck {
					for s, n := range owed {
						if n > 0 && s <= at {
							t.Fatalf("acknowledged %d while the answer to %d is owed", at, s)
						}
					}
				} else if owed[at] > 0 {
					owed[at]--
				}
			}
			if n := len(r.queue); n > 4*4+2 {
				t.Fatalf("%d replies wait", n)
			}
		}
		for r.Pending() {
			var p Packet
			r.Next(&p)
			if p.BTH.Opcode.Verb() != codec.VerbAck {
				delete(owed, psn.Unwrap(next, p.BTH.PSN))
			}
		}
		for s, n := range owed {
			if n > 0 {
				t.Fatalf("%d was not answered", s)
			}
		}
	})
}

// A NAK that was not sent is taken back when what it asks for comes.
func TestRelent(t *testing.T) {
	r := NewReplies(&QP{MTU: 256})
	r.ACK(4, 1)
	r.NAK(5, codec.SyndromePSNSequenceError, 1)
	r.Relent()
	var p Packet
	r.Next(&p)
	if p.BTH.PSN != 4 || p.AETH.Syndrome != codec.SyndromeACK || r.Pending() {
		t.Errorf("%d %s, pending %v", p.BTH.PSN, p.AETH.Syndrome, r.Pending())
	}
}

// A READ that is asked for again while its responses go out starts over at the
// first that is missing, and there only.
func TestReadGoesBack(t *testing.T) {
	r := NewReplies(&QP{MTU: 256})
	r.Read(10, &codec.RETH{DMALen: 1000}, 1, false)
	next := func() (psn.PSN, codec.Operation) {
		var p Packet
		r.Next(&p)
		return p.BTH.PSN, p.BTH.Opcode.Operation()
	}
	want := func(at psn.PSN, op codec.Operation) {
		t.Helper()
		if gotAt, gotOp := next(); gotAt != at || gotOp != op {
			t.Errorf("response %d, operation %d; want %d, %d", gotAt, gotOp, at, op)
		}
	}
	want(10, codec.ReadResponseFirst)
	want(11, codec.ReadResponseMiddle)
	r.Read(13, &codec.RETH{DMALen: 1000 - 3*256}, 1, true) // which is still to come
	want(12, codec.ReadResponseMiddle)
	r.Read(11, &codec.RETH{DMALen: 1000 - 256}, 1, true)
	want(11, codec.ReadResponseFirst)
	want(12, codec.ReadResponseMiddle)
	want(13, codec.ReadResponseLast)
	if r.Pending() || r.unsent != 0 || r.again != 0 {
		t.Errorf("pending %v, %d and %d counted", r.Pending(), r.unsent, r.again)
	}
}
