package filter

import (
	"path"
	"strings"

	"github.com/rdmadump/rdmadump/codec"
)

// opcodes is a set of opcodes.
type opcodes [256]bool

// addPattern adds those that a pattern names; ok is false if there are none. A
// pattern with * or ? is one of whole names, another one the beginning of a name
// or of a word in it; the case of letters does not count.
func (o *opcodes) addPattern(pattern string) (ok bool) {
	pattern = strings.ToLower(strings.TrimSpace(pattern))
	if pattern == "" {
		return false
	}
	glob := strings.ContainsAny(pattern, "*?")
	for i := range o {
		op := codec.Opcode(i)
		if !op.Known() {
			continue
		}
		name := strings.ToLower(op.String())
		fits := false
		if glob {
			fits, _ = path.Match(pattern, name) // a pattern that is none fits nothing
		} else {
			fits = strings.Contains(" "+name, " "+pattern)
		}
		if fits {
			o[i], ok = true, true
		}
	}
	return ok
}

// OpcodePattern is what to write in opcode(...) for a pattern or a number; ok is
// false where no opcode is called so.
func OpcodePattern(s string) (term string, ok bool) {
	if n, err := parseNumber(s); err == nil {
		return s, n < 256
	}
	if strings.ContainsAny(s, "\"\\\n\r") {
		return "", false
	}
	var o opcodes
	return `"` + s + `"`, o.addPattern(s)
}
