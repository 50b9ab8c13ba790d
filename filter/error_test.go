package filter_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/filter"
)

// The caret stands under the character that the column counts.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ expression, message string }{
		{`bth.pns == 1`, `unknown field bth.pns at column 5; did you mean bth.psn?`},
		{`bht.psn == 1`, `unknown field bht.psn at column 1; did you mean bth.psn?`},
		{`psn == 1`, `unknown field psn at column 1; did you mean bth.psn?`},
		{`true and Opcode_Name == "x"`, `unknown field Opcode_Name at column 10; did you mean opcode_name?`},
		{`aeth.sindrome == 1`, `unknown field aeth.sindrome at column 6; did you mean aeth.syndrome?`},
		{`xyzzyplugh == 1`, `unknown field xyzzyplugh at column 1; rdmadump fields lists them`},
		{`opcode_name == 5`, `opcode_name is a text, 5 is a number at column 13; they cannot be compared`},
		{`5 == opcode_name`, `opcode_name is a text, 5 is a number at column 3; they cannot be compared`},
		{`bth.psn == "5"`, `bth.psn is a number, "5" is a text at column 9; write 5 without quotes`},
		{`bth.psn == 1.5`, `bth.psn is a number, 1.5 is a decimal at column 9; it is a whole number`},
		{`src == 5`, `src is an address, 5 is a number at column 5; they cannot be compared`},
		{`src < dst`, `src is an address, which has no order at column 5; compare with == or !=`},
		{`opcode_name < "x"`, `opcode_name is a text, which has no order at column 13; compare with == or !=`},
		{`bth.psn in ["a"]`, `bth.psn is a number, "a" is a text at column 13; they cannot be compared`},
		{`opcode_name in [5]`, `opcode_name is a text, 5 is a number at column 17; they cannot be compared`},
		{`bth.psn == 0x1000000`, `bth.psn is never 0x1000000 at column 12; it has 24 bits`},
		{`bth.psn in 0..0x1000000`, `bth.psn is never 0x1000000 at column 15; it has 24 bits`},
		{`payload_len in 5..3`, `the range 5..3 is empty at column 17`},
		{`reth.va == 0x10000000000000000`, `0x10000000000000000 has more than 64 bits at column 12`},
		{`bth.psn == -1`, `numbers have no sign here at column 12`},
		{`bth.psn = 5`, `unexpected = at column 9; compare with ==`},
		{`bth.psn ==`, `the expression ends too early at column 11`},
		{`(bth.psn == 1`, `the expression ends too early at column 14`},
		{``, `the expression is empty at column 1; want such as opcode_name contains "READ"`},
		{`bth.psn`, `bth.psn is a number, not a condition at column 5; compare it with something`},
		{`aeth`, `aeth is a header, not a condition at column 1; want has(aeth)?`},
		{`aeth == 5`, `aeth is a header at column 6; compare one of its fields, or write has(aeth)`},
		{`tunnel == "vxlan"`, `tunnel is a list at column 8; want "..." in tunnel, or len(tunnel)`},
		{`src == "10.0.0.0/8"`, `"10.0.0.0/8" is a network at column 8; want src in cidr("10.0.0.0/8")?`},
		{`src startsWith "10."`, `src is an address, not a text at column 5; want src in cidr("...")`},
		{`opcode("NAKK")`, `no opcode is called "NAKK" at column 8; there are such as RC RDMA READ Request`},
		{`foo(1)`, `unknown function foo at column 1; there are has, opcode, cidr, len and bitand`},
		{`all(tunnel, # == "x")`, `unknown function all at column 1; there are has, opcode, cidr, len and bitand`},
		{`bth.psn + 1 == 2`, `filters have no operator + at column 9`},
		{`bth.psn % 0 == 2`, `% wants a number and a constant above 0 at column 9`},
		{`opcode_name matches "("`, "missing closing ): `(` at column 21"},
		{"bth.psn == 1\x00", "unrecognized character: U+0000 at column 13"},
		{"\xff", `the expression is not UTF-8 at column 1`},
		{strings.Repeat("!", filter.MaxLength+1), `the expression is longer than 4096 bytes at column 4097`},
	} {
		_, err := filter.Parse(c.expression)
		if err == nil || err.Error() != c.message {
			t.Errorf("%.40q: %v\nwant %s", c.expression, err, c.message)
			continue
		}
		var e *filter.Error
		if !errors.As(err, &e) {
			t.Fatalf("%T", err)
		}
		lines := e.Excerpt()
		if at := len(lines[1]) - 1; at > 80 || at > len([]rune(lines[0])) || strings.Trim(lines[1], " ") != "^" {
			t.Errorf("%.40q: %q", c.expression, lines)
		} else if len(c.expression) < 70 && at != e.Column-1 {
			t.Errorf("%q: caret in column %d, want %d", c.expression, at+1, e.Column)
		}
	}
}

// A long expression is shown around the fault.
func TestExcerpt(t *testing.T) {
	_, err := filter.Parse(strings.Repeat("true and ", 50) + "\tbth.pns == 1" + strings.Repeat(" or true", 50))
	var e *filter.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	lines := e.Excerpt()
	if at := strings.Index(lines[1], "^"); !strings.HasPrefix(lines[0][at:], "pns == 1") || len(lines[0]) > 90 || strings.Contains(lines[0], "\t") {
		t.Errorf("%q\n%q", lines[0], lines[1])
	}
}
