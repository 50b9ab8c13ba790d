package frame

import (
	"bytes"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"net/netip"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
)

// vectors are frames of real hardware: a NIC's CNP, a NIC's RoCEv1
// acknowledgement, and one of an InfiniBand link, VCRC included.
var vectors = []struct {
	name, frame string
	header      Header
	vary        Vary
}{
	{"CNP", "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201000012b7002800008100ffff40000118000000000000000000000000000000000000000082fd002a",
		Header{Carrier: codec.RoCEv2IPv4, SrcMAC: mac("7cfe90643b32"), DstMAC: mac("e41d2dab2bc2"), TClass: 0xc2, HopLimit: 64,
			Src: netip.MustParseAddr("10.0.17.1"), Dst: netip.MustParseAddr("10.0.18.1")}, Vary{SrcPort: 0, ID: 0x718c}},
	{"RoCEv1", "7cfe90753cd87cfe90753cd889156020000000141b4000000000000000000000ffff0f00000200000000000000000000ffff0f0000021140ffff0000010900a788c00000000525f0c038",
		Header{Carrier: codec.RoCEv1, SrcMAC: mac("7cfe90753cd8"), DstMAC: mac("7cfe90753cd8"), TClass: 2, HopLimit: 64,
			Src: netip.MustParseAddr("15.0.0.2"), Dst: netip.MustParseAddr("15.0.0.2")}, Vary{}},
	{"InfiniBand", "00020004000700011140ffff0087040800d40a551f000001a80355503081",
		Header{Carrier: codec.InfiniBand, SLID: 1, DLID: 4}, Vary{}},
}

func mac(s string) (m [6]byte) {
	b, _ := hex.DecodeString(s)
	copy(m[:], b)
	return m
}

func TestFramesOfHardware(t *testing.T) {
	for _, v := range vectors {
		want, err := hex.DecodeString(v.frame)
		if err != nil {
			t.Fatal(err)
		}
		f, err := New(&v.header)
		if err != nil {
			t.Fatal(err)
		}
		var p codec.Packet
		end := len(want)
		if v.header.Carrier == codec.InfiniBand {
			end -= 2
		}
		if err := p.Decode(want[len(f.head):end], end-len(f.head)); err != nil {
			t.Fatal(err)
		}
		p.Pad = nil
		got, err := f.Append([]byte("before"), &p, v.vary, 1<<16)
		if err != nil || !bytes.Equal(got[6:], want) {
			t.Errorf("%s: %v\n%x\nwant\n%x", v.name, err, got[6:], want)
		}
		if n := f.Len(&p); n != len(want) {
			t.Errorf("%s: Len is %d, want %d", v.name, n, len(want))
		}
		for snap := range len(want) {
			if got, err := f.Append(nil, &p, v.vary, snap); err != nil || !bytes.Equal(got, want[:snap]) {
				t.Errorf("%s cut to %d: %x, %v", v.name, snap, got, err)
			}
		}
	}
}

// write is a packet with a payload that needs pad.
func write() *codec.Packet {
	p := &codec.Packet{Headers: codec.Op(codec.RC, codec.WriteOnly).Headers(), Payload: bytes.Repeat([]byte{0x5a}, 1021)}
	p.BTH = codec.BTH{Opcode: codec.Op(codec.RC, codec.WriteOnly), PadCnt: 3, PKey: 0xffff, DestQP: 0x11, PSN: 1000}
	p.RETH = codec.RETH{VA: 0x1000, RKey: 7, DMALen: 1021}
	return p
}

func ipv4() Header {
	return Header{Carrier: codec.RoCEv2IPv4, TClass: 2, HopLimit: 64, Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2")}
}

func ipv6() Header {
	return Header{Carrier: codec.RoCEv2IPv6, TClass: 2, HopLimit: 64, FlowLabel: 0x12345, Src: netip.MustParseAddr("2001:db8::1"), Dst: netip.MustParseAddr("2001:db8::2")}
}

// ones is the Internet checksum over whole words, which is zero where the
// checksum is among them (RFC 1071).
func ones(b []byte) uint16 {
	var s uint64
	for i, v := range b {
		s += uint64(v) << (8 * (1 - i%2))
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return ^uint16(s)
}

// The ICRC of IPv4 as the specification words it, without this project's code.
func plainICRC(frame []byte) []byte {
	ip := append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, frame[14:len(frame)-4]...)
	for _, i := range []int{1, 8, 10, 11, 26, 27, 32} { // TOS, TTL, both checksums, BTH byte 4
		ip[8+i] = 0xff
	}
	crc := crc32.ChecksumIEEE(ip)
	return []byte{byte(crc), byte(crc >> 8), byte(crc >> 16), byte(crc >> 24)}
}

func TestIPv4(t *testing.T) {
	h := ipv4()
	f, err := New(&h)
	if err != nil {
		t.Fatal(err)
	}
	for id := range 70000 { // the checksum carries in all ways
		b, err := f.Append(nil, write(), Vary{SrcPort: 49152, ID: uint16(id)}, 60)
		if err != nil || ones(b[14:34]) != 0 {
			t.Fatalf("ID %d: checksum of % x, %v", id, b[14:34], err)
		}
	}
	b, err := f.Append(nil, write(), Vary{SrcPort: 49152, ID: 9}, 1<<16)
	if err != nil || len(b) != 14+20+8+12+16+1021+3+4 {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	if be.Uint16(b[16:]) != uint16(len(b)-14) || be.Uint16(b[38:]) != uint16(len(b)-34) {
		t.Errorf("IP length %d, UDP length %d of a frame of %d", be.Uint16(b[16:]), be.Uint16(b[38:]), len(b))
	}
	if got, want := b[len(b)-4:], plainICRC(b); !bytes.Equal(got, want) {
		t.Errorf("ICRC % x, want % x", got, want)
	}
	if !f.MarkCE(b) || b[15] != 3 || ones(b[14:34]) != 0 {
		t.Errorf("marked: TOS %d, checksum of % x", b[15], b[14:34])
	}
	if got, want := b[len(b)-4:], plainICRC(b); !bytes.Equal(got, want) {
		t.Errorf("marked: ICRC % x, want % x", got, want)
	}
}

func TestIPv6(t *testing.T) {
	h := ipv6()
	f, err := New(&h)
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.Append(nil, write(), Vary{SrcPort: 49152}, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	udp := b[54:]
	pseudo := append(append([]byte{}, b[22:54]...), 0, 0, udp[4], udp[5], 0, 0, 0, 17)
	if ones(append(pseudo, udp...)) != 0 || be.Uint16(udp[6:]) == 0 {
		t.Errorf("UDP checksum %#x is wrong", be.Uint16(udp[6:]))
	}
	if int(be.Uint16(b[18:])) != len(udp) {
		t.Errorf("IPv6 length %d of %d", be.Uint16(b[18:]), len(udp))
	}
	if cut, err := f.Append(nil, write(), Vary{SrcPort: 49152}, 70); err != nil || !bytes.Equal(cut, b[:70]) {
		t.Errorf("cut: %x, %v", cut, err)
	}
	if !f.MarkCE(b) || b[14]&15 != 0 || b[15] != 0x31 || b[16] != 0x23 {
		t.Errorf("marked: % x", b[14:18])
	}
}

func TestVLAN(t *testing.T) {
	h := ipv4()
	h.VLAN = []uint16{100, 0x6007}
	f, err := New(&h)
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.Append(nil, write(), Vary{}, 40)
	if want := "88a80064" + "81006007" + "0800" + "4502"; err != nil || hex.EncodeToString(b[12:24]) != want {
		t.Errorf("% x, %v, want %s", b[12:24], err, want)
	}
}

func TestNotECT(t *testing.T) {
	for _, h := range []Header{ipv4(), ipv6()} {
		h.TClass = 0x60
		f, err := New(&h)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := f.Append(nil, write(), Vary{}, 100)
		was := bytes.Clone(b)
		if f.MarkCE(b) || !bytes.Equal(b, was) {
			t.Error("a frame whose sender takes no part in ECN was marked")
		}
	}
}

func TestHeadersThatMakeNoFrame(t *testing.T) {
	for want, h := range map[string]Header{
		"carrier: no such frame: 9":                                               {Carrier: 9},
		"VLAN: no such frame: 3 tags, at most 2":                                  {VLAN: make([]uint16, 3)},
		"VLAN: no such frame: InfiniBand has none":                                {Carrier: codec.InfiniBand, VLAN: []uint16{1}},
		"address: no such frame: want two IPv4 addresses, not ::1 and invalid IP": {Src: netip.IPv6Loopback()},
		"address: no such frame: want two IPv6 addresses, not 0.0.0.0 and ::":     {Carrier: codec.RoCEv2IPv6, Src: netip.IPv4Unspecified(), Dst: netip.IPv6Unspecified()},
		"address: no such frame: source and destination are wanted":               {Carrier: codec.RoCEv1},
		"flow label: no such frame: 0x100000 is more than 20 bits":                {Carrier: codec.InfiniBand, FlowLabel: 1 << 20},
		"service level: no such frame: 16 is more than 4 bits":                    {Carrier: codec.InfiniBand, SL: 16},
	} {
		if _, err := New(&h); !errors.Is(err, ErrHeader) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestAppendKeepsBOnError(t *testing.T) {
	h := ipv4()
	f, _ := New(&h)
	p := write()
	p.BTH.DestQP = 1 << 24
	if b, err := f.Append([]byte{1}, p, Vary{}, 1<<16); !errors.Is(err, codec.ErrRange) || len(b) != 1 {
		t.Errorf("%x, %v", b, err)
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	h := ipv4()
	f, _ := New(&h)
	p, b := write(), make([]byte, 0, 2048)
	if n := testing.AllocsPerRun(100, func() { b, _ = f.Append(b[:0], p, Vary{SrcPort: 1, ID: 2}, 1<<16) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAppend(b *testing.B) {
	h := ipv4()
	f, _ := New(&h)
	p, buf := write(), make([]byte, 0, 2048)
	b.SetBytes(int64(f.Len(p)))
	for b.Loop() {
		buf, _ = f.Append(buf[:0], p, Vary{SrcPort: 1, ID: 2}, 1<<16)
	}
}
