package codec

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

type opcodeRow struct {
	name    string
	headers string
	payload bool
}

// opcodeRows reads testdata/opcodes.txt, which was made from the
// specification's table.
func opcodeRows(t *testing.T) map[Opcode]opcodeRow {
	text, err := os.ReadFile("testdata/opcodes.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[Opcode]opcodeRow{}
	for line := range strings.Lines(string(text)) {
		if line[0] == '#' {
			continue
		}
		col := strings.Split(strings.TrimSpace(line), "\t")
		n, err := strconv.ParseUint(col[0], 0, 8)
		if err != nil || len(col) != 4 {
			t.Fatalf("%q: %v", line, err)
		}
		rows[Opcode(n)] = opcodeRow{col[1], col[2], col[3] == "payload"}
	}
	return rows
}

func TestOpcodesAgainstTheSpecification(t *testing.T) {
	rows := opcodeRows(t)
	for i := range 256 {
		o := Opcode(i)
		row, known := rows[o]
		if o.Known() != known {
			t.Errorf("%#02x: known is %v", i, o.Known())
			continue
		}
		if o.Manufacturer() != (i >= 0xc0) {
			t.Errorf("%#02x: manufacturer is %v", i, o.Manufacturer())
		}
		if !known {
			row = opcodeRow{name: "Opcode(0x" + strconv.FormatInt(int64(i)+0x100, 16)[1:] + ")", headers: "bth"}
		}
		var headers []string
		for set := o.Headers(); set != 0; set &= set - 1 {
			headers = append(headers, set.first().Key())
		}
		if got := strings.Join(headers, " "); got != row.headers {
			t.Errorf("%s: headers %q, want %q", row.name, got, row.headers)
		}
		if o.String() != row.name || o.Payload() != row.payload {
			t.Errorf("%#02x is %q, payload %v; want %+v", i, o, o.Payload(), row)
		}
		// The names say the place in the message and what it belongs to.
		op := row.name[strings.Index(row.name, " ")+1:]
		first, middle, last := strings.Contains(op, "First"), strings.Contains(op, "Middle"), strings.Contains(op, "Last")
		if starts := known && !middle && !last; o.Starts() != starts {
			t.Errorf("%s: starts a message: %v", o, o.Starts())
		}
		if ends := known && !first && !middle; o.Ends() != ends {
			t.Errorf("%s: ends a message: %v", o, o.Ends())
		}
		response := strings.Contains(op, "Response") || strings.Contains(op, "ck") && known && o.Verb() != VerbNone
		response = response || strings.HasSuffix(op, "ACK")
		if o.Response() != (response && known) {
			t.Errorf("%s: a response: %v", o, o.Response())
		}
		if got, want := o.Verb(), verbByName(op, known); got != want {
			t.Errorf("%s: verb %d, want %d", o, got, want)
		}
		if Op(o.Service(), o.Operation()) != o {
			t.Errorf("%#02x does not consist of its parts", i)
		}
	}
}

func verbByName(op string, known bool) Verb {
	for _, v := range []struct {
		prefix string
		verb   Verb
	}{
		{"READ Response ", VerbAck}, // IRN's ACK and NACK of a READ response
		{"ACK", VerbAck}, {"NACK", VerbAck}, {"Acknowledge", VerbAck},
		{"ATOMIC Acknowledge", VerbAtomicAck},
		{"SEND", VerbSend}, {"RDMA WRITE", VerbWrite},
		{"RDMA READ Response", VerbReadResponse}, {"RDMA READ Request", VerbRead},
		{"CmpSwap", VerbAtomic}, {"FetchAdd", VerbAtomic},
		{"RESYNC", VerbResync}, {"FLUSH", VerbFlush}, {"ATOMIC WRITE", VerbAtomicWrite},
	} {
		if known && strings.HasPrefix(op, v.prefix) {
			return v.verb
		}
	}
	return VerbNone
}

func TestServiceNames(t *testing.T) {
	for i, want := range []string{"RC", "UC", "RD", "UD", "CNP", "XRC", "MRC", "IRN"} {
		if got := Service(i).String(); got != want {
			t.Errorf("service %d is %q, want %q", i, got, want)
		}
	}
}
