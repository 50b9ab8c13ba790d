package filter

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/parser/lexer"
)

// tree is an expression as it was read.
type tree struct {
	root    ast.Node
	text    []rune         // of the expression
	written map[int]string // numbers as they were written, by where they begin
}

// parse reads an expression.
func parse(text string) (*tree, error) {
	t := &tree{text: []rune(text), written: map[int]string{}}
	switch {
	case len(text) > MaxLength:
		return nil, t.error(MaxLength, fmt.Sprintf("the expression is longer than %d bytes", MaxLength), "")
	case !utf8.ValidString(text):
		return nil, t.error(0, "the expression is not UTF-8", "")
	case strings.TrimSpace(text) == "":
		return nil, t.error(0, "the expression is empty", `want such as opcode_name contains "READ"`)
	}
	tokens, err := lexer.Lex(file.NewSource(text))
	if err != nil {
		return nil, t.unreadable(err)
	}
	readable := []rune(text)
	for _, token := range tokens {
		if token.Kind != lexer.Number {
			continue
		}
		t.written[token.From] = token.Value
		n, err := parseNumber(token.Value)
		if errors.Is(err, strconv.ErrRange) {
			return nil, t.error(token.From, token.Value+" has more than 64 bits", "")
		}
		if err == nil && n > 1<<63-1 {
			// expr has no numbers from 2^63 on, so it gets a name to read, of the same
			// length.
			readable[token.From] = '_'
		}
	}
	read, err := parser.Parse(string(readable))
	if err != nil {
		return nil, t.unreadable(err)
	}
	t.root = read.Node
	return t, nil
}

// parseNumber reads a whole number as expr writes them: 18, 0x12, 0b10010, 0o22,
// 1_000.
func parseNumber(s string) (uint64, error) {
	s = strings.ReplaceAll(s, "_", "")
	if len(s) > 2 && s[0] == '0' && (s[1]|0x20 == 'x' || s[1]|0x20 == 'b' || s[1]|0x20 == 'o') {
		return strconv.ParseUint(s, 0, 64)
	}
	return strconv.ParseUint(s, 10, 64)
}

// error is a fault at a place, counted in characters from 0.
func (t *tree) error(at int, problem, advice string) *Error {
	return &Error{Text: string(t.text), Column: at + 1, Problem: problem, Advice: advice}
}

// at is a fault of a node.
func (t *tree) at(n ast.Node, problem, advice string) *Error {
	return t.error(n.Location().From, problem, advice)
}

// token is how expr's parser prints what it did not expect.
var token = regexp.MustCompile(`^unexpected token (?:EOF|[A-Z][a-z]+\((".*")\))$`)

// unreadable words what the lexer or the parser says.
func (t *tree) unreadable(err error) *Error {
	fault := (*file.Error)(nil)
	if !errors.As(err, &fault) {
		return t.error(0, err.Error(), "")
	}
	at := min(fault.From, len(t.text))
	parts := token.FindStringSubmatch(fault.Message)
	switch {
	case parts == nil:
		message := fault.Message
		if message != "" {
			message = strings.ToLower(message[:1]) + message[1:]
		}
		return t.error(at, message, "")
	case parts[1] == "":
		return t.error(len(t.text), "the expression ends too early", "")
	case parts[1] == `"="`:
		return t.error(at, "unexpected =", "compare with ==")
	}
	word, err := strconv.Unquote(parts[1])
	if err != nil {
		word = parts[1]
	}
	return t.error(at, "unexpected "+word, "")
}
