package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/psn"
)

// What explains loss stands beside it, in the text and in JSON: CE marks, CNPs,
// pause frames of either kind, receivers without buffers.
func TestBesideLoss(t *testing.T) {
	file := binary.LittleEndian.AppendUint32(nil, 0xa1b2c3d4)
	file = append(file, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0)
	n := 0
	add := func(frame []byte) {
		n++
		for _, v := range []int{1_700_000_000, n, len(frame), len(frame)} {
			file = binary.LittleEndian.AppendUint32(file, uint32(v))
		}
		file = append(file, frame...)
	}
	pause := func(text string) {
		b, err := hex.DecodeString(strings.ReplaceAll("0180c2000001 020000000001 8808 "+text, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		add(append(b, make([]byte, 60-len(b))...))
	}
	rdma := func(back bool, dscpECN byte, p codec.Packet) {
		src, dst := "c0000201", "c0000202"
		if back {
			src, dst = dst, src
		}
		p.Headers = p.BTH.Opcode.Headers()
		body, err := p.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		head, _ := hex.DecodeString("0200000000020200000000010800" + "450000000000400040110000" + src + dst + "c00012b700000000")
		head[15] = dscpECN
		binary.BigEndian.PutUint16(head[16:], uint16(28+len(body)+4))
		binary.BigEndian.PutUint16(head[18:], uint16(n+1))
		binary.BigEndian.PutUint16(head[38:], uint16(8+len(body)+4))
		frame := append(head, body...)
		icrc, err := codec.ICRC(codec.RoCEv2IPv4, frame[14:], 28)
		if err != nil {
			t.Fatal(err)
		}
		add(codec.AppendICRC(frame, icrc))
	}
	const ce, credits = 3, 8
	for i := range credits {
		mark := byte(2)
		if i < 3 {
			mark = ce
		}
		rdma(false, mark, codec.Packet{BTH: codec.BTH{Opcode: codec.Op(codec.RC, codec.SendOnly), PKey: 0xffff, DestQP: 0x111, AckReq: true, PSN: psn.New(100 + i)}, Payload: make([]byte, 64)})
		rdma(true, 2, codec.Packet{BTH: codec.BTH{Opcode: codec.Op(codec.RC, codec.Acknowledge), PKey: 0xffff, DestQP: 0x222, PSN: psn.New(100 + i)}, AETH: codec.AETH{Syndrome: 0, MSN: uint32(i + 1)}})
	}
	for range 2 {
		rdma(true, 0, codec.Packet{BTH: codec.BTH{Opcode: codec.OpcodeCNP, PKey: 0xffff, BECN: true, DestQP: 0x222}})
		n += 1000 // CNPs are alike, and soon after each other they are one
	}
	pause("0001 ffff")
	for range 2 {
		pause("0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000")
	}
	name := filepath.Join(t.TempDir(), "x.pcap")
	if err := os.WriteFile(name, file, 0o600); err != nil {
		t.Fatal(err)
	}

	text, stderr, exit := execute("loss", name)
	if exit != 0 || stderr != "" {
		t.Fatal(exit, stderr)
	}
	for _, want := range []string{"3 marked CE", "2 CNPs", "1 pause frame,", "2 PFC pauses for priority 3", "credit-starvation on 1 stream", "8 ACKs without credit"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	stdout, _, _ := execute("loss", "--json", name)
	var out struct {
		Totals      json.RawMessage
		Connections []struct {
			Streams []struct {
				Feedback struct {
					NoCredit int `json:"no_credit"`
				}
				Findings []struct{ Kind string }
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &out); err != nil {
		t.Fatal(err)
	}
	if want := `"cnps":2,"ce_marked":3,"pause_frames":1,"pfc":[0,0,0,2,0,0,0,0]`; !bytes.Contains(out.Totals, []byte(want)) {
		t.Errorf("totals %s, want %s", out.Totals, want)
	}
	if s := out.Connections[0].Streams[0]; s.Feedback.NoCredit != 8 || len(s.Findings) != 1 || s.Findings[0].Kind != "credit-starvation" {
		t.Errorf("%+v", s)
	}
}
