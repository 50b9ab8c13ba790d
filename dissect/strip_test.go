package dissect

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
)

// strip gives the bytes of a frame without what it carried.
func strip(t *testing.T, s *Stripper, link LinkType, data []byte) []byte {
	t.Helper()
	f := Frame{Data: data, WireLen: len(data), Link: link}
	before := slices.Clone(data)
	out := s.Strip(&f)
	if !bytes.Equal(before, data) {
		t.Error("the frame itself was changed")
	}
	if out == nil {
		t.Fatal("nothing was found")
	}
	return slices.Clone(out.Data)
}

// blank is the packet of the builders as it must come out: 12 bytes of BTH, 8
// zeros, and the ICRC that seal computes for that.
var blank = unhex("04 40 ffff 00 000111 80 001b58 0000000000000000")

// Every carrier and tunnel: headers stay, payload is gone, the ICRC is that of
// what is there now, and trailers are zero.
func TestStripCarriers(t *testing.T) {
	full := send
	build := func(payload []byte) map[string][]byte {
		send = payload
		defer func() { send = full }()
		return map[string][]byte{
			"IPv4":       ethernet("0800", rocev2over4()),
			"IPv6":       ethernet("86dd", rocev2over6()),
			"extensions": ethernet("86dd", extended(0, "1100010400000000")),
			"RoCEv1":     ethernet("8915", rocev1()),
			"VLAN":       ethernet("8100 0064 0800", rocev2over4()),
			"VXLAN":      ethernet("0800", ipv4(17, udp(4789, behind("0800000000002a00", ethernet("0800", rocev2over4()))))),
			"GRE":        ethernet("0800", ipv4(47, behind("0000 0800", rocev2over4()))),
			"IPIP":       ethernet("0800", ipv4(4, rocev2over4())),
		}
	}
	before, want := build(full), build(blank)
	for name, frame := range before {
		if got := strip(t, &Stripper{}, LinkEthernet, frame); !bytes.Equal(got, want[name]) {
			t.Errorf("%s: % x, want % x", name, got, want[name])
		}
		padded := append(slices.Clone(frame), unhex("de ad be ef")...)
		if got := strip(t, &Stripper{}, LinkEthernet, padded); !bytes.Equal(got, append(want[name], 0, 0, 0, 0)) {
			t.Errorf("%s with a trailer: % x", name, got)
		}
	}
	for name, build := range map[string]func() []byte{"InfiniBand": infiniband, "GRH": infinibandGRH} {
		frame := build()
		send = blank
		want := build()
		send = full
		copy(want[len(want)-2:], "\x00\x00") // VCRC
		if got := strip(t, &Stripper{}, LinkInfiniBand, frame); !bytes.Equal(got, want) {
			t.Errorf("%s: % x, want % x", name, got, want)
		}
	}
}

// What a wrong ICRC becomes tells nothing of the one that was there.
func TestStripICRC(t *testing.T) {
	whole := ethernet("0800", rocev2over4())
	n := len(whole) - 4
	full := send
	send = blank
	right := ethernet("0800", rocev2over4())[n:]
	send = full
	wrong := binary.LittleEndian.AppendUint32(nil, ^binary.LittleEndian.Uint32(right))
	for _, c := range []struct {
		name       string
		icrc, want []byte
		left       bool
		state      ICRCState
	}{
		{"good", whole[n:], right, false, ICRCGood},
		{"bad", unhex("01020304"), wrong, false, ICRCBad},
		{"bad too", unhex("51525354"), wrong, false, ICRCBad},
		{"not filled in", unhex("00000000"), unhex("00000000"), false, ICRCBad},
		{"cut within", whole[n : n+3], unhex("000000"), false, ICRCAbsent},
		{"cut off", nil, nil, false, ICRCAbsent},
		{"left", whole[n:], whole[n:], true, ICRCGood},
		{"left bad", unhex("01020304"), unhex("01020304"), true, ICRCBad},
		{"left cut", whole[n : n+3], whole[n : n+3], true, ICRCAbsent},
	} {
		s := Stripper{LeaveICRC: c.left}
		f := Frame{Data: append(slices.Clone(whole[:n]), c.icrc...), WireLen: len(whole), Link: LinkEthernet}
		out := s.Strip(&f)
		if got := out.Data[n:]; !bytes.Equal(got, c.want) {
			t.Errorf("%s: % x, want % x", c.name, got, c.want)
		}
		if out.WireLen != len(whole) || len(out.Data) != len(f.Data) {
			t.Errorf("%s: lengths changed", c.name)
		}
		var want [3]int64
		want[c.state]++
		if s.ICRC != want {
			t.Errorf("%s: counted %v, want %v", c.name, s.ICRC, want)
		}
	}
}

// Checksums that cover the payload are as good as a part of it.
func TestStripChecksums(t *testing.T) {
	inner := ipv4(17, slices.Concat(unhex("c123"), length(RoCEv2Port), length(8+len(send)+4), unhex("abcd"), send, spare))
	tunnel := slices.Concat(unhex("c123"), length(4789), length(8+8+14+len(inner)), unhex("9876 0800000000002a00"), ethernet("0800", inner))
	gre := ipv4(47, behind("8000 0800 5678 0000", ipv4(17, tunnel)))
	got := strip(t, &Stripper{}, LinkEthernet, ethernet("0800", gre))
	for _, sum := range []string{"abcd", "9876", "5678"} {
		if bytes.Contains(got, unhex(sum)) {
			t.Errorf("% x is still there: % x", unhex(sum), got)
		}
	}
	if want := len(ethernet("0800", gre)); len(got) != want {
		t.Errorf("%d bytes, want %d", len(got), want)
	}
}

// mad is a UD SEND Only to QP 1 with payload b.
func mad(qpn string, b []byte) []byte {
	return slices.Concat(unhex("64 40 ffff 00"), unhex(qpn), unhex("00 000007 80010000 00 000001"), b, spare)
}

// Of connection management, headers stay and private data go.
func TestStripManagement(t *testing.T) {
	frame := func(qpn string, payload []byte) []byte {
		b := mad(qpn, payload)
		return ethernet("0800", ipv4(17, slices.Concat(unhex("c123"), length(RoCEv2Port), length(8+len(b)), unhex("0000"), b)))
	}
	ones := bytes.Repeat([]byte{0xee}, 256)
	with := func(class, attribute byte) []byte {
		b := slices.Clone(ones)
		copy(b, []byte{1, class, 2, 3})
		b[16], b[17] = 0, attribute
		return b
	}
	const start = 14 + 20 + 8 + 12 + 8
	for _, c := range []struct {
		name    string
		qpn     string
		payload []byte
		keep    int
	}{
		{"REQ", "000001", with(7, 0x10), 24 + 140},
		{"REP", "000001", with(7, 0x13), 24 + 36},
		{"RTU", "000001", with(7, 0x14), 24 + 8},
		{"DREQ", "000001", with(7, 0x15), 24 + 12},
		{"SIDR_REQ", "000001", with(7, 0x17), 24},
		{"an unknown message", "000001", with(7, 0x77), 24},
		{"subnet administration", "000001", with(3, 0x35), 0},
		{"a vendor's class", "000001", with(9, 0x10), 0},
		{"another queue pair", "000222", with(7, 0x10), 0},
		{"a long one", "000001", append(with(7, 0x14), ones...), 24 + 8},
		{"a short one", "000001", with(7, 0x10)[:40], 24},
		{"hardly one", "000001", with(7, 0x10)[:20], 0},
	} {
		got := strip(t, &Stripper{}, LinkEthernet, frame(c.qpn, c.payload))[start:]
		want := make([]byte, len(c.payload))
		copy(want, c.payload[:c.keep])
		if !bytes.Equal(got[:len(want)], want) {
			t.Errorf("%s:\n% x, want\n% x", c.name, got[:len(want)], want)
		}
	}
	rej := strip(t, &Stripper{}, LinkEthernet, frame("000001", with(7, 0x12)))[start:]
	want := make([]byte, 256)
	copy(want, with(7, 0x12)[:24+12]) // then comes the additional information
	if !bytes.Equal(rej[:256], want) {
		t.Errorf("REJ: % x", rej[:256])
	}
}

// What cannot be decoded is payload. What is no packet is not passed on.
func TestStripDoubtful(t *testing.T) {
	b := slices.Concat(unhex("04 43 ffff 00 000111 80 001b58 01"), spare) // PadCnt 3, but 1 byte
	odd := ethernet("0800", ipv4(17, udp(RoCEv2Port, b)))
	got := strip(t, &Stripper{}, LinkEthernet, odd)
	if got[len(got)-5] != 0 {
		t.Errorf("% x", got)
	}
	padded := slices.Concat(unhex("04 73 ffff 00 000111 80 001b58 0123456789 eeeeee"), spare) // 5 bytes and 3 of pad
	got = strip(t, &Stripper{LeaveICRC: true}, LinkEthernet, ethernet("0800", ipv4(17, udp(RoCEv2Port, padded))))
	if tail := got[len(got)-12:]; !bytes.Equal(tail, make([]byte, 12)) {
		t.Errorf("payload, pad and ICRC are % x", tail)
	}
	unknown := slices.Clone(send)
	unknown[0] = 0x1f
	got = strip(t, &Stripper{}, LinkEthernet, ethernet("0800", ipv4(17, udp(RoCEv2Port, slices.Concat(unknown, spare)))))
	if tail := got[len(got)-12:]; !bytes.Equal(tail[:8], make([]byte, 8)) {
		t.Errorf("% x", got)
	}
	s := Stripper{}
	f := Frame{Data: ethernet("0800", ipv4(6, send)), Link: LinkEthernet}
	if s.Strip(&f) != nil {
		t.Error("TCP was passed on")
	}
	f.Data = ethernet("0800", ipv4Fragment(17, "2000", datagram()))
	if s.Strip(&f) != nil {
		t.Error("a fragment was passed on")
	}
}

func TestStripDoesNotAllocate(t *testing.T) {
	s := Stripper{}
	f := Frame{Data: ethernet("0800", rocev2over4()), Link: LinkEthernet}
	s.Strip(&f)
	if n := testing.AllocsPerRun(100, func() { s.Strip(&f) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The other service with source queue pairs, and the one that has none.
func TestSourceQP(t *testing.T) {
	ud := mad("000007", nil)
	if qpn, ok := sourceQP(ud); !ok || qpn != 1 {
		t.Errorf("UD: %#x, %v", qpn, ok)
	}
	rd := slices.Concat(unhex("44 40 ffff 00 000111 80 001b58 00 000005 80010000 00 0000ab"), spare)
	if qpn, ok := sourceQP(rd); !ok || qpn != 0xab {
		t.Errorf("RD: %#x, %v", qpn, ok)
	}
	for _, b := range [][]byte{send, ud[:19], rd[:23]} {
		if qpn, ok := sourceQP(b); ok {
			t.Errorf("% x: %#x", b, qpn)
		}
	}
	if codec.Opcode(0x44).Service() != codec.RD {
		t.Error("0x44 is no RD")
	}
}

// A packet that was cut within its BTH has nothing to strip but checksums.
func TestStripCut(t *testing.T) {
	whole := ethernet("0800", rocev2over4())
	for n := 42; n < 54; n++ {
		s := Stripper{}
		f := Frame{Data: whole[:n], WireLen: len(whole), Link: LinkEthernet}
		got := s.Strip(&f)
		want := slices.Clone(whole[:n])
		want[40], want[41] = 0, 0 // UDP checksum
		if got == nil || !slices.Equal(got.Data, want) || got.WireLen != len(whole) {
			t.Errorf("%d bytes: %+v", n, got)
		}
	}
}
