package filter

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/rdmadump/rdmadump/dissect"
)

// in asks whether a value is one of several, in a range, or in a network.
func (c *compiler) in(n *ast.BinaryNode, left *value) (*value, error) {
	members := []ast.Node{n.Right}
	if array, ok := n.Right.(*ast.ArrayNode); ok {
		members = array.Nodes
	}
	switch left.kind {
	case aNumber:
		return c.inNumbers(left, members)
	case aText:
		return c.inTexts(n, left, members)
	case anAddress:
		return c.inNetworks(left, members)
	case aTime:
		return nil, c.at(n, "a time is in no range here", "write time >= ... and time < ...")
	}
	return nil, c.at(n, fmt.Sprintf("%s is %s, which is in nothing", left.name, left.kind), "")
}

func (c *compiler) inNumbers(left *value, members []ast.Node) (*value, error) {
	spans := make([]span, 0, len(members))
	for _, m := range members {
		if r, ok := m.(*ast.BinaryNode); ok && r.Operator == ".." {
			s, err := c.span(r, left)
			if err != nil {
				return nil, err
			}
			spans = append(spans, s)
			continue
		}
		k, err := c.member(m, left)
		if err != nil {
			return nil, err
		}
		spans = append(spans, span{k, k})
	}
	ask := left.number
	if len(spans) == 1 {
		s := spans[0]
		return truth(func(v *view) bool { n, ok := ask(v); return ok && s.contains(n) }), nil
	}
	return truth(func(v *view) bool {
		n, ok := ask(v)
		return ok && slices.ContainsFunc(spans, func(s span) bool { return s.contains(n) })
	}), nil
}

// span is a range whose ends are constants.
func (c *compiler) span(r *ast.BinaryNode, left *value) (span, error) {
	first, err := c.member(r.Left, left)
	if err != nil {
		return span{}, err
	}
	last, err := c.member(r.Right, left)
	if err != nil {
		return span{}, err
	}
	if first > last && !left.isPSN {
		return span{}, c.at(r, fmt.Sprintf("the range %d..%d is empty", first, last), "")
	}
	return span{first, last}, nil
}

// member is a constant number that a field may be.
func (c *compiler) member(n ast.Node, left *value) (uint64, error) {
	v, err := c.value(n)
	if err != nil {
		return 0, err
	}
	if v, err = c.asNumber(n, left, v); err != nil {
		return 0, err
	}
	if !v.constant {
		return 0, c.at(n, v.name+" is no constant", "behind in are constants only")
	}
	if v.n > left.mask() {
		return 0, c.tooLarge(n, left, v)
	}
	return v.n, nil
}

func (c *compiler) inTexts(n *ast.BinaryNode, left *value, members []ast.Node) (*value, error) {
	if len(members) == 1 {
		if _, array := n.Right.(*ast.ArrayNode); !array {
			v, err := c.value(n.Right)
			if err != nil {
				return nil, err
			}
			if v.kind != aList || !left.constant {
				return nil, c.at(n.Right, fmt.Sprintf("%s is %s, in which no text is", v.name, v.kind), `want ["...", "..."], or contains`)
			}
			return truth(contains(v.list, left.s)), nil
		}
	}
	words := make([]string, 0, len(members))
	for _, m := range members {
		v, err := c.value(m)
		if err != nil {
			return nil, err
		}
		if v.kind != aText || !v.constant {
			return nil, c.mismatch(m, left, v)
		}
		words = append(words, v.s)
	}
	ask := left.text
	return truth(func(v *view) bool { s, ok := ask(v); return ok && slices.Contains(words, s) }), nil
}

// contains asks whether a list has a word.
func contains(all list, word string) condition {
	return func(v *view) bool { return slices.Contains(all(v), word) }
}

func (c *compiler) inNetworks(left *value, members []ast.Node) (*value, error) {
	var hosts []dissect.Host
	for _, m := range members {
		words := []ast.Node{m}
		if call, ok := m.(*ast.CallNode); ok {
			if name, ok := call.Callee.(*ast.IdentifierNode); ok && name.Value == "cidr" {
				if words = call.Arguments; len(words) == 0 {
					return nil, c.at(m, "cidr wants a network", `such as cidr("10.0.0.0/8")`)
				}
			}
		}
		for _, word := range words {
			v, err := c.value(word)
			if err != nil {
				return nil, err
			}
			if v.kind != aText || !v.constant {
				return nil, c.mismatch(word, left, v)
			}
			host, err := dissect.ParseHost(v.s)
			if err != nil {
				return nil, c.at(word, v.name+" is no address or network", err.Error())
			}
			hosts = append(hosts, host)
		}
	}
	ask := left.address
	return truth(func(v *view) bool {
		a, ok := ask(v)
		return ok && slices.ContainsFunc(hosts, func(h dissect.Host) bool { return h.Has(a) })
	}), nil
}

// search looks for one text in another.
func (c *compiler) search(n *ast.BinaryNode, left *value) (*value, error) {
	right, err := c.value(n.Right)
	if err != nil {
		return nil, err
	}
	switch {
	case right.kind != aText || !right.constant:
		return nil, c.at(n.Right, fmt.Sprintf("%s wants a constant text behind it, and %s is %s", n.Operator, right.name, right.kind), "")
	case left.kind == aList && n.Operator == "contains":
		return truth(contains(left.list, right.s)), nil
	case left.kind == anAddress:
		return nil, c.at(n, fmt.Sprintf("%s is an address, not a text", left.name), fmt.Sprintf(`want %s in cidr("...")`, left.name))
	case left.kind != aText:
		return nil, c.at(n, fmt.Sprintf("%s looks in texts, and %s is %s", n.Operator, left.name, left.kind), "")
	}
	var holds func(s string) bool
	word := right.s
	switch n.Operator {
	case "contains":
		holds = func(s string) bool { return strings.Contains(s, word) }
	case "startsWith":
		holds = func(s string) bool { return strings.HasPrefix(s, word) }
	case "endsWith":
		holds = func(s string) bool { return strings.HasSuffix(s, word) }
	default:
		pattern, err := regexp.Compile(word)
		if err != nil {
			return nil, c.at(n.Right, strings.TrimPrefix(err.Error(), "error parsing regexp: "), "")
		}
		holds = pattern.MatchString
	}
	ask := left.text
	return truth(func(v *view) bool { s, ok := ask(v); return ok && holds(s) }), nil
}
