package report

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// eachPacket visits the packets of the captures that the project ships.
func eachPacket(t *testing.T, visit func(name string, p *Packet)) {
	t.Helper()
	files, _ := filepath.Glob("../testdata/cases/*.pcap*")
	more, _ := filepath.Glob("../testdata/pcaps/*.pcap*")
	packets := 0
	for _, name := range append(files, more...) {
		r, err := capture.Open(name)
		if err != nil {
			continue // some cases are not captures at all
		}
		var (
			f       dissect.Frame
			found   dissect.Packet
			locator dissect.Locator
			p       Packet
		)
		for {
			err := r.Next(&f)
			if errors.Is(err, io.EOF) || err != nil {
				break
			}
			if outcome := locator.Locate(&f, &found); outcome == dissect.Found || outcome == dissect.Cut {
				p.Decode(&f, &found)
				visit(filepath.Base(name)+" frame "+strconv.Itoa(f.Number), &p)
				packets++
			}
		}
		r.Close()
	}
	if packets < 10_000 {
		t.Fatalf("only %d packets in the shipped captures", packets)
	}
}

// What --json=full prints makes the same frame again, by what docs/output.md
// says and nothing else.
func TestFullJSONMakesTheSameBytes(t *testing.T) {
	failed := 0
	eachPacket(t, func(name string, p *Packet) {
		line := JSON{Full: true}.Append(nil, p)
		var o map[string]any
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&o); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, line)
		}
		if got := rebuild(t, o); !bytes.Equal(got, p.Frame.Data) && failed < 10 {
			failed++
			t.Errorf("%s: %s makes\n%x, captured was\n%x", name, line, got, p.Frame.Data)
		}
	})
}

// Both bits and both tags of a double tag, a reserved bit of the BTH, IPv4
// options and a trailer: what shipped captures do not have all at once.
func TestFullJSONOfRareFrame(t *testing.T) {
	data := slices.Concat(writeFrame[:12], []byte{0x88, 0xa8, 0xf0, 0x07, 0x81, 0x00, 0x30, 0x64, 0x08, 0x00},
		[]byte{0x46}, writeFrame[15:17], []byte{68}, writeFrame[18:34], []byte{1, 1, 1, 0}, writeFrame[34:], []byte{9, 9})
	bth := 12 + 10 + 24 + 8
	data[bth+4], data[bth+8] = 0x3f, 0xff
	p := located(t, data)
	line := JSON{Full: true}.Append(nil, p)
	for _, want := range []string{
		`"vlan":[{"tpid":34984,"pcp":7,"dei":1,"id":7},{"tpid":33024,"pcp":1,"dei":1,"id":100}]`,
		`"options":"01010100"`, `"rsv6":63`, `"rsv4":15`, `"trailer":"0909"`,
	} {
		if !bytes.Contains(line, []byte(want)) {
			t.Errorf("no %s in %s", want, line)
		}
	}
	var o map[string]any
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		t.Fatal(err)
	}
	if got := rebuild(t, o); !bytes.Equal(got, data) {
		t.Errorf("%s makes\n%x, captured was\n%x", line, got, data)
	}
}

// rebuild makes a frame of an object as docs/output.md describes it.
func rebuild(t *testing.T, o map[string]any) []byte {
	t.Helper()
	var b []byte
	if eth, ok := o["eth"].(map[string]any); ok {
		for _, key := range []string{"dst", "src"} {
			mac, err := net.ParseMAC(eth[key].(string))
			if err != nil {
				t.Fatal(err)
			}
			b = append(b, mac...)
		}
		tags, _ := o["vlan"].([]any)
		for _, tag := range tags {
			tag := tag.(map[string]any)
			b = binary.BigEndian.AppendUint16(b, uint16(number(t, tag["tpid"])))
			b = binary.BigEndian.AppendUint16(b, uint16(number(t, tag["pcp"])<<13|number(t, tag["dei"])<<12|number(t, tag["id"])))
		}
		b = binary.BigEndian.AppendUint16(b, uint16(number(t, eth["type"])))
	}
	b = append(b, unhex(t, o["encap"])...)
	if ip, ok := o["ip"].(map[string]any); ok {
		b = append(b, rebuildIP(t, ip)...)
	}
	if udp, ok := o["udp"].(map[string]any); ok {
		for _, key := range []string{"srcport", "dstport", "length", "checksum"} {
			b = binary.BigEndian.AppendUint16(b, uint16(number(t, udp[key])))
		}
	}
	for _, h := range codec.Headers()[:codec.HeaderCNP+1] { // those of management datagrams are part of the payload
		if v, ok := o[h.Key()]; ok {
			b = append(b, rebuildHeader(t, h, v)...)
		}
	}
	for _, key := range []string{"payload", "pad", "icrc_bytes", "trailer"} {
		b = append(b, unhex(t, o[key])...)
	}
	return b
}

func rebuildIP(t *testing.T, ip map[string]any) []byte {
	n := func(key string) uint64 { return number(t, ip[key]) }
	u16 := func(b []byte, v uint64) []byte { return binary.BigEndian.AppendUint16(b, uint16(v)) }
	var b []byte
	if n("version") == 4 {
		b = append(b, byte(4<<4|n("hdr_len")/4), byte(n("dsfield")))
		b = u16(u16(u16(b, n("len")), n("id")), n("flags")<<13|n("frag_offset"))
		b = u16(append(b, byte(n("ttl")), byte(n("proto"))), n("checksum"))
	} else {
		b = binary.BigEndian.AppendUint32(b, uint32(6<<28|n("tclass")<<20|n("flow")))
		b = append(u16(b, n("plen")), byte(n("nxt")), byte(n("hlim")))
	}
	for _, key := range []string{"src", "dst"} {
		b = append(b, netip.MustParseAddr(ip[key].(string)).AsSlice()...)
	}
	b = append(b, unhex(t, ip["options"])...)
	return append(b, unhex(t, ip["extensions"])...)
}

// rebuildHeader puts the fields of a header where docs/fields.md says that they
// lie.
func rebuildHeader(t *testing.T, h codec.Header, v any) []byte {
	t.Helper()
	object, ok := v.(map[string]any)
	if !ok { // immediate data
		return binary.BigEndian.AppendUint32(nil, uint32(number(t, v)))
	}
	b := make([]byte, h.Len())
	if length, ok := object["length"]; ok {
		b = b[:number(t, length)]
	}
	for _, f := range h.Fields() {
		key := f.Key
		if key == "" {
			key = strings.ToLower(f.Name)
		}
		if f.Bits == 128 {
			copy(b[f.Off/8:], netip.MustParseAddr(object[key].(string)).AsSlice())
			continue
		}
		if f.Off+f.Bits > 8*len(b) {
			continue
		}
		value := number(t, object[key])
		for bit := range f.Bits {
			if value>>(f.Bits-1-bit)&1 != 0 {
				b[(f.Off+bit)/8] |= 0x80 >> ((f.Off + bit) % 8)
			}
		}
	}
	return b
}

// number reads a JSON number, or a string "0x..." of 64 bits.
func number(t *testing.T, v any) uint64 {
	t.Helper()
	text, ok := v.(string)
	if !ok {
		text = v.(json.Number).String()
	}
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func unhex(t *testing.T, v any) []byte {
	t.Helper()
	text, _ := v.(string)
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
