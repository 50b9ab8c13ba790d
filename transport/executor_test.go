package transport

import (
	"slices"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// plain is a request packet of RC.
func plain(op codec.Operation, n int) Packet {
	var p Packet
	p.BTH.Opcode = codec.Op(codec.RC, op)
	p.Headers = p.BTH.Opcode.Headers()
	p.PayloadLen, p.BTH.PadCnt = n, uint8(-n&3)
	return p
}

func sized(op codec.Operation, n int, dma uint32) Packet {
	p := plain(op, n)
	p.RETH.DMALen = dma
	return p
}

// What IBA 9.7.4.1 has a responder check, and the NAK codes of 9.7.5.2.
func TestGrammar(t *testing.T) {
	const ack, invalid = codec.SyndromeACK, codec.SyndromeInvalidRequest
	padded := plain(codec.SendOnly, 5)
	padded.BTH.PadCnt = 0
	misaligned := plain(codec.FetchAdd, 0)
	misaligned.AtomicETH.VA = 12
	udSend := plain(codec.SendOnly, 5)
	udSend.BTH.Opcode = codec.OpcodeCNP
	for name, tc := range map[string]struct {
		packets []Packet
		last    codec.Syndrome // the answer to the last; the others are accepted
		msn     uint32
	}{
		"send":                             {[]Packet{plain(codec.SendFirst, 256), plain(codec.SendMiddle, 256), plain(codec.SendLast, 1)}, ack, 1},
		"send of nothing":                  {[]Packet{plain(codec.SendOnly, 0)}, ack, 1},
		"invalidate":                       {[]Packet{plain(codec.SendOnlyInv, 256)}, ack, 1},
		"short first":                      {[]Packet{plain(codec.SendFirst, 255)}, invalid, 0},
		"short middle":                     {[]Packet{plain(codec.SendFirst, 256), plain(codec.SendMiddle, 255)}, invalid, 0},
		"empty last":                       {[]Packet{plain(codec.SendFirst, 256), plain(codec.SendLast, 0)}, invalid, 0},
		"long last":                        {[]Packet{plain(codec.SendFirst, 256), plain(codec.SendLast, 257)}, invalid, 0},
		"long only":                        {[]Packet{plain(codec.SendOnly, 257)}, invalid, 0},
		"wrong pad":                        {[]Packet{padded}, invalid, 0},
		"middle first":                     {[]Packet{plain(codec.SendMiddle, 256)}, invalid, 0},
		"last first":                       {[]Packet{plain(codec.WriteLast, 256)}, invalid, 0},
		"first in the middle":              {[]Packet{plain(codec.SendFirst, 256), plain(codec.SendFirst, 256)}, invalid, 0},
		"only in the middle":               {[]Packet{plain(codec.SendFirst, 256), sized(codec.ReadRequest, 0, 1)}, invalid, 0},
		"other verb in the middle":         {[]Packet{plain(codec.SendFirst, 256), plain(codec.WriteMiddle, 256)}, invalid, 0},
		"write":                            {[]Packet{sized(codec.WriteFirst, 256, 513), plain(codec.WriteMiddle, 256), plain(codec.WriteLast, 1)}, ack, 1},
		"write of nothing":                 {[]Packet{sized(codec.WriteOnly, 0, 0)}, ack, 1},
		"write ends early":                 {[]Packet{sized(codec.WriteFirst, 256, 513), plain(codec.WriteLast, 256)}, invalid, 0},
		"write does not end":               {[]Packet{sized(codec.WriteFirst, 256, 512), plain(codec.WriteMiddle, 256)}, invalid, 0},
		"write shorter than DMALen":        {[]Packet{sized(codec.WriteOnly, 4, 5)}, invalid, 0},
		"write longer than DMALen":         {[]Packet{sized(codec.WriteOnly, 5, 4)}, invalid, 0},
		"write of more than 2^31":          {[]Packet{sized(codec.WriteFirst, 256, 1<<31+1)}, invalid, 0},
		"write with immediate":             {[]Packet{sized(codec.WriteFirst, 256, 257), plain(codec.WriteLastImm, 1)}, ack, 1},
		"read counts when accepted":        {[]Packet{sized(codec.ReadRequest, 0, 100_000)}, ack, 1},
		"read of more than 2^31":           {[]Packet{sized(codec.ReadRequest, 0, 1<<31+1)}, invalid, 0},
		"atomic":                           {[]Packet{plain(codec.CmpSwap, 0), plain(codec.FetchAdd, 0)}, ack, 2},
		"misaligned atomic":                {[]Packet{misaligned}, invalid, 0},
		"atomic write of the wrong length": {[]Packet{sized(codec.AtomicWrite, 4, 4)}, invalid, 0},
		"a response":                       {[]Packet{plain(codec.Acknowledge, 0)}, invalid, 0},
		"a notification":                   {[]Packet{udSend}, invalid, 0},
	} {
		e := NewExecutor(&QP{MTU: 256})
		for i := range tc.packets {
			want := ack
			if i == len(tc.packets)-1 {
				want = tc.last
			}
			if got := e.Execute(&tc.packets[i]); got != want {
				t.Errorf("%s: packet %d: %s, want %s", name, i, got, want)
			}
		}
		if e.MSN != tc.msn {
			t.Errorf("%s: MSN %d, want %d", name, e.MSN, tc.msn)
		}
	}
}

// denying is memory that nobody may reach and that has no receives.
type denying struct{ Memory }

func (denying) Allows(uint32, uint64, int) bool { return false }
func (denying) Receive() (uint64, bool)         { return 0, false }

func TestRefusesAccess(t *testing.T) {
	qp := QP{MTU: 256, Memory: denying{}, RNRTimer: 60 * time.Microsecond}
	const rnr = codec.Syndrome(0x20 | 5) // 0.06 ms
	for _, tc := range []struct {
		p    Packet
		want codec.Syndrome
	}{
		{sized(codec.WriteOnly, 4, 4), codec.SyndromeRemoteAccess},
		{sized(codec.WriteFirst, 256, 300), codec.SyndromeRemoteAccess},
		{sized(codec.WriteOnly, 0, 0), codec.SyndromeACK}, // nothing may be reached always
		{sized(codec.WriteOnlyImm, 0, 0), rnr},
		{sized(codec.ReadRequest, 0, 4), codec.SyndromeRemoteAccess},
		{sized(codec.ReadRequest, 0, 0), codec.SyndromeACK},
		{plain(codec.FetchAdd, 0), codec.SyndromeRemoteAccess},
		{plain(codec.SendOnly, 4), rnr},
		{plain(codec.SendFirst, 256), rnr},
	} {
		e := NewExecutor(&qp)
		if got := e.Execute(&tc.p); got != tc.want {
			t.Errorf("%s of %d: %s, want %s", tc.p.BTH.Opcode, tc.p.PayloadLen, got, tc.want)
		}
	}
}

// The results of the last ReadLimit atomics are kept, and no others.
func TestSavedAtomics(t *testing.T) {
	e := NewExecutor(&QP{MTU: 256, ReadLimit: 3})
	for i := range 10 {
		p := plain(codec.FetchAdd, 0)
		p.BTH.PSN = psn.New(0xfffffb + i)
		e.Execute(&p)
	}
	for i := range 10 {
		if _, ok := e.Found(psn.New(0xfffffb + i)); ok != (i >= 7) {
			t.Errorf("atomic %d: %v", i, ok)
		}
	}
}

// IRN says in each WRITE packet where that packet goes, and how long it is.
func TestIRNWrite(t *testing.T) {
	e := NewExecutor(&QP{MTU: 256})
	for i, op := range []codec.Operation{codec.WriteFirst, codec.WriteMiddle, codec.WriteLast} {
		p := plain(op, 256-i/2)
		p.BTH.Opcode = codec.Op(codec.IRN, op)
		p.Headers = p.BTH.Opcode.Headers()
		p.RETH.DMALen = uint32(p.PayloadLen)
		if s := e.Execute(&p); s != codec.SyndromeACK {
			t.Errorf("%s: %s", p.BTH.Opcode, s)
		}
	}
	if e.MSN != 1 {
		t.Errorf("MSN %d", e.MSN)
	}
}

// storing is memory that counts what is stored and has one receive, at 64.
type storing struct {
	Memory
	at []uint64
}

func (m *storing) Store(va uint64, _ []byte)     { m.at = append(m.at, va) }
func (*storing) Allows(uint32, uint64, int) bool { return true }
func (*storing) Receive() (uint64, bool)         { return 64, true }

// Of a message that was joined in its middle it is not known where it goes: it
// is placed nowhere. The next one is.
func TestJoinedIsNotPlaced(t *testing.T) {
	m := &storing{}
	e := NewExecutor(&QP{MTU: 256, Memory: m, Joined: true, StartMSN: 7})
	data := make([]byte, 256)
	for i, p := range []Packet{
		plain(codec.WriteMiddle, 256), plain(codec.WriteMiddle, 256), plain(codec.WriteLast, 3),
		plain(codec.SendFirst, 256), plain(codec.SendLast, 256), sized(codec.WriteOnly, 4, 4),
	} {
		p.Payload = data[:p.PayloadLen]
		if s := e.Execute(&p); s != codec.SyndromeACK {
			t.Errorf("packet %d: %s", i, s)
		}
	}
	if want := []uint64{64, 320, 0}; !slices.Equal(m.at, want) || e.MSN != 10 {
		t.Errorf("placed at %v, want %v; MSN %d", m.at, want, e.MSN)
	}
}
