package capture

import (
	"math"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
)

// Sections of either byte order follow each other, each with interfaces of its
// own, whose link types and clocks differ.
func TestSections(t *testing.T) {
	first := ngBuilder{order: little}
	first.section()
	first.iface(1, 0, option{2, []byte("eth0\x00junk")}, option{9, []byte{9}})
	first.iface(276, 96)
	first.enhanced(1, 1700000000000001, 100, data(5, 1))
	first.enhanced(0, 1700000000000000001, 5, data(5, 2))
	first.block(0x40000bad, data(70000, 0)) // custom
	first.block(0)
	second := ngBuilder{order: bigEnd}
	second.section()
	second.enhancedLater()
	second.iface(247, 0, option{9, []byte{0x94}}, option{14, bigEnd.AppendUint64(nil, 1699999000)})
	second.enhanced(0, 1000<<20|1<<19, 2, data(5, 3), option{1, []byte("comment")}, option{2, make([]byte, 4)})
	second.simple(3, data(3, 4))

	frames, info, err := readBytes(append(first.out, second.out...))
	if err != nil {
		t.Fatal(err)
	}
	sameFrames(t, frames, []dissect.Frame{
		{Data: data(5, 1), WireLen: 100, Time: 1700000000_000001000, Link: 276, Number: 1, Interface: 1},
		{Data: data(5, 2), WireLen: 5, Time: 1700000000_000000001, Link: 1, Number: 2, Interface: 0},
		{Data: data(5, 3), WireLen: 5, Time: 1700000000_500000000, Link: 247, Number: 3, Interface: 2},
		{Data: data(3, 4), WireLen: 3, Time: 0, Link: 247, Number: 4, Interface: 2},
	})
	want := []Interface{{Name: "eth0", Link: 1}, {Link: 276, SnapLen: 96}, {Link: 247}}
	if len(info.Interfaces) != len(want) {
		t.Fatalf("interfaces %+v", info.Interfaces)
	}
	for i, in := range info.Interfaces {
		if in != want[i] {
			t.Errorf("interface %d: %+v, want %+v", i, in, want[i])
		}
	}
}

// enhancedLater is a block that no reader needs, between section and interface.
func (n *ngBuilder) enhancedLater() { n.block(0x0000000a, data(12, 0)) }

func TestSimplePacketSnaplen(t *testing.T) {
	ng := ngBuilder{order: little}
	ng.section()
	ng.iface(1, 6)
	ng.simple(100, data(6, 0))
	frames, _, err := readBytes(ng.out)
	if err != nil {
		t.Fatal(err)
	}
	sameFrames(t, frames, []dissect.Frame{{Data: data(6, 0), WireLen: 100, Link: 1, Number: 1}})
}

// Statistics count from the start of the capture, so several of one interface
// are not added up; those of several interfaces are.
func TestDrops(t *testing.T) {
	ng := ngBuilder{order: little}
	ng.section()
	ng.iface(1, 0)
	ng.iface(1, 0)
	ng.iface(1, 0)
	ng.statistics(0, ng.count(4, 1000), ng.count(5, 3), ng.count(7, 10))
	ng.statistics(0, ng.count(5, 4), ng.count(7, 11))
	ng.statistics(1, ng.count(7, 100), ng.count(8, 5000))
	ng.statistics(2)
	ng.enhanced(2, 1, 1, data(1, 0), ng.count(4, 1000))
	ng.obsolete(2, 2000, 1, 1, data(1, 0))
	ng.obsolete(2, 0xffff, 1, 1, data(1, 0))
	ng.enhanced(1, 1, 1, data(1, 0), ng.count(4, 99)) // of the 100
	ng.section()
	ng.iface(1, 0)
	ng.statistics(0, ng.count(7, 20000))
	ng.statistics(7, ng.count(5, 100000)) // of no interface
	_, info, err := readBytes(ng.out)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []uint64{15, 100, 3000, 20000} {
		if info.Interfaces[i].Drops != want {
			t.Errorf("interface %d: %d drops, want %d", i, info.Interfaces[i].Drops, want)
		}
	}
	if info.Drops != 123115 {
		t.Errorf("%d drops, want 123115", info.Drops)
	}

	ng.statistics(0, ng.count(5, math.MaxUint64), ng.count(7, math.MaxUint64))
	if _, info, err = readBytes(ng.out); err != nil || info.Drops != math.MaxUint64 {
		t.Error(info.Drops, err)
	}
}

func TestPcapngFaults(t *testing.T) {
	// 28 bytes of section, 20 of interface, then what build adds after a frame
	// of 36 bytes, which ends at 84.
	file := func(build func(*ngBuilder)) []byte {
		ng := ngBuilder{order: little}
		ng.section()
		ng.iface(1, 0)
		ng.enhanced(0, 1, 4, data(4, 0))
		build(&ng)
		ng.enhanced(0, 1, 4, data(4, 0))
		return ng.out
	}
	put := func(at int, v uint32) func(*ngBuilder) {
		return func(ng *ngBuilder) {
			ng.enhanced(0, 1, 4, data(4, 0))
			little.PutUint32(ng.out[84+at:], v)
		}
	}
	for _, c := range []struct {
		name   string
		build  func(*ngBuilder)
		kind   error
		offset int64
		field  string
		text   string
	}{
		{"zero length", put(4, 0), ErrDamaged, 88, "block total length",
			"x: frame 2: block total length of the enhanced packet block is 0, less than its 32 (at byte 88)"},
		{"odd length", put(4, 35), ErrDamaged, 88, "block total length",
			"x: frame 2: block total length of the enhanced packet block is 35, no multiple of 4 (at byte 88)"},
		{"huge length", put(4, 0xfffffffc), ErrDamaged, 88, "block total length",
			"x: frame 2: block total length of the enhanced packet block is 4294967292, more than the 16777216 that are believed (at byte 88)"},
		{"lengths differ", put(32, 40), ErrDamaged, 116, "block total length",
			"x: frame 2: block total length of the enhanced packet block is 40 at its end and 36 at its start (at byte 116)"},
		{"captured length", put(20, 0xffffffff), ErrDamaged, 104, "captured length",
			"x: frame 2: captured length 4294967295 is more than the 4 bytes that the block has for it (at byte 104)"},
		{"captured length, by one", put(20, 5), ErrDamaged, 104, "captured length",
			"x: frame 2: captured length 5 is more than the 4 bytes that the block has for it (at byte 104)"},
		{"interface", put(8, 7), ErrDamaged, 92, "interface ID",
			"x: frame 2: interface ID 7 is not among the 1 interface of the section (at byte 92)"},
		{"obsolete, interface", func(ng *ngBuilder) { ng.obsolete(1, 0, 1, 4, data(4, 0)) }, ErrDamaged, 92, "interface ID",
			"x: frame 2: interface ID 1 is not among the 1 interface of the section (at byte 92)"},
		{"unknown block, zero length", func(ng *ngBuilder) { ng.block(99); little.PutUint32(ng.out[88:], 0) }, ErrDamaged, 88, "block total length",
			"x: frame 2: block total length of the block of type 0x63 is 0, less than its 12 (at byte 88)"},
		{"unknown block, lengths differ", func(ng *ngBuilder) { ng.block(99); little.PutUint32(ng.out[92:], 16) }, ErrDamaged, 92, "block total length",
			"x: frame 2: block total length of the block of type 0x63 is 16 at its end and 12 at its start (at byte 92)"},
		{"unknown block, 4 GiB", func(ng *ngBuilder) { ng.block(99); little.PutUint32(ng.out[88:], 0xfffffffc) }, ErrCut, 84, "block of type 0x63",
			"x: frame 2: capture ends in the middle of the block of type 0x63: 48 of 4294967292 bytes (at byte 84)"},
		{"section, byte order", func(ng *ngBuilder) { ng.section(); ng.out[92] = 0 }, ErrDamaged, 92, "byte-order magic",
			"x: frame 2: byte-order magic is 00 3c 2b 1a (at byte 92)"},
		{"section, version", func(ng *ngBuilder) { ng.section(); ng.out[96] = 2 }, ErrDamaged, 96, "pcapng version",
			"x: frame 2: pcapng version 2.0 is not supported, only version 1 is (at byte 96)"},
		{"new section without interfaces", func(ng *ngBuilder) { ng.section() }, ErrDamaged, 120, "interface ID",
			"x: frame 2: interface ID 0 is not among the 0 interfaces of the section (at byte 120)"},
		{"simple, no interface", func(ng *ngBuilder) { ng.section(); ng.simple(4, data(4, 0)) }, ErrDamaged, 112, "simple packet block",
			"x: frame 2: simple packet block comes before any interface description block (at byte 112)"},
		{"simple, length", func(ng *ngBuilder) { ng.simple(5, data(4, 0)) }, ErrDamaged, 92, "length on the wire",
			"x: frame 2: length on the wire 5 is more than the 4 bytes that the block has for it (at byte 92)"},
		{"if_tsresol", func(ng *ngBuilder) { ng.iface(1, 0, option{9, []byte{9, 9}}) }, ErrDamaged, 100, "option if_tsresol",
			"x: frame 2: option if_tsresol has 2 bytes (at byte 100)"},
		{"option past its block", func(ng *ngBuilder) {
			ng.iface(1, 0, option{2, []byte("eth0")})
			ng.out[102] = 9
		}, ErrDamaged, 100, "option",
			"x: frame 2: option 2 of 9 bytes reaches past its block (at byte 100)"},
		{"isb_osdrop", func(ng *ngBuilder) { ng.statistics(0, option{7, data(4, 0)}) }, ErrDamaged, 104, "option isb_osdrop",
			"x: frame 2: option isb_osdrop has 4 bytes (at byte 104)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			frames, _, err := readBytes(file(c.build))
			if len(frames) != 1 {
				t.Errorf("%d frames, want 1", len(frames))
			}
			fault(t, err, c.kind, 2, c.offset, c.field)
			if err.Error() != c.text {
				t.Errorf("says  %s\nwant  %s", err, c.text)
			}
		})
	}
}

// Options of a packet do not make the packet worse.
func TestPacketOptionsDamaged(t *testing.T) {
	ng := ngBuilder{order: little}
	ng.section()
	ng.iface(1, 0)
	ng.enhanced(0, 1, 4, data(4, 0), option{4, data(8, 0)})
	ng.out[len(ng.out)-4-4-8-2] = 200 // length
	frames, info, err := readBytes(ng.out)
	if err != nil || len(frames) != 1 || info.Drops != 0 {
		t.Error(frames, info.Drops, err)
	}
}

func TestInterfacesBounded(t *testing.T) {
	ng := ngBuilder{order: little}
	for range maxInterfaces + 1 {
		ng.section()
		ng.iface(1, 0)
	}
	_, info, err := readBytes(ng.out)
	fault(t, err, ErrDamaged, 1, maxInterfaces*48+28, "interface description block")
	if len(info.Interfaces) != maxInterfaces {
		t.Error(len(info.Interfaces))
	}
}
