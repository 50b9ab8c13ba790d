package filter

import (
	"fmt"

	"github.com/expr-lang/expr/ast"
)

// compiler turns an expression into questions, and checks its types on the way.
type compiler struct {
	*tree
	moments []*moment
}

// condition compiles what must be true or false.
func (c *compiler) condition(n ast.Node) (condition, error) {
	v, err := c.value(n)
	if err != nil {
		return nil, err
	}
	switch {
	case v.kind == aCondition:
		return v.condition, nil
	case v.kind == aNumber && v.bits == 1: // a flag
		ask := v.number
		return func(v *view) bool { n, ok := ask(v); return ok && n != 0 }, nil
	case v.kind == aNothing:
		return nil, c.at(n, "nil is no condition", "")
	case v.kind == aHeader:
		return nil, c.at(n, v.name+" is a header, not a condition", "want has("+v.name+")?")
	}
	return nil, c.at(n, fmt.Sprintf("%s is %s, not a condition", v.name, v.kind), "compare it with something")
}

// value compiles a part of an expression.
func (c *compiler) value(n ast.Node) (*value, error) {
	v, err := c.part(n)
	if err == nil {
		v.node = n
	}
	return v, err
}

func (c *compiler) part(n ast.Node) (*value, error) {
	switch n := n.(type) {
	case *ast.NilNode:
		return &value{kind: aNothing, name: "nil", constant: true}, nil
	case *ast.BoolNode:
		return &value{kind: aCondition, name: fmt.Sprint(n.Value), condition: func(*view) bool { return n.Value }}, nil
	case *ast.StringNode:
		return &value{kind: aText, name: fmt.Sprintf("%q", n.Value), constant: true, s: n.Value,
			text: func(*view) (string, bool) { return n.Value, true }}, nil
	case *ast.IntegerNode, *ast.FloatNode:
		return c.constant(n)
	case *ast.IdentifierNode:
		if _, ok := c.written[n.Location().From]; ok {
			return c.constant(n)
		}
		return c.field(n, n.Value, n)
	case *ast.ChainNode: // aeth?.msn is no more than aeth.msn
		return c.value(n.Node)
	case *ast.MemberNode:
		header, name, ok := dotted(n)
		if !ok {
			return nil, c.at(n.Property, "nothing here has parts of that kind", "fields are named as in bth.psn")
		}
		return c.field(header, name, n.Property)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.CallNode:
		if name, ok := n.Callee.(*ast.IdentifierNode); ok {
			return c.call(n, name.Value, n.Arguments)
		}
		return nil, c.at(n, "fields are no functions", "")
	case *ast.BuiltinNode:
		return c.call(n, n.Name, n.Arguments)
	case *ast.ArrayNode:
		return nil, c.at(n, "a list stands behind in only", "")
	}
	return nil, c.at(n, "filters have no such thing", "they have comparisons, in, contains, matches, and, or, not and has(...)")
}

// constant is a number as it was written.
func (c *compiler) constant(n ast.Node) (*value, error) {
	written := c.written[n.Location().From]
	k, err := parseNumber(written)
	if err != nil {
		if _, float := n.(*ast.FloatNode); float {
			return &value{kind: aDecimal, name: written, constant: true, s: written}, nil
		}
		return nil, c.at(n, written+" is no number of at most 64 bits", "")
	}
	return &value{kind: aNumber, name: written, constant: true, n: k,
		number: func(*view) (uint64, bool) { return k, true }}, nil
}

// dotted is the name of a field and the header that it begins with.
func dotted(n ast.Node) (header *ast.IdentifierNode, name string, ok bool) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n, n.Value, true
	case *ast.MemberNode:
		key, plain := n.Property.(*ast.StringNode)
		if header, name, ok = dotted(n.Node); ok && plain {
			return header, name + "." + key.Value, true
		}
	}
	return nil, "", false
}

// field is the field with a name. Where there is none, the word that is wrong is
// the header, or else the part behind it.
func (c *compiler) field(header *ast.IdentifierNode, name string, part ast.Node) (*value, error) {
	if v, ok := fields()[name]; ok {
		return &v, nil
	}
	if h, known := fields()[header.Value]; !known || h.kind != aHeader {
		part = header
	}
	const most = 64 // what is longer is no mistyped name
	advice, shown := "", []rune(name)
	if len(shown) <= most {
		if near := nearest(name); near != "" {
			advice = "did you mean " + near + "?"
		}
	} else {
		name = string(shown[:most]) + "..."
	}
	if advice == "" {
		advice = "rdmadump fields lists them"
	}
	return nil, c.at(part, "unknown field "+name, advice)
}

func (c *compiler) unary(n *ast.UnaryNode) (*value, error) {
	if n.Operator == "-" || n.Operator == "+" {
		return nil, c.at(n, "numbers have no sign here", "")
	}
	// "x not in y" is read as "not (x in y)" with both at the same place, and is
	// a comparison: false where x is not there.
	if inner, ok := n.Node.(*ast.BinaryNode); ok && inner.Location() == n.Location() {
		v, err := c.value(inner)
		if err != nil {
			return nil, err
		}
		if there, holds := v.there, v.condition; there != nil {
			return truth(func(v *view) bool { return there(v) && !holds(v) }), nil
		}
		holds := v.condition
		return truth(func(v *view) bool { return !holds(v) }), nil
	}
	holds, err := c.condition(n.Node)
	if err != nil {
		return nil, err
	}
	return truth(func(v *view) bool { return !holds(v) }), nil
}

// truth is a condition as a value.
func truth(holds condition) *value {
	return &value{kind: aCondition, name: "this", condition: holds}
}

func (c *compiler) binary(n *ast.BinaryNode) (*value, error) {
	switch n.Operator {
	case "and", "&&", "or", "||":
		left, err := c.condition(n.Left)
		if err != nil {
			return nil, err
		}
		right, err := c.condition(n.Right)
		if err != nil {
			return nil, err
		}
		if n.Operator == "and" || n.Operator == "&&" {
			return truth(func(v *view) bool { return left(v) && right(v) }), nil
		}
		return truth(func(v *view) bool { return left(v) || right(v) }), nil
	case "==", "!=", "<", "<=", ">", ">=":
		left, err := c.value(n.Left)
		if err != nil {
			return nil, err
		}
		right, err := c.value(n.Right)
		if err != nil {
			return nil, err
		}
		return c.compare(n, left, right)
	case "in", "contains", "startsWith", "endsWith", "matches":
		left, err := c.value(n.Left)
		if err != nil {
			return nil, err
		}
		ask := c.search
		if n.Operator == "in" {
			ask = c.in
		}
		v, err := ask(n, left)
		if err == nil && left.kind != aList {
			v.there = left.has
		}
		return v, err
	case "%":
		return c.remainder(n)
	case "..":
		return nil, c.at(n, "a range stands behind in only", "")
	}
	return nil, c.at(n, fmt.Sprintf("filters have no operator %s", n.Operator), "")
}

// remainder is that of a number divided by a constant.
func (c *compiler) remainder(n *ast.BinaryNode) (*value, error) {
	left, err := c.value(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := c.value(n.Right)
	if err != nil {
		return nil, err
	}
	if left.kind != aNumber || right.kind != aNumber || !right.constant || right.n == 0 {
		return nil, c.at(n, "% wants a number and a constant above 0", "")
	}
	ask, by := left.number, right.n
	return &value{kind: aNumber, name: "the remainder", has: left.has, number: func(v *view) (uint64, bool) {
		n, ok := ask(v)
		return n % by, ok
	}}, nil
}
