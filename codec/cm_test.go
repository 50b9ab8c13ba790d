package codec

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// structOf is the datagram's struct of a header.
func (m *CM) structOf(h Header) any {
	return reflect.ValueOf(m).Elem().FieldByName(reflect.TypeOf(structs[h]()).Elem().Name()).Addr().Interface()
}

func TestCMVectors(t *testing.T) {
	var m CM // dirty from the vector before
	seen := map[string]bool{}
	for _, v := range vectors(t, "cm.txt") {
		if err := m.Decode(v.raw); err != nil {
			t.Errorf("%s: %v", v.at, err)
			continue
		}
		seen[m.Attribute.String()] = true
		words := append(headerWords(m.Headers, m.structOf), fmt.Sprintf("private=%d", len(m.PrivateData)))
		if got, want := strings.Join(words, " "), strings.Join(v.words, " "); got != want {
			t.Errorf("%s: decodes to\n%s\nwant\n%s", v.at, got, want)
		}
		if out, err := m.AppendBinary(nil); err != nil || !bytes.Equal(out, v.raw) {
			t.Errorf("%s: encodes to %x, %v", v.at, out, err)
		}
		for n := range len(v.raw) {
			err := m.Decode(v.raw[:n:n])
			if err != nil && !errors.Is(err, ErrTruncated) {
				t.Fatalf("%s: %d bytes: %v", v.at, n, err)
			}
			if out, err := m.AppendBinary(nil); err != nil || !bytes.Equal(out, v.raw[:n]) {
				t.Fatalf("%s: %d bytes encode to %x, %v", v.at, n, out, err)
			}
		}
		if n := testing.AllocsPerRun(10, func() { _ = m.Decode(v.raw) }); n != 0 {
			t.Errorf("%s: %v allocations", v.at, n)
		}
	}
	for _, name := range []string{"REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ"} {
		if !seen[name] {
			t.Errorf("no vector of a %s", name)
		}
	}
}

func TestAttributeNames(t *testing.T) {
	for i, want := range []string{"Attribute(0x000f)", "REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP", "Attribute(0x0019)"} {
		if got := Attribute(0xf + i).String(); got != want {
			t.Errorf("attribute %#x is %q, want %q", 0xf+i, got, want)
		}
	}
}

func TestNotConnectionManagement(t *testing.T) {
	raw := make([]byte, MADLen)
	raw[0], raw[1], raw[17] = 1, 3, 0x10 // subnet administration
	var m CM
	if err := m.Decode(raw); !errors.Is(err, ErrOpcode) || m.Headers != Set(HeaderMAD) || m.Class != 3 || len(m.PrivateData) != 232 {
		t.Errorf("class 3: %v, headers %v", err, m.Headers)
	}
	for _, attribute := range []byte{0x0f, 0x19, 0xff} {
		raw[1], raw[17] = ClassCM, attribute
		if err := m.Decode(raw); !errors.Is(err, ErrOpcode) || m.Headers != Set(HeaderMAD) {
			t.Errorf("attribute %#x: %v, headers %v", attribute, err, m.Headers)
		}
	}
}

func TestServiceIDPort(t *testing.T) {
	for id, want := range map[ServiceID]uint16{0x0000000001064853: 0x4853, 0x0000000001110001: 1} {
		if port, ok := id.Port(); port != want || !ok {
			t.Errorf("%#x: port %d, %v, want %d", id, port, ok, want)
		}
	}
	for _, id := range []ServiceID{0, 0x4853, 0x0000000002064853, 0x0100000001064853} {
		if port, ok := id.Port(); ok || port != 0 {
			t.Errorf("%#x has port %d", id, port)
		}
	}
}

func TestIPCMAddrs(t *testing.T) {
	v4 := IPCM{IPVersion: 4, SrcAddr: [16]byte{12: 192, 0, 2, 1}, DstAddr: [16]byte{12: 192, 0, 2, 2}}
	if src, dst := v4.Addrs(); src != netip.MustParseAddr("192.0.2.1") || dst != netip.MustParseAddr("192.0.2.2") {
		t.Errorf("%v, %v", src, dst)
	}
	v6 := IPCM{IPVersion: 6, SrcAddr: [16]byte{0x20, 1, 0xd, 0xb8, 15: 1}, DstAddr: [16]byte{0x20, 1, 0xd, 0xb8, 15: 2}}
	if src, dst := v6.Addrs(); src != netip.MustParseAddr("2001:db8::1") || dst != netip.MustParseAddr("2001:db8::2") {
		t.Errorf("%v, %v", src, dst)
	}
}

// The rate stands behind the IPCM header where there is one, else first, and
// only one of the known version is taken for it.
func TestRateAdvertisement(t *testing.T) {
	ad := []byte{'T', 'C', 'A', 'E', 1, 0, 0, 0, 0, 0x0f, 0x42, 0x40} // a million packets a second
	datagram := func(a Attribute, id ServiceID, at int, ad []byte) []byte {
		raw := make([]byte, MADLen)
		raw[0], raw[1], raw[2], raw[3], raw[17] = 1, ClassCM, 2, 3, byte(a)
		be.PutUint64(raw[24+8:], uint64(id))
		copy(raw[24+at:], ad)
		return raw
	}
	other := bytes.Clone(ad)
	other[4] = 2
	for _, tc := range []struct {
		what string
		raw  []byte
		want HeaderSet
	}{
		{"REQ of RDMA IP CM", datagram(AttributeREQ, 0x01064853, 140+36, ad), Set(HeaderREQ, HeaderIPCM, HeaderRate)},
		{"REQ of another service", datagram(AttributeREQ, 0x4853, 140, ad), Set(HeaderREQ, HeaderRate)},
		{"REP", datagram(AttributeREP, 0, 36, ad), Set(HeaderREP, HeaderRate)},
		{"RTU cannot carry it", datagram(AttributeRTU, 0, 8, ad), Set(HeaderRTU)},
		{"wrong place", datagram(AttributeREP, 0, 37, ad), Set(HeaderREP)},
		{"unknown version", datagram(AttributeREP, 0, 36, other), Set(HeaderREP)},
		{"IPCM header cut short", datagram(AttributeREQ, 0x01064853, 140+36, nil)[:24+140+35], Set(HeaderREQ)},
		{"cut short", datagram(AttributeREP, 0, 36, ad)[:24+36+11], Set(HeaderREP)},
	} {
		var m CM
		if err := m.Decode(tc.raw); err != nil || m.Headers != tc.want|Set(HeaderMAD) {
			t.Errorf("%s: headers %b, want %b, %v", tc.what, m.Headers, tc.want, err)
		}
		if m.Has(HeaderRate) && m.Rate.PacketsPerSecond != 1000000 {
			t.Errorf("%s: %d packets a second", tc.what, m.Rate.PacketsPerSecond)
		}
		if out, err := m.AppendBinary([]byte{9}); err != nil || !bytes.Equal(out[1:], tc.raw) {
			t.Errorf("%s: encodes to %x, %v", tc.what, out, err)
		}
	}
}

func TestCMRefusesForeignHeaders(t *testing.T) {
	m := CM{Headers: Set(HeaderMAD, HeaderBTH)}
	if out, err := m.AppendBinary([]byte{1}); !errors.Is(err, ErrRange) || len(out) != 1 {
		t.Errorf("%x, %v", out, err)
	}
}

// Whatever the bytes, encoding gives them back.
func TestCMEncodesWhatItDecoded(t *testing.T) {
	var m CM
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "bytes")
		if len(raw) > 18 && rapid.Bool().Draw(t, "CM") {
			raw[1], raw[16], raw[17] = ClassCM, 0, rapid.ByteRange(0x0e, 0x1a).Draw(t, "attribute")
		}
		if err := m.Decode(raw); err != nil && !isOurs(err) {
			t.Fatal(err)
		}
		if out, err := m.AppendBinary(nil); err != nil || !bytes.Equal(out, raw[:min(len(raw), MADLen)]) {
			t.Fatalf("encodes to %x, %v", out, err)
		}
	})
}
