package fuzz

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
)

// ofDecoding reports whether an error wraps one of those that decoding may
// return.
func ofDecoding(err error) bool {
	return err == nil || errors.Is(err, codec.ErrTruncated) || errors.Is(err, codec.ErrOpcode) || errors.Is(err, codec.ErrLength)
}

func unhex(f *testing.F, digits string) []byte {
	b, err := hex.DecodeString(digits)
	if err != nil {
		f.Fatal(err)
	}
	return b
}

// FuzzPacket decodes any bytes, cut short or not: decoding never panics, what
// was decoded encodes to the same bytes, and these decode to the same.
func FuzzPacket(f *testing.F) {
	for _, seed := range []string{
		"",
		"0740ffff000001110000271700070e15deadbeef",                                                                           // WRITE Middle
		"0a70ffff0000011180001db000000000000010000000000200000041aabbccdddeadbeef",                                           // WRITE Only with pad
		"1140ffff00000222000000641f000001deadbeef",                                                                           // ACK
		"1160ffff000002220000006460000001" + "0000030000c700012c00018f0001f4000257" + "0000000000000000000000000000deadbeef", // T/C AETH
		"1240ffff00000222000000641f0000010000000000000005deadbeef",                                                           // ATOMIC Acknowledge
		"4c40ffff0000011100002713000000070000000100000002000000000000000100000002000001000000beef",                           // RD READ request
		"6540ffff000001110000000180010000000000010000002adeadbeef",                                                           // UD SEND with Immediate
		"a640ffff00000111000027b6000000090000000000000001000000020000010000070e15deadbeef",                                   // XRC WRITE First
		"8100ffff400001180000000000000000000000000000000000000000deadbeef",                                                   // CNP
		"1c40ffff00000111000027b60000001100000000000000010000000200000040deadbeef",                                           // FLUSH
		"eb40ffff00000111000004b600007f0000000000000012340000000000000009000000000000002adeadbeef",                           // IRN
		"fa40ffff000004440000044c1f000000800004afdeadbeef",                                                                   // MP-RDMA
	} {
		b := unhex(f, seed)
		f.Add(b, len(b))
		f.Add(b, len(b)+7)
	}
	f.Fuzz(func(t *testing.T, raw []byte, wireLen int) {
		var p, q codec.Packet
		err := p.Decode(raw, wireLen)
		if !ofDecoding(err) {
			t.Fatal(err)
		}
		if err != nil {
			_ = err.Error()
		}
		want := raw[:min(len(raw), max(wireLen, 0))]
		out, encErr := p.AppendBinary(nil)
		if encErr != nil || !bytes.Equal(out, want) {
			t.Fatalf("%x encodes to %x, %v", want, out, encErr)
		}
		again := q.Decode(out, wireLen)
		if (err == nil) != (again == nil) || err != nil && err.Error() != again.Error() {
			t.Fatalf("error %v the first time, then %v", err, again)
		}
		if p.Headers != q.Headers || p.PayloadLen != q.PayloadLen || p.BTH != q.BTH {
			t.Fatalf("%+v the first time, then %+v", p, q)
		}
		total := 0
		for _, h := range codec.Headers() {
			total += len(p.HeaderBytes(h))
		}
		if total+len(p.Payload)+len(p.Pad)+len(p.ICRC)+len(p.CutICRC) != len(out) {
			t.Fatalf("the parts do not add up: %+v", p)
		}
		if p.Has(codec.HeaderTCAETH) {
			gaps := p.TCAETH.Gaps(nil)
			if len(gaps) > 3 || len(gaps) > 0 && p.TCAETH.Validate() != nil {
				t.Fatalf("gaps %v of %+v", gaps, p.TCAETH)
			}
		}
		_, _, _ = p.BTH.Opcode.String(), p.AETH.Syndrome.String(), p.AETH.Syndrome.RNRTimer()
	})
}

// FuzzCM is FuzzPacket for management datagrams.
func FuzzCM(f *testing.F) {
	for _, attribute := range []byte{0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18} {
		mad := make([]byte, codec.MADLen)
		mad[0], mad[1], mad[2], mad[3], mad[17] = 1, codec.ClassCM, 2, 3, attribute
		mad[24+12], mad[24+13] = 1, 6 // RDMA IP CM
		copy(mad[24+36:], "TCAE\x01")
		copy(mad[24+140+36:], "TCAE\x01")
		f.Add(mad)
		f.Add(mad[:100])
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var m, n codec.CM
		err := m.Decode(raw)
		if !ofDecoding(err) {
			t.Fatal(err)
		}
		out, encErr := m.AppendBinary(nil)
		if want := raw[:min(len(raw), codec.MADLen)]; encErr != nil || !bytes.Equal(out, want) {
			t.Fatalf("%x encodes to %x, %v", want, out, encErr)
		}
		if again := n.Decode(out); (err == nil) != (again == nil) {
			t.Fatalf("error %v the first time, then %v", err, again)
		}
		m.PrivateData, n.PrivateData = nil, nil
		if !reflect.DeepEqual(m, n) {
			t.Fatalf("%+v the first time, then %+v", m, n)
		}
		_, _ = m.IPCM.Addrs()
		_ = m.Attribute.String()
	})
}
