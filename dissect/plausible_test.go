package dissect

import (
	"testing"

	"github.com/rdmadump/rdmadump/codec"
)

func TestJudge(t *testing.T) {
	sound := func(op codec.Opcode) codec.BTH {
		return codec.BTH{Opcode: op, PKey: 0xffff, DestQP: 0x111, PSN: 100}
	}
	sendOnly := codec.Op(codec.RC, codec.SendOnly)
	writeOnly := codec.Op(codec.RC, codec.WriteOnly)
	for _, tc := range []struct {
		name   string
		op     codec.Opcode
		change func(*codec.BTH)
		length int
		icrc   ICRCState
		want   Plausibility
	}{
		{"sound", sendOnly, nil, 16, ICRCAbsent, Plausible},
		{"damaged", sendOnly, nil, 16, ICRCBad, Plausible},
		{"proven", sendOnly, nil, 16, ICRCGood, Proven},
		{"congested", sendOnly, func(h *codec.BTH) { h.FECN, h.BECN, h.Rsv6 = true, true, 5 }, 16, ICRCBad, Plausible},

		{"transport version 1", sendOnly, func(h *codec.BTH) { h.TVer = 1 }, 16, ICRCBad, Implausible},
		{"P_Key 0", sendOnly, func(h *codec.BTH) { h.PKey = 0 }, 16, ICRCBad, Implausible},
		{"unknown opcode", 0x1f, nil, 16, ICRCBad, Implausible},
		{"manufacturer's opcode", 0xd5, nil, 16, ICRCBad, Plausible},
		{"manufacturer's opcode without ICRC", 0xd5, nil, 12, ICRCAbsent, Implausible},
		{"connected to QP 0", sendOnly, func(h *codec.BTH) { h.DestQP = 0 }, 16, ICRCBad, Implausible},
		{"connected to QP 1", codec.Op(codec.UC, codec.SendOnly), func(h *codec.BTH) { h.DestQP = 1 }, 16, ICRCBad, Implausible},
		{"connected to multicast", codec.Op(codec.XRC, codec.SendOnly), func(h *codec.BTH) { h.DestQP = 0xffffff }, 20, ICRCBad, Implausible},
		{"datagram to QP 1", codec.Op(codec.UD, codec.SendOnly), func(h *codec.BTH) { h.DestQP = 1 }, 24, ICRCBad, Plausible},
		{"datagram to multicast", codec.Op(codec.UD, codec.SendOnly), func(h *codec.BTH) { h.DestQP = 0xffffff }, 24, ICRCBad, Plausible},
		{"CNP", codec.OpcodeCNP, nil, 32, ICRCBad, Plausible},

		{"all of it wrong and yet proven", 0xff, func(h *codec.BTH) { h.TVer, h.PKey, h.DestQP = 15, 0, 0xffffff }, 17, ICRCGood, Proven},
		{"headers do not fit, proven", writeOnly, nil, 20, ICRCGood, Proven},

		{"RETH does not fit", writeOnly, nil, 24, ICRCBad, Misfit},
		{"BTH alone", writeOnly, nil, 12, ICRCAbsent, Misfit},
		{"payload not padded", sendOnly, nil, 17, ICRCBad, Misfit},
		{"pad does not fit", sendOnly, func(h *codec.BTH) { h.PadCnt = 3 }, 16, ICRCBad, Misfit},
		{"payload behind an Acknowledge", codec.Op(codec.RC, codec.Acknowledge), nil, 24, ICRCBad, Misfit},
		{"misfit, reserved bits", writeOnly, func(h *codec.BTH) { h.Rsv6 = 1 }, 24, ICRCBad, Implausible},
		{"misfit, reserved bit behind AckReq", writeOnly, func(h *codec.BTH) { h.Rsv1 = 1 }, 24, ICRCBad, Implausible},
		{"misfit, MP-RDMA's bits", writeOnly, func(h *codec.BTH) { h.ReTx = true }, 24, ICRCBad, Implausible},
		{"misfit, last reserved bits", writeOnly, func(h *codec.BTH) { h.Rsv4 = 8 }, 24, ICRCBad, Implausible},
		{"misfit, P_Key 0", writeOnly, func(h *codec.BTH) { h.PKey = 0 }, 24, ICRCBad, Implausible},
	} {
		h := sound(tc.op)
		if tc.change != nil {
			tc.change(&h)
		}
		p := Packet{WireLen: tc.length}
		if got := p.Judge(&h, tc.icrc); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// A cut BTH is judged by what is there of it.
func TestJudgeCut(t *testing.T) {
	sound := []byte{0x0a, 0, 0xff, 0xff, 0, 0, 1, 0x11, 0, 0, 0}
	for n := range len(sound) + 1 {
		p := Packet{Covered: sound[:n], WireLen: 64}
		if got := p.JudgeCut(); got != Misfit {
			t.Errorf("%d sound bytes: %v", n, got)
		}
	}
	for name, b := range map[string][]byte{
		"unknown opcode":    {0x1f},
		"transport version": {0x0a, 1},
		"P_Key 0":           {0x0a, 0, 0, 0},
		"management QP":     {0x0a, 0, 0xff, 0xff, 0, 0, 0, 0},
		"text":              []byte("GET / HTTP"),
		"a DNS query":       {0x12, 0x34, 0x01, 0x00, 0x00, 0x01},
		"zeros":             make([]byte, 4),
		"ones":              {0xff, 0xff, 0xff},
	} {
		p := Packet{Covered: b, WireLen: 64}
		if got := p.JudgeCut(); got != Implausible {
			t.Errorf("%s: %v", name, got)
		}
	}
}
