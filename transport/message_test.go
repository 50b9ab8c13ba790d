package transport

import (
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"pgregory.net/rapid"
)

// IBA 9.4.1 and 9.4.2: First, Middle, Last, or Only; RETH in the first, data in
// whole packets, ImmDt or IETH in the last.
func TestMessageInPackets(t *testing.T) {
	qp := QP{DestQP: 0x17, PKey: 0xffff, MTU: 256}
	for _, tc := range []struct {
		verb   Verb
		length uint32
		ops    []codec.Operation
	}{
		{Send, 0, []codec.Operation{codec.SendOnly}},
		{Send, 256, []codec.Operation{codec.SendOnly}},
		{Send, 257, []codec.Operation{codec.SendFirst, codec.SendLast}},
		{SendImm, 768, []codec.Operation{codec.SendFirst, codec.SendMiddle, codec.SendLastImm}},
		{SendImm, 1, []codec.Operation{codec.SendOnlyImm}},
		{SendInv, 300, []codec.Operation{codec.SendFirst, codec.SendLastInv}},
		{SendInv, 3, []codec.Operation{codec.SendOnlyInv}},
		{Write, 1023, []codec.Operation{codec.WriteFirst, codec.WriteMiddle, codec.WriteMiddle, codec.WriteLast}},
		{Write, 0, []codec.Operation{codec.WriteOnly}},
		{WriteImm, 512, []codec.Operation{codec.WriteFirst, codec.WriteLastImm}},
		{WriteImm, 5, []codec.Operation{codec.WriteOnlyImm}},
	} {
		w := WorkRequest{Verb: tc.verb, Remote: 0x1000, RKey: 9, Length: tc.length, Imm: 0xabcd}
		m := Message{WorkRequest: w, First: 0xffffff, Packets: w.Packets(qp.MTU)}
		if m.Packets != len(tc.ops) {
			t.Errorf("%s of %d bytes takes %d packets, want %d", tc.verb, tc.length, m.Packets, len(tc.ops))
			continue
		}
		rest := int(tc.length)
		for i, op := range tc.ops {
			var p Packet
			m.Fill(&p, &qp, i)
			n := min(rest, 256)
			rest -= n
			if p.BTH.Opcode != codec.Op(codec.RC, op) || p.PayloadLen != n || p.BTH.PSN != psn.New(0xffffff+i) || int(p.BTH.PadCnt) != (4-n%4)%4 || p.BTH.DestQP != 0x17 || p.BTH.PKey != 0xffff {
				t.Errorf("%s of %d bytes, packet %d: %+v, %d bytes", tc.verb, tc.length, i, p.BTH, p.PayloadLen)
			}
			if p.Has(codec.HeaderRETH) && p.RETH != (codec.RETH{VA: 0x1000, RKey: 9, DMALen: tc.length}) {
				t.Errorf("%s: RETH %+v", tc.verb, p.RETH)
			}
			if p.Has(codec.HeaderImmDt) && p.ImmDt.ImmediateData != 0xabcd || p.Has(codec.HeaderIETH) && p.IETH.RKey != 0xabcd {
				t.Errorf("%s: %+v %+v", tc.verb, p.ImmDt, p.IETH)
			}
		}
	}
}

// A READ that starts over in its middle moves address, length and PSN.
func TestReadFromItsMiddle(t *testing.T) {
	qp := QP{MTU: 1024}
	w := WorkRequest{Verb: Read, Remote: 0x5000, RKey: 7, Length: 4000}
	m := Message{WorkRequest: w, First: 100, Packets: w.Packets(qp.MTU)}
	for i, want := range []codec.RETH{{VA: 0x5000, RKey: 7, DMALen: 4000}, {VA: 0x5400, RKey: 7, DMALen: 2976}, {VA: 0x5800, RKey: 7, DMALen: 1952}, {VA: 0x5c00, RKey: 7, DMALen: 928}} {
		var p Packet
		m.Fill(&p, &qp, i)
		if p.RETH != want || p.BTH.PSN != psn.New(100+i) || p.PayloadLen != 0 || p.BTH.Opcode != codec.Op(codec.RC, codec.ReadRequest) {
			t.Errorf("from %d: %+v %+v", i, p.BTH, p.RETH)
		}
	}
}

func TestAtomicPacket(t *testing.T) {
	w := WorkRequest{Verb: CmpSwap, Remote: 0x40, RKey: 7, Length: 8, Compare: 1, Swap: 2}
	m := Message{WorkRequest: w, First: 5, Packets: w.Packets(256)}
	var p Packet
	m.Fill(&p, &QP{MTU: 256}, 0)
	if p.AtomicETH != (codec.AtomicETH{VA: 0x40, RKey: 7, SwapDt: 2, CmpDt: 1}) || p.PayloadLen != 0 {
		t.Errorf("%+v", p.AtomicETH)
	}
}

// Finding by PSN agrees with a walk, also while messages come and go.
func TestFindAgainstWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		qp := QP{MTU: 256, StartPSN: 0xfffff0}
		q := NewSendQueue(&qp)
		owner := map[int64]uint64{} // PSN to ID
		first := int64(qp.StartPSN)
		end, id := first, uint64(0)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				n := rapid.IntRange(1, 5).Draw(t, "packets")
				q.Post(WorkRequest{ID: id, Verb: Write, Length: uint32(256 * n)}, n)
				for range n {
					owner[end] = id
					end++
				}
				id++
			case 1:
				q.Retire(q.Una + psn.Seq(rapid.IntRange(0, int(q.End-q.Una)).Draw(t, "acknowledged")))
			case 2:
				s := rapid.Int64Range(first-2, end+2).Draw(t, "psn")
				m := q.Find(psn.Seq(s))
				want, posted := owner[s]
				// A message stays until all of it is acknowledged.
				gone := posted && func() bool {
					for at, of := range owner {
						if of == want && psn.Seq(at) >= q.Una {
							return false
						}
					}
					return true
				}()
				if (m != nil) != (posted && !gone) || m != nil && m.ID != want {
					t.Fatalf("PSN %d: %+v, want message %d (%v, gone %v)", s, m, want, posted, gone)
				}
			}
		}
	})
}

// No more than half of all PSNs are outstanding, and no more READs than the
// responder promised.
func TestWhatMayBeOutstanding(t *testing.T) {
	qp := QP{MTU: 256, ReadLimit: 2}
	q := NewSendQueue(&qp)
	post := func(v Verb, n uint32) {
		w := WorkRequest{Verb: v, Length: n}
		q.Post(w, w.Packets(qp.MTU))
	}
	post(Write, 256)
	post(Read, 1<<31) // all of half a turn
	post(Write, 0)
	post(Read, 1)
	post(FetchAdd, 8)
	post(Write, 0)
	next := func(want bool) {
		t.Helper()
		m := q.Fresh()
		if (m != nil) != want {
			t.Fatalf("PSN %d may be sent: %v", q.Nxt, m != nil)
		}
		if want {
			q.Sent()
		}
	}
	next(true)
	next(false) // one more than half with the WRITE before it
	q.Retire(1)
	next(true)
	next(false)
	q.Retire(3)
	next(true) // the WRITE
	next(true) // the second READ
	next(false)
	q.Retire(1 + 1<<23)
	next(true) // FetchAdd, since the first READ is done
	next(true)
	next(false)
}
