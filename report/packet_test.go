package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// writeFrame is an RDMA WRITE First over IPv4 to QP 0x111, PSN 100, with 4
// bytes of payload and a wrong ICRC; built by hand from the layouts of IBA.
var writeFrame = bytes.Join([][]byte{
	{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00},
	{0x45, 0x03, 0, 64, 1, 2, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2},
	{0xc0, 0, 0x12, 0xb7, 0, 44, 0, 0},
	{0x06, 0x40, 0xff, 0xff, 0, 0, 1, 0x11, 0x80, 0, 0, 100},
	{0, 0, 0x7f, 0, 0, 0, 0x10, 0, 0, 0, 0x12, 0x34, 0, 0, 8, 0},
	{1, 2, 3, 4},
	{0xde, 0xad, 0xbe, 0xef},
}, nil)

// located is the packet of a frame.
func located(t *testing.T, data []byte) *Packet {
	t.Helper()
	f := &dissect.Frame{Data: data, WireLen: len(data), Time: 1_700_000_000_000_001_000, Link: dissect.LinkEthernet, Number: 7}
	var locator dissect.Locator
	found := new(dissect.Packet)
	if outcome := locator.Locate(f, found); outcome != dissect.Found {
		t.Fatal(outcome)
	}
	p := new(Packet)
	p.Decode(f, found)
	return p
}

func TestJSON(t *testing.T) {
	// the contract's own example, with this frame's values
	want := `{"frame":7,"time":"1700000000.000001000","carrier":"rocev2","src":"192.0.2.1","dst":"192.0.2.2","sport":49152,` +
		`"opcode_name":"RC RDMA WRITE First","bth":{"opcode":6,"se":0,"m":1,"padcnt":0,"tver":0,"p_key":65535,"fecn":0,"becn":0,` +
		`"destqp":273,"a":1,"psn":100},"reth":{"va":"0x00007f0000001000","r_key":4660,"dmalen":2048},"payload_len":4,"icrc":"bad"}` + "\n"
	if got := string(JSON{}.Append(nil, located(t, writeFrame))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestJSONOfBrokenPacket(t *testing.T) {
	cut := bytes.Clone(writeFrame[:14+20+8+12+9])
	p := located(t, cut)
	p.Frame.WireLen = len(writeFrame)
	line := JSON{}.Append(nil, p)
	var o map[string]any
	if err := json.Unmarshal(line, &o); err != nil {
		t.Fatal(err)
	}
	if o["error"] != "RETH: truncated: 9 of 16 bytes" || o["reth"] != nil || o["payload_len"] != nil || o["icrc"] != "absent" {
		t.Errorf("got %s", line)
	}
}

func TestLine(t *testing.T) {
	lines := Lines{Origin: 1_700_000_000_000_000_000}
	got := string(lines.Append(nil, located(t, writeFrame)))
	want := "    7  0.000001000  192.0.2.1 > 192.0.2.2  qp 0x000111  psn 100    RC RDMA WRITE First     4 B  va 0x7f0000001000 rkey 0x1234 dmalen 2048 ackreq CE ICRC BAD\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	colored := Lines{Style: Colored(), Origin: lines.Origin}
	if plain := stripColor(string(colored.Append(nil, located(t, writeFrame)))); plain != want {
		t.Errorf("colour changes the text: %s", plain)
	}
	lines.Origin += 5000
	if got := string(lines.Append(nil, located(t, writeFrame))); !strings.Contains(got, " -0.000004000 ") {
		t.Errorf("a packet before the first frame: %s", got)
	}
}

// Printing a packet allocates nothing once the buffer is there.
func TestPrintingDoesNotAllocate(t *testing.T) {
	p := located(t, writeFrame)
	buf := make([]byte, 0, 4096)
	lines := Lines{}
	for name, print := range map[string]func(){
		"decode":    func() { p.Decode(p.Frame, p.Outer) },
		"JSON":      func() { JSON{}.Append(buf, p) },
		"full JSON": func() { JSON{Full: true}.Append(buf, p) },
		"line":      func() { lines.Append(buf, p) },
	} {
		if n := testing.AllocsPerRun(100, print); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// Any text is a JSON string.
func TestAppendString(t *testing.T) {
	for _, s := range []string{"", "plain", `quote " and \`, "tab\tnewline\n", "\x00", "é", "\xff", "\u2028"} {
		var got string
		b := appendString(nil, s)
		if err := json.Unmarshal(b, &got); err != nil || got != strings.ToValidUTF8(s, "\ufffd") {
			t.Errorf("%q becomes %s: %v", s, b, err)
		}
	}
}

// Every packet of every shipped capture, in every form.
func TestEveryPacketIsOneLine(t *testing.T) {
	lines := Lines{}
	eachPacket(t, func(name string, p *Packet) {
		for _, b := range [][]byte{lines.Append(nil, p), JSON{}.Append(nil, p)} {
			if bytes.Count(b, []byte("\n")) != 1 || b[len(b)-1] != '\n' {
				t.Fatalf("%s: %q", name, b)
			}
		}
		if tree := AppendTree(nil, p, Style{}); p.Has(codec.HeaderBTH) && !bytes.Contains(tree, []byte("bth.psn ")) {
			t.Fatalf("%s: no PSN in %s", name, tree)
		}
	})
}

func BenchmarkJSON(b *testing.B) {
	f := &dissect.Frame{Data: writeFrame, WireLen: len(writeFrame), Link: dissect.LinkEthernet, Number: 7}
	var (
		locator dissect.Locator
		found   dissect.Packet
		p       Packet
	)
	buf := make([]byte, 0, 4096)
	for b.Loop() {
		locator.Locate(f, &found)
		p.Decode(f, &found)
		buf = JSON{}.Append(buf[:0], &p)
	}
}

func BenchmarkLine(b *testing.B) {
	f := &dissect.Frame{Data: writeFrame, WireLen: len(writeFrame), Link: dissect.LinkEthernet, Number: 7}
	var (
		locator dissect.Locator
		found   dissect.Packet
		p       Packet
		lines   Lines
	)
	buf := make([]byte, 0, 4096)
	for b.Loop() {
		locator.Locate(f, &found)
		p.Decode(f, &found)
		buf = lines.Append(buf[:0], &p)
	}
}
