package capture

import (
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
)

func TestPcapLinkType(t *testing.T) {
	p := pcapBuilder{order: bigEnd, magic: 0xa1b2c3d4}
	// 4 bytes of FCS, and every reserved bit set.
	frames, info, err := readBytes(p.record(p.file(0x4fff0093, 96), 1, 2, 9, data(9, 0)))
	if err != nil || len(frames) != 1 || frames[0].Link != 147 {
		t.Fatal(frames, err)
	}
	if in := info.Interfaces; len(in) != 1 || in[0] != (Interface{Link: 147, SnapLen: 96}) {
		t.Errorf("interfaces %+v", in)
	}
}

func TestPcapTimes(t *testing.T) {
	for _, c := range []struct {
		magic             uint32
		seconds, fraction uint32
		want              int64
	}{
		{0xa1b2c3d4, 1700000000, 1, 1700000000_000001000},
		{0xa1b23c4d, 1700000000, 1, 1700000000_000000001},
		{0xa1b2c3d4, 0xffffffff, 0xffffffff, 4294967295_000000000 + 4294967295_000},
	} {
		p := pcapBuilder{order: little, magic: c.magic}
		frames, _, err := readBytes(p.record(p.file(1, 0), c.seconds, c.fraction, 1, data(1, 0)))
		if err != nil || frames[0].Time != c.want {
			t.Errorf("%#x: %v, %v", c.magic, frames, err)
		}
	}
}

// What snaplen says bounds nothing that real packets have, and length on the
// wire is never below what was captured.
func TestPcapLengths(t *testing.T) {
	p := pcapBuilder{order: little, magic: 0xa1b2c3d4}
	for _, snaplen := range []uint32{0, 1, 96, 65535, 0xffffffff} {
		file := p.record(p.file(1, snaplen), 1, 1, 10, data(1500, 0))
		file = p.record(file, 1, 1, 0x7fffffff, data(200<<10, 3))
		frames, _, err := readBytes(file)
		if err != nil {
			t.Fatal(err)
		}
		sameFrames(t, frames, []dissect.Frame{
			{Data: data(1500, 0), WireLen: 1500, Time: 1e9 + 1000, Link: 1, Number: 1},
			{Data: data(200<<10, 3), WireLen: 0x7fffffff, Time: 1e9 + 1000, Link: 1, Number: 2},
		})
	}
}

func TestPcapFaults(t *testing.T) {
	p := pcapBuilder{order: little, magic: 0xa1b2c3d4}
	lie := func(snaplen, captured uint32) []byte {
		file := p.record(p.file(1, snaplen), 1, 1, 60, data(60, 0))
		file = p.record(file, 1, 1, 60, data(60, 0))
		little.PutUint32(file[24+76+8:], captured)
		return file
	}
	for _, c := range []struct {
		name   string
		file   []byte
		kind   error
		frame  int
		offset int64
		field  string
		text   string
	}{
		{"4 GiB", lie(0, 0xffffffff), ErrDamaged, 2, 108, "captured length",
			"x: frame 2: captured length 4294967295 is more than a packet can have, which is 16777216 (at byte 108)"},
		{"beyond any writer", lie(65535, 256<<10+1), ErrDamaged, 2, 108, "captured length",
			"x: frame 2: captured length 262145 is more than a packet can have, which is 262144 (at byte 108)"},
		{"beyond the end", lie(65535, 256<<10), ErrCut, 2, 116, "packet data",
			"x: frame 2: capture ends in the middle of the packet data: 60 of 262144 bytes (at byte 116)"},
		{"half a header", lie(0, 60)[:24+76+9], ErrCut, 2, 100, "packet header",
			"x: frame 2: capture ends in the middle of the packet header: 9 of 16 bytes (at byte 100)"},
		{"file header", lie(0, 60)[:10], ErrCut, 0, 0, "file header",
			"x: capture ends in the middle of the file header: 10 of 24 bytes (at byte 0)"},
		{"version", append([]byte{0xd4, 0xc3, 0xb2, 0xa1, 3}, make([]byte, 30)...), ErrDamaged, 0, 4, "pcap version",
			"x: pcap version 3.0 is not supported, only version 2 is (at byte 4)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := readBytes(c.file)
			fault(t, err, c.kind, c.frame, c.offset, c.field)
			if err.Error() != c.text {
				t.Errorf("says  %s\nwant  %s", err, c.text)
			}
		})
	}
}
