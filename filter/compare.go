package filter

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/rdmadump/rdmadump/dissect"
)

// compare is a comparison of two values.
func (c *compiler) compare(n *ast.BinaryNode, left, right *value) (*value, error) {
	op := n.Operator
	if left.constant && !right.constant {
		left, right, op = right, left, turned(op)
	}
	equality := op == "==" || op == "!="
	switch {
	case right.kind == aNothing:
		if !equality || left.has == nil {
			return nil, c.at(n, fmt.Sprintf("%s cannot be compared with nil by %s", left.name, op), "")
		}
		has := left.has
		return truth(func(v *view) bool { return has(v) == (op == "!=") }), nil
	case left.kind == aNumber:
		return c.compareNumbers(n, op, left, right)
	case left.kind == aTime:
		return c.compareTimes(n, op, left, right)
	case left.kind == anAddress && equality:
		return c.compareAddresses(n, op, left, right)
	case left.kind == aText && right.kind == aText && equality:
		a, b := left.text, right.text
		return truth(func(v *view) bool {
			x, ok1 := a(v)
			y, ok2 := b(v)
			return ok1 && ok2 && (x == y) == (op == "==")
		}), nil
	case left.kind == aCondition && right.kind == aCondition && equality:
		a, b := left.condition, right.condition
		return truth(func(v *view) bool { return (a(v) == b(v)) == (op == "==") }), nil
	case left.kind == aList:
		return nil, c.at(n, left.name+" is a list", fmt.Sprintf(`want "..." in %s, or len(%s)`, left.name, left.name))
	case left.kind == aHeader:
		return nil, c.at(n, left.name+" is a header", "compare one of its fields, or write has("+left.name+")")
	case left.kind == right.kind && !equality:
		return nil, c.at(n, fmt.Sprintf("%s is %s, which has no order", left.name, left.kind), "compare with == or !=")
	}
	return nil, c.mismatch(n, left, right)
}

// mismatch is a comparison of what cannot be compared.
func (c *compiler) mismatch(n ast.Node, left, right *value) *Error {
	return c.at(n, fmt.Sprintf("%s is %s, %s is %s", left.name, left.kind, right.name, right.kind), "they cannot be compared")
}

// turned is the operator with its sides exchanged.
func turned(op string) string {
	switch op[0] {
	case '<':
		return ">" + op[1:]
	case '>':
		return "<" + op[1:]
	}
	return op
}

func (c *compiler) compareNumbers(n *ast.BinaryNode, op string, left, right *value) (*value, error) {
	right, err := c.asNumber(n, left, right)
	if err != nil {
		return nil, err
	}
	if right.constant {
		if (op == "==" || op == "!=") && right.n > left.mask() {
			return nil, c.tooLarge(right.node, left, right)
		}
		return truth(againstConstant(op, left.number, right.n)), nil
	}
	a, b := left.number, right.number
	var holds func(x, y uint64) bool
	switch op {
	case "==":
		holds = func(x, y uint64) bool { return x == y }
	case "!=":
		holds = func(x, y uint64) bool { return x != y }
	case "<":
		holds = func(x, y uint64) bool { return x < y }
	case "<=":
		holds = func(x, y uint64) bool { return x <= y }
	case ">":
		holds = func(x, y uint64) bool { return x > y }
	default:
		holds = func(x, y uint64) bool { return x >= y }
	}
	return truth(func(v *view) bool {
		x, ok1 := a(v)
		y, ok2 := b(v)
		return ok1 && ok2 && holds(x, y)
	}), nil
}

// againstConstant compares a number with k.
func againstConstant(op string, ask number, k uint64) condition {
	switch op {
	case "==":
		return func(v *view) bool { n, ok := ask(v); return ok && n == k }
	case "!=":
		return func(v *view) bool { n, ok := ask(v); return ok && n != k }
	case "<":
		return func(v *view) bool { n, ok := ask(v); return ok && n < k }
	case "<=":
		return func(v *view) bool { n, ok := ask(v); return ok && n <= k }
	case ">":
		return func(v *view) bool { n, ok := ask(v); return ok && n > k }
	}
	return func(v *view) bool { n, ok := ask(v); return ok && n >= k }
}

// asNumber takes what a number is compared with for a number: of 64 bits also
// the text that JSON has in its place.
func (c *compiler) asNumber(n ast.Node, field, v *value) (*value, error) {
	if v.kind == aNumber {
		return v, nil
	}
	if field.quoted && v.kind == aText && v.constant {
		if k, err := parseNumber(v.s); err == nil {
			return &value{kind: aNumber, name: v.name, constant: true, n: k}, nil
		}
	}
	fault := c.mismatch(n, field, v)
	switch {
	case v.kind == aText && v.constant:
		if _, err := parseNumber(v.s); err == nil {
			fault.Advice = "write " + v.s + " without quotes"
		}
	case v.kind == aCondition && field.bits == 1:
		fault.Advice = fmt.Sprintf("a flag is 0 or 1, or a condition by itself: %s, not %s", field.name, field.name)
	case v.kind == aDecimal:
		fault.Advice = "it is a whole number"
	}
	return nil, fault
}

func (c *compiler) tooLarge(n ast.Node, field, v *value) *Error {
	return c.at(n, fmt.Sprintf("%s is never %s", field.name, v.name), fmt.Sprintf("it has %d bits", field.bits))
}

func (c *compiler) compareTimes(n *ast.BinaryNode, op string, left, right *value) (*value, error) {
	written := right.s
	switch {
	case !right.constant || right.kind != aText && right.kind != aNumber && right.kind != aDecimal:
		return nil, c.mismatch(n, left, right)
	case right.kind == aNumber:
		written = fmt.Sprint(right.n)
	case right.kind == aDecimal:
		written = strings.ReplaceAll(right.s, "_", "")
	}
	named, err := dissect.ParseMoment(written)
	if err != nil {
		return nil, c.at(right.node, right.name+" is no time", err.Error())
	}
	m := &moment{named: named}
	c.moments = append(c.moments, m)
	switch op {
	case "==":
		return truth(func(v *view) bool { return v.Time == m.at }), nil
	case "!=":
		return truth(func(v *view) bool { return v.Time != m.at }), nil
	case "<":
		return truth(func(v *view) bool { return v.Time < m.at }), nil
	case "<=":
		return truth(func(v *view) bool { return v.Time <= m.at }), nil
	case ">":
		return truth(func(v *view) bool { return v.Time > m.at }), nil
	}
	return truth(func(v *view) bool { return v.Time >= m.at }), nil
}

func (c *compiler) compareAddresses(n *ast.BinaryNode, op string, left, right *value) (*value, error) {
	a := left.address
	if right.kind == anAddress {
		b := right.address
		return truth(func(v *view) bool {
			x, ok1 := a(v)
			y, ok2 := b(v)
			return ok1 && ok2 && (x == y) == (op == "==")
		}), nil
	}
	if right.kind != aText || !right.constant {
		return nil, c.mismatch(n, left, right)
	}
	host, err := dissect.ParseHost(right.s)
	if err != nil {
		return nil, c.at(right.node, right.name+" is no address", err.Error())
	}
	if strings.Contains(right.s, "/") {
		return nil, c.at(right.node, right.name+" is a network", fmt.Sprintf("want %s in cidr(%s)?", left.name, right.name))
	}
	return truth(func(v *view) bool {
		x, ok := a(v)
		return ok && host.Has(x) == (op == "==")
	}), nil
}
