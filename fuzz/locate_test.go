package fuzz

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// seedFrames adds the frames that dissect is tested with.
func seedFrames(f *testing.F) {
	f.Helper()
	file, err := os.Open("../dissect/testdata/frames.txt")
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		columns := strings.Split(lines.Text(), "\t")
		if len(columns) < 4 {
			continue
		}
		link, err1 := strconv.ParseUint(columns[0], 10, 16)
		data, err2 := hex.DecodeString(columns[2])
		if err1 != nil || err2 != nil {
			f.Fatal(err1, err2)
		}
		f.Add(uint16(link), data, uint16(0))
	}
}

// FuzzLocate looks for packets in frames of every link type. Whatever the bytes
// are, what is found must lie within them, a longer capture of the same frame
// must say the same, and nothing may be left of the packet before.
func FuzzLocate(f *testing.F) {
	seedFrames(f)
	l := dissect.Locator{UDPPorts: []uint16{1021}}
	f.Fuzz(func(t *testing.T, link uint16, data []byte, cut uint16) {
		frame := dissect.Frame{Data: data, WireLen: len(data) + int(cut), Link: dissect.LinkType(link), Number: 1}
		before := dissect.Packet{VLAN: 9, VNI: 9, IPID: 9, SrcPort: 9, Covered: []byte{9}, Link: []byte{9}, Trailer: []byte{9}, BTH: 9, WireLen: 9}
		p := before
		outcome := l.Locate(&frame, &p)
		if outcome == dissect.Cut {
			if whole := bytes.Join([][]byte{p.Link, p.Covered, p.Trailer}, nil); !bytes.Equal(whole, data) {
				t.Fatalf("the parts make %x", whole)
			}
			if len(p.Transport()) >= 12 || p.WireLen < 12 || p.ICRC() != dissect.ICRCAbsent || p.JudgeCut() > dissect.Misfit {
				t.Fatalf("cut: %+v", p)
			}
			return
		}
		if outcome != dissect.Found {
			if (p.Covered != nil) != (outcome == dissect.Pause) || p.Link != nil || p.Trailer != nil || p.BTH != 0 || p.WireLen != 0 || p.VLAN != 0 || p.VNI != 0 {
				t.Fatalf("%v: left %+v", outcome, p)
			}
			return
		}
		if whole := bytes.Join([][]byte{p.Link, p.Covered, p.Trailer}, nil); !bytes.Equal(whole, data) {
			t.Fatalf("the parts make %x", whole)
		}
		transport := p.Transport()
		if len(transport) < 12 || p.WireLen < len(transport) || p.BTH < 8 {
			t.Fatalf("BTH at %d, %d of %d bytes", p.BTH, len(transport), p.WireLen)
		}
		if p.Tunnels.Len() == 0 && p.VNI != 0 {
			t.Fatalf("VNI %d outside of tunnels", p.VNI)
		}
		var h codec.BTH
		if err := h.Decode(transport); err != nil {
			t.Fatal(err)
		}
		icrc := p.ICRC()
		if icrc != dissect.ICRCAbsent && len(transport) != p.WireLen {
			t.Fatalf("ICRC of a cut packet is %v", icrc)
		}
		p.Judge(&h, icrc)

		// Cut behind the BTH the frame leads to the same packet.
		end := len(p.Link) + p.BTH + 12
		frame.Data = data[:end:end]
		frame.WireLen = max(frame.WireLen, len(data))
		q := before
		if l.Locate(&frame, &q) != dissect.Found || q.WireLen != p.WireLen || q.BTH != p.BTH || q.Src != p.Src || q.Tunnels != p.Tunnels {
			t.Fatalf("cut behind the BTH: %+v\nwhole: %+v", q, p)
		}
	})
}
