package gobackn

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// say gives a responder packets as a capture would, headers and lengths without
// the bytes, and collects what it answers to each.
func say(r *Responder, packets ...transport.Packet) []string {
	var all []string
	for i := range packets {
		r.Receive(0, &packets[i])
		var said []string
		for r.Ready(0) == transport.Reply {
			var p transport.Packet
			r.Next(0, &p)
			line := fmt.Sprintf("%s %d", strings.TrimPrefix(p.BTH.Opcode.String(), "RC "), p.BTH.PSN)
			if p.Has(codec.HeaderAETH) {
				line += fmt.Sprintf(" %s MSN %d", p.AETH.Syndrome, p.AETH.MSN)
			}
			said = append(said, line)
		}
		all = append(all, strings.Join(said, "; "))
	}
	return all
}

func request(op codec.Operation, at psn.PSN, n int) transport.Packet {
	var p transport.Packet
	p.BTH.Opcode = codec.Op(codec.RC, op)
	p.Headers = p.BTH.Opcode.Headers()
	p.BTH.PSN, p.BTH.PadCnt, p.PayloadLen = at, uint8(-n&3), n
	return p
}

func asking(p transport.Packet) transport.Packet {
	p.BTH.AckReq = true
	return p
}

func reth(p transport.Packet, n int) transport.Packet {
	p.RETH.DMALen = uint32(n)
	return p
}

func check(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("said\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A capture starts in the middle of a WRITE; PSN, MSN and MTU are known from
// what was seen, memory is not.
func TestJoinedInTheMiddle(t *testing.T) {
	r := NewResponder(transport.QP{MTU: 1024, StartPSN: 0xfffffe, StartMSN: 0xffffff, Joined: true}, 16)
	check(t, say(r,
		request(codec.WriteMiddle, 0xfffffe, 1024),
		asking(request(codec.WriteLast, 0xffffff, 13)),
		asking(reth(request(codec.WriteOnly, 0, 8), 8)),
		request(codec.SendFirst, 2, 1024),
		request(codec.SendFirst, 2, 1024),
		reth(request(codec.WriteFirst, 1, 1024), 1030),
		asking(request(codec.WriteLast, 2, 6)),
		reth(request(codec.ReadRequest, 3, 0), 3000),
		request(codec.FetchAdd, 6, 0),
		request(codec.FetchAdd, 6, 0),
		reth(request(codec.ReadRequest, 4, 0), 1976),
		request(codec.WriteMiddle, 0xfffffe, 1024),
	),
		"",
		"Acknowledge 16777215 ACK MSN 0",
		"Acknowledge 0 ACK MSN 1",
		"Acknowledge 1 NAK PSN sequence error MSN 1",
		"", // no second NAK
		"",
		"Acknowledge 2 ACK MSN 2",
		"RDMA READ Response First 3 ACK MSN 3; RDMA READ Response Middle 4; RDMA READ Response Last 5 ACK MSN 3",
		"ATOMIC Acknowledge 6 ACK MSN 4",
		"ATOMIC Acknowledge 6 ACK MSN 4",
		"RDMA READ Response First 4 ACK MSN 4; RDMA READ Response Last 5 ACK MSN 4",
		"Acknowledge 6 ACK MSN 4")
}

// Only the first message may be joined: a later one that continues what was not
// begun is refused.
func TestContinuationWithoutBeginning(t *testing.T) {
	for _, joined := range []bool{false, true} {
		r := NewResponder(transport.QP{MTU: 1024, Joined: joined}, 16)
		first := "NAK invalid request MSN 0"
		if joined {
			first = "ACK MSN 1"
		}
		got := say(r, asking(request(codec.SendLast, 0, 5)))
		check(t, got, "Acknowledge 0 "+first)
		if joined {
			check(t, say(r, asking(request(codec.SendLast, 1, 5))), "Acknowledge 1 NAK invalid request MSN 1")
		}
	}
}

// FLUSH and ATOMIC WRITE are acknowledged with an empty READ Response Only.
func TestFlushAndAtomicWrite(t *testing.T) {
	r := NewResponder(transport.QP{MTU: 1024}, 16)
	check(t, say(r,
		reth(request(codec.Flush, 0, 0), 5000),
		reth(request(codec.AtomicWrite, 1, 8), 8),
		reth(request(codec.Flush, 0, 0), 5000)),
		"RDMA READ Response Only 0 ACK MSN 1",
		"RDMA READ Response Only 1 ACK MSN 2",
		"RDMA READ Response Only 0 ACK MSN 2")
}

// More READs than the responder promised are refused; the promise is kept for
// duplicates that hang about too.
func TestReadLimit(t *testing.T) {
	r := NewResponder(transport.QP{MTU: 256, ReadLimit: 2}, 16)
	for i := range 3 {
		p := reth(request(codec.ReadRequest, psn.PSN(i), 0), 1)
		r.Receive(0, &p)
		for range 10 {
			p = reth(request(codec.ReadRequest, 0, 0), 1)
			r.Receive(0, &p)
		}
	}
	check(t, say(r, reth(request(codec.ReadRequest, 0, 0), 1)),
		"RDMA READ Response Only 0 ACK MSN 1; RDMA READ Response Only 1 ACK MSN 2; Acknowledge 2 NAK invalid request MSN 2")
	// All is served now, and the refused one is welcome.
	check(t, say(r, reth(request(codec.ReadRequest, 2, 0), 1)), "RDMA READ Response Only 2 ACK MSN 3")
}

// Whatever arrives, a responder neither panics nor grows without bound, and it
// names no PSN that is ahead of what it expects.
func FuzzResponder(f *testing.F) {
	f.Add([]byte("\x06\x00\x00\x01\x07\x01\x00\x01\x0c\x02\x03\x00\x13\x05\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewResponder(transport.QP{MTU: 256, ReadLimit: 2, Joined: len(b)%2 == 0}, 3)
		for len(b) >= 4 {
			p := request(0, psn.New(int64(int8(b[1]))), int(b[2])*4)
			p.BTH.Opcode, p.BTH.AckReq = codec.Opcode(b[0]), b[2]&1 != 0
			p.Headers = p.BTH.Opcode.Headers()
			p.RETH.DMALen = uint32(b[3]) << (b[1] & 31)
			p.AtomicETH.VA = uint64(b[2])
			r.Receive(0, &p)
			b = b[4:]
			if len(b)%3 > 0 && r.Ready(0) == transport.Reply {
				r.Next(0, &p)
				if at := psn.Unwrap(r.Expected, p.BTH.PSN); at > r.Expected || at == r.Expected && p.AETH.Syndrome.Kind() == codec.KindACK {
					t.Fatalf("%s %s at %d, expected is %d", p.BTH.Opcode, p.AETH.Syndrome, at, r.Expected)
				}
			}
		}
	})
}
