package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/filter"
	"github.com/rdmadump/rdmadump/internal/cli"
)

// packetFilter is what the flags say that choose packets by what is in them.
// The shortcuts are expressions too, so that there is one way to ask.
type packetFilter struct {
	expressions []string
	opcodes     opcodeNames
	psns        psnRanges
	carriers    carriers

	filters []*filter.Filter // once parsed
}

// register adds the flags to a command.
func (p *packetFilter) register(f *pflag.FlagSet) {
	f.StringArrayVar(&p.expressions, "filter", nil, "choose by an expression over decoded fields, `EXPR`, see docs/filter.md; may be repeated, all must hold")
	f.Var(&p.opcodes, "opcode", "choose by opcode, a number or a `name`: READ, \"RC SEND\", \"*Middle\"; may be repeated")
	f.Var(&p.psns, "psn", "choose PSNs by `range`, 100-200 or 100; 16777214-1 goes over the wrap; may be repeated")
	f.Var(&p.carriers, "carrier", "choose by `carrier`: rocev2, rocev1 or ib; may be repeated")
}

// parse reads the expressions, before any packet is. Then it fills in what a
// selection needs.
func (p *packetFilter) parse(s *dissect.Selection, command string) error {
	var words []string
	add := func(flag, text string) error {
		f, err := filter.Parse(text)
		if e := (*filter.Error)(nil); errors.As(err, &e) {
			excerpt := e.Excerpt()
			return cli.UsageError{Err: fmt.Errorf("%s: %w", flag, err), Command: command, Excerpt: excerpt[:]}
		}
		p.filters = append(p.filters, f)
		words = append(words, text)
		return err
	}
	for _, text := range p.expressions {
		if err := add("--filter", text); err != nil {
			return err
		}
	}
	for _, shortcut := range [...]struct {
		flag, begin, end, between string
		words                     []string
	}{
		{"--opcode", "opcode(", ")", ", ", p.opcodes},
		{"--psn", "bth.psn in [", "]", ", ", p.psns},
		{"--carrier", "carrier in [", "]", ", ", p.carriers},
	} {
		if len(shortcut.words) == 0 {
			continue
		}
		if err := add(shortcut.flag, shortcut.begin+strings.Join(shortcut.words, shortcut.between)+shortcut.end); err != nil {
			return err
		}
	}
	switch len(words) {
	case 0:
		return nil
	case 1:
		s.Filter, s.Packets = words[0], p.filters[0].Match
		return nil
	}
	s.Filter, s.Packets = "("+strings.Join(words, ") and (")+")", p.match
	return nil
}

// match reports whether all expressions hold for a packet.
func (p *packetFilter) match(packet *dissect.Packet) bool {
	for _, f := range p.filters {
		if !f.Match(packet) {
			return false
		}
	}
	return true
}

// begin settles the times in the expressions.
func (p *packetFilter) begin(first, last int64) {
	for _, f := range p.filters {
		f.Begin(first, last)
	}
}

// timed reports whether an expression names a point in time, and fromLast
// whether one that counts from the last frame.
func (p *packetFilter) timed() (timed, fromLast bool) {
	for _, f := range p.filters {
		timed, fromLast = timed || f.Timed(), fromLast || f.FromLast()
	}
	return timed, fromLast
}

// opcodeNames is the value of --opcode, as arguments of opcode(...).
type opcodeNames []string

func (o *opcodeNames) String() string { return "" }
func (o *opcodeNames) Type() string   { return "name" }

// Set takes one name or number, or several with commas between them.
func (o *opcodeNames) Set(s string) error {
	for word := range strings.SplitSeq(s, ",") {
		term, ok := filter.OpcodePattern(word)
		if !ok {
			return errors.New(`want a number up to 0xff, or what names of opcodes or words in them begin with, such as READ, Acknowledge or "RC SEND"; * and ? stand for any characters of a whole name`)
		}
		*o = append(*o, term)
	}
	return nil
}

// psnRanges is the value of --psn, as ranges of an expression.
type psnRanges []string

func (p *psnRanges) String() string { return "" }
func (p *psnRanges) Type() string   { return "range" }

// Set takes one range or PSN, or several with commas between them.
func (p *psnRanges) Set(s string) error {
	for word := range strings.SplitSeq(s, ",") {
		first, last, several := strings.Cut(strings.Replace(word, "..", "-", 1), "-")
		if !several {
			last = first
		}
		from, err1 := dissect.ParseQPN(first) // 24 bits too
		to, err2 := dissect.ParseQPN(last)
		if err1 != nil || err2 != nil {
			return errors.New("want PSNs of 24 bits, one (100) or a range (100-200, 0x64-0xc8)")
		}
		*p = append(*p, fmt.Sprintf("%d..%d", uint32(from), uint32(to)))
	}
	return nil
}

// carriers is the value of --carrier, as texts of an expression.
type carriers []string

func (c *carriers) String() string { return "" }
func (c *carriers) Type() string   { return "carrier" }

// Set takes one carrier, or several with commas between them.
func (c *carriers) Set(s string) error {
	for word := range strings.SplitSeq(s, ",") {
		switch word = strings.ToLower(word); word {
		case "rocev2", "rocev1", "ib":
			*c = append(*c, `"`+word+`"`)
		default:
			return errors.New("want rocev2, rocev1 or ib")
		}
	}
	return nil
}
