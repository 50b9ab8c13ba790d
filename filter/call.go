package filter

import (
	"fmt"

	"github.com/expr-lang/expr/ast"
)

// call is a call of one of the few functions.
func (c *compiler) call(n ast.Node, name string, args []ast.Node) (*value, error) {
	switch name {
	case "has":
		return c.hasCall(n, args)
	case "opcode":
		return c.opcodeCall(n, args)
	case "len":
		return c.lenCall(n, args)
	case "bitand":
		return c.bitandCall(n, args)
	case "cidr":
		return nil, c.at(n, "cidr(...) stands behind an address and in", `such as src in cidr("10.0.0.0/8")`)
	}
	return nil, c.at(n, "unknown function "+name, "there are has, opcode, cidr, len and bitand")
}

// hasCall asks whether the packet has a header or a field.
func (c *compiler) hasCall(n ast.Node, args []ast.Node) (*value, error) {
	if len(args) != 1 {
		return nil, c.at(n, "has wants one header or field", "such as has(aeth)")
	}
	v, err := c.value(args[0])
	if err != nil {
		return nil, err
	}
	if v.has == nil {
		return nil, c.at(args[0], "has wants a header or field", "such as has(aeth)")
	}
	return truth(v.has), nil
}

// opcodeCall asks whether the opcode is one of those named.
func (c *compiler) opcodeCall(n ast.Node, args []ast.Node) (*value, error) {
	if len(args) == 0 {
		return nil, c.at(n, "opcode wants names or numbers", `such as opcode("READ", 0x11)`)
	}
	var all opcodes
	for _, arg := range args {
		v, err := c.value(arg)
		if err != nil {
			return nil, err
		}
		switch {
		case v.constant && v.kind == aNumber && v.n < 256:
			all[v.n] = true
		case v.constant && v.kind == aText:
			if !all.addPattern(v.s) {
				return nil, c.at(arg, "no opcode is called "+v.name, "there are such as RC RDMA READ Request")
			}
		default:
			return nil, c.at(arg, v.name+" is no name or number of an opcode", "")
		}
	}
	return truth(func(v *view) bool { op, ok := v.opcode(); return ok && all[op] }), nil
}

// lenCall counts the members of a list, or the bytes of a text.
func (c *compiler) lenCall(n ast.Node, args []ast.Node) (*value, error) {
	if len(args) != 1 {
		return nil, c.at(n, "len wants one list or text", "such as len(tunnel)")
	}
	v, err := c.value(args[0])
	if err != nil {
		return nil, err
	}
	out := &value{kind: aNumber, name: fmt.Sprintf("len(%s)", v.name)}
	switch ask, text := v.list, v.text; v.kind {
	case aList:
		out.number = func(v *view) (uint64, bool) { return uint64(len(ask(v))), true }
	case aText:
		out.number = func(v *view) (uint64, bool) { s, ok := text(v); return uint64(len(s)), ok }
	default:
		return nil, c.at(args[0], fmt.Sprintf("%s is %s, which has no length", v.name, v.kind), "")
	}
	return out, nil
}

// bitandCall takes some bits of a number.
func (c *compiler) bitandCall(n ast.Node, args []ast.Node) (*value, error) {
	var asks [2]number
	for i, arg := range args[:min(len(args), len(asks))] {
		v, err := c.value(arg)
		if err != nil {
			return nil, err
		}
		if v.kind != aNumber {
			return nil, c.at(arg, fmt.Sprintf("bitand wants numbers, and %s is %s", v.name, v.kind), "")
		}
		asks[i] = v.number
	}
	if len(args) != len(asks) {
		return nil, c.at(n, "bitand wants two numbers", "such as bitand(aeth.syndrome, 0x60)")
	}
	return &value{kind: aNumber, name: "bitand(...)", number: func(v *view) (uint64, bool) {
		x, ok1 := asks[0](v)
		y, ok2 := asks[1](v)
		return x & y, ok1 && ok2
	}}, nil
}
