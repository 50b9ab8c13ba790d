package codec

import "testing"

// Lengths are sums of the header lengths of IBA: 12 of the BTH, 4 of the ICRC,
// and what the opcode puts between.
func TestFits(t *testing.T) {
	for _, tc := range []struct {
		name string
		bth  BTH
		n    int
		want bool
	}{
		{"SEND Only, empty", BTH{Opcode: Op(RC, SendOnly)}, 16, true},
		{"SEND Only, no ICRC", BTH{Opcode: Op(RC, SendOnly)}, 12, false},
		{"SEND Only, 1 byte and 3 of pad", BTH{Opcode: Op(RC, SendOnly), PadCnt: 3}, 20, true},
		{"SEND Only, pad without room", BTH{Opcode: Op(RC, SendOnly), PadCnt: 3}, 16, false},
		{"SEND Only, 2 bytes unpadded", BTH{Opcode: Op(RC, SendOnly)}, 18, false},
		{"WRITE First, 256 bytes", BTH{Opcode: Op(RC, WriteFirst)}, 12 + 16 + 256 + 4, true},
		{"WRITE Only, 12 bytes of RETH", BTH{Opcode: Op(RC, WriteOnly)}, 12 + 12 + 4, false},
		{"READ Request", BTH{Opcode: Op(RC, ReadRequest)}, 32, true},
		{"READ Request with payload", BTH{Opcode: Op(RC, ReadRequest)}, 36, false},
		{"Acknowledge", BTH{Opcode: Op(RC, Acknowledge)}, 20, true},
		{"Acknowledge, T/C AETH padded", BTH{Opcode: Op(RC, Acknowledge), PadCnt: 2}, 52, true},
		{"Acknowledge, T/C AETH unpadded", BTH{Opcode: Op(RC, Acknowledge)}, 50, true},
		{"Acknowledge, short T/C AETH", BTH{Opcode: Op(XRC, Acknowledge), PadCnt: 1}, 48, true},
		{"Acknowledge, 28 bytes more", BTH{Opcode: Op(RC, Acknowledge)}, 48, false},
		{"RD Acknowledge, 30 bytes more", BTH{Opcode: Op(RD, Acknowledge)}, 12 + 4 + 4 + 30 + 4, false},
		{"ATOMIC Acknowledge", BTH{Opcode: Op(RC, AtomicAcknowledge)}, 28, true},
		{"ATOMIC Acknowledge, T/C AETH", BTH{Opcode: Op(RC, AtomicAcknowledge), PadCnt: 2}, 60, true},
		{"UD SEND Only with Immediate", BTH{Opcode: Op(UD, SendOnlyImm)}, 12 + 8 + 4 + 4, true},
		{"UD SEND Only, no DETH", BTH{Opcode: Op(UD, SendOnly)}, 16, false},
		{"CNP", BTH{Opcode: OpcodeCNP, PadCnt: 2}, 32, true},
		{"CNP, short", BTH{Opcode: OpcodeCNP}, 28, false},
		{"IRN WRITE Middle without RETH", BTH{Opcode: 0xe7}, 16, false},
		{"unknown", BTH{Opcode: 0xd5}, 17, true},
		{"unknown, no ICRC", BTH{Opcode: 0xd5}, 15, false},
	} {
		if got := tc.bth.Fits(tc.n); got != tc.want {
			t.Errorf("%s: Fits(%d) = %v", tc.name, tc.n, got)
		}
	}
}

// What fits decodes without an error when it was captured whole, and what does
// not fit is refused, but for payload that is not padded to whole words.
func TestFitsAgreesWithDecode(t *testing.T) {
	b := make([]byte, 96)
	var p Packet
	for op := range 256 {
		if !Opcode(op).Known() {
			continue
		}
		for pad := range 4 {
			b[0], b[1] = byte(op), byte(pad<<4)
			for n := 12; n <= len(b); n++ {
				err := p.Decode(b[:n], n)
				fits := p.BTH.Fits(n)
				unpadded := Opcode(op).Payload() && n%4 != 0 && err == nil
				if fits != (err == nil) && !unpadded {
					t.Fatalf("%s, PadCnt %d, %d bytes: Fits is %v, Decode says %v", Opcode(op), pad, n, fits, err)
				}
			}
		}
	}
}
