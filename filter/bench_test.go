package filter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/filter"
)

var expressions = []string{
	`bth.psn in 100..200`,
	`opcode("READ")`,
	`opcode_name contains "READ" and bth.psn in 100..200`,
	`aeth.syndrome >= 0x60 and src in cidr("10.0.0.0/8")`,
	`reth.va >= 0x7f0000000000 and reth.dmalen > 4096`,
	`time > "+1s" and sport % 2 == 0 and carrier == "rocev2"`,
	`"vxlan" in tunnel or opcode_name matches "First$" or icrc != "good"`,
}

// Asking about a packet takes no memory.
func TestMatchAllocatesNothing(t *testing.T) {
	p := request(t, 0x7f0000001000)
	for _, expression := range expressions {
		f, err := filter.Parse(expression)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { f.Match(p) }); n != 0 {
			t.Errorf("%s allocates %v times a packet", expression, n)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	for i, expression := range expressions {
		b.Run(fmt.Sprint(i), func(b *testing.B) {
			f, err := filter.Parse(expression)
			if err != nil {
				b.Fatal(err)
			}
			p, found := request(b, 0x7f0000001000), 0
			b.ReportAllocs()
			for b.Loop() {
				if f.Match(p) {
					found++
				}
			}
		})
	}
}

// FuzzParse looks for expressions that end it, or that a packet ends.
func FuzzParse(f *testing.F) {
	for _, e := range expressions {
		f.Add(e)
	}
	for _, e := range []string{`has(aeth) ? 1 : 2`, `let x = [1..2]; x`, `{a: #}`, `a?.b[1:2]|c()`, `not (1 < bth.psn < 5)`, `b"x" ?? nil`, `_ff`, `0xffffffffffffffff`,
		`if true { 1 } else { 2 }`, `src in [cidr("::/0", 1)]`, `reduce(tunnel, #acc + #, 0)`, "\"\\u12", `((((((((`, `::len(tunnel)`, `tunnel not contains "x"`, `sport != 0`, `ip.ttl > 0`} {
		f.Add(e)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := filter.Parse(text)
		if err != nil {
			lines := err.(*filter.Error).Excerpt()
			if len(lines[1]) == 0 || err.Error() == "" {
				t.Fatal(err)
			}
			return
		}
		e.Match(request(t, 1))
		e.Match(&dissect.Packet{})
	})
}

// However deeply an expression is nested, reading it takes a moment.
func TestParseDeep(t *testing.T) {
	for _, part := range [][2]string{{"(", " not in [1])"}, {"(", " not in x)"}, {"!(", ")"}, {"bitand(1, ", ")"}, {"(true and ", ")"}, {"(", " == true)"}, {"[", "]"}, {"has(", ")"}, {"(", "?.x)"}, {"1 in (", " not contains 1)"}} {
		n := (filter.MaxLength - 10) / (len(part[0]) + len(part[1]))
		_, _ = filter.Parse(strings.Repeat(part[0], n) + "true" + strings.Repeat(part[1], n))
		_, _ = filter.Parse(strings.Repeat(part[0], n) + "bth.psn" + strings.Repeat(part[1], n))
	}
}
